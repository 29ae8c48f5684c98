"""`hf-bpe compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import conversion
from hf_bpe.analysis.naming import distinct_names, name_and_rest
from hf_bpe.cli.console import err, print_json
from hf_bpe.cli.encode_files import unescape
from hf_bpe.cli.files import refuse_existing
from hf_bpe.cli.options import FORMAT_NAMES, PATTERN_NAMES, Force, Json, SourceFormat, TextField, load
from hf_bpe.cli.tables import print_table
from hf_bpe.errors import ComparisonError
from hf_bpe.spec import TokenizerSpec

__all__ = ["compare"]

STANDARD_INPUT = "standard input"

Texts = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="[NAME=]PATH",
        show_default=False,
        help="Text to measure: text, .jsonl or .parquet, also .gz and .zst; a folder, a pattern, or - (repeatable).",
    ),
]
Parallel = Annotated[
    list[str] | None,
    typer.Option(
        "--parallel",
        metavar="[NAME=]PATH",
        show_default=False,
        help="The same text in one of several languages, as many lines, rows or documents in each (repeatable).",
    ),
]


def compare(
    tokenizers: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=][FORMAT:]TOKENIZER",
            show_default=False,
            help=f"Files or folders, with what to call them. FORMAT is looked for if not given: {FORMAT_NAMES}.",
        ),
    ],
    corpus: Texts = None,
    parallel: Parallel = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", show_default=False, help="The parallel corpus to compare the others with; default: the first."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", show_default=False, help="Objects to write as JSON, YAML, CSV, XML and Markdown."),
    ] = None,
    words: Annotated[
        Literal["unicode", "whitespace"],
        typer.Option(help="Where words end: at the word boundaries of Unicode, or at white space."),
    ] = "unicode",
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PRICE", show_default=False, help="What a million tokens of a tokenizer cost (repeatable)."),
    ] = None,
    currency: Annotated[str, typer.Option(help="Of the prices.")] = "USD",
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            show_default=False,
            help="Write a report: .html with plots, .json with every figure, .md with the tables (repeatable).",
        ),
    ] = None,
    text_field: TextField = "text",
    separator: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            help="What ends a text in text files, with \\\\n, \\\\t and so on as usual; '' for one text a file; default: that, and lines of parallel files.",
        ),
    ] = None,
    on_bad: Annotated[
        Literal["raise", "skip"], typer.Option(help="Stop at a text that cannot be read, or leave it out and count it.")
    ] = "raise",
    num_threads: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Threads; default: all processors.")
    ] = None,
    pattern: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]PATTERN",
            show_default=False,
            help=f"How text is split, for files that do not say it: {PATTERN_NAMES}, or a regular expression (repeatable).",
        ),
    ] = None,
    source: SourceFormat = None,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    as_json: Json = False,
) -> None:
    """Measure tokenizers: compression, words, languages, data formats, numbers, indentation, vocabulary in use, cost.

    Without a corpus, on short texts that come along: the same sentences in twelve languages, and a program.
    """
    from hf_bpe.analysis import compare as measure  # needs numpy
    from hf_bpe.analysis.comparison import ENDINGS
    from hf_bpe.pages import check_target

    for target in output or ():
        refuse_existing(target, force)
        check_target(target, ENDINGS)
    found = measure(
        _loaded(tokenizers, pattern or (), source),
        _corpora(corpus or ()),
        parallel=_corpora(parallel or ()),
        reference=reference,
        data=data,
        words=words,
        prices=dict(map(_price, price or ())),
        currency=currency,
        text_field=text_field,
        separator=None if separator is None else unescape(separator),
        on_bad=on_bad,
        num_threads=num_threads,
        progress=not quiet and err.is_terminal,
    )
    for target in output or ():
        found.write(target)
        err.print(f"wrote {target}", markup=False)
    if as_json:
        print_json(found.content)
    elif not output:
        _print(found.content)


def _loaded(given: Sequence[str], patterns: Sequence[str], general_format: str | None) -> dict[str, TokenizerSpec]:
    sources = _named(given)
    twice = next((name for name, paths in sources.items() if len(paths) > 1), None)
    if twice is not None:
        raise ComparisonError(f"two tokenizers are called {twice!r}; give them different names: NAME=PATH")
    by_name, general = _patterns(patterns, sources)
    loaded = {}
    for name, (source,) in sources.items():
        format_, path = _format_and_path(source)
        loaded[name] = load(Path(path), format_ or general_format, by_name.get(name, general), None)
    return loaded


def _named(given: Sequence[str]) -> dict[str, list[str]]:
    """Name -> what was given under it; those without a name are called what tells them apart."""
    parts = [name_and_rest(each) for each in given]
    unnamed = iter(distinct_names([_format_and_path(rest)[1] for name, rest in parts if name is None]))
    named: dict[str, list[str]] = {}
    for name, rest in parts:
        named.setdefault(next(unnamed) if name is None else name, []).append(rest)
    return named


def _format_and_path(given: str) -> tuple[str | None, str]:
    """FORMAT:PATH as its two parts.

    >>> _format_and_path("tekken:tekken.json"), _format_and_path("C:tekken.json")
    (('tekken', 'tekken.json'), (None, 'C:tekken.json'))
    """
    prefix, colon, path = given.partition(":")
    return (prefix, path) if colon and prefix in conversion.formats() and not Path(given).exists() else (None, given)


def _patterns(given: Sequence[str], names: dict[str, list[str]]) -> tuple[dict[str, str], str | None]:
    """The patterns by the name of their tokenizer, and the one for all others. A regular expression may hold a "=" too."""
    by_name, general = {}, []
    for each in given:
        name, equals, rest = each.partition("=")
        if equals and name in names:
            by_name[name] = rest
        else:
            general.append(each)
    if len(general) > 1:
        raise typer.BadParameter(
            f"{general[1]!r}: there is another pattern for all tokenizers; write NAME=PATTERN, with NAME one of {', '.join(names)}",
            param_hint="--pattern",
        )
    return by_name, general[0] if general else None


def _corpora(given: Sequence[str]) -> dict[str, list[Path]]:
    """Name -> paths: several under one name are one corpus."""
    named = _named(given)
    return {STANDARD_INPUT if name == "-" else name: list(map(Path, paths)) for name, paths in named.items()}


def _price(given: str) -> tuple[str, float]:
    """NAME=PRICE as its two parts.

    >>> _price("gpt2.json=2.5")
    ('gpt2.json', 2.5)
    """
    name, equals, number = given.rpartition("=")
    try:
        if not equals or not name:
            raise ValueError
        return name, float(number)
    except ValueError:
        raise typer.BadParameter(f"{given!r} is not NAME=PRICE, such as gpt2.json=2.5", param_hint="--price") from None


def _print(content: Mapping[str, Any]) -> None:
    from hf_bpe.analysis.report import tables

    made = (tables.text, tables.vocabulary, tables.formats, tables.numbers, tables.indents)
    left_out = [column for make in made for column in print_table(make(content))]
    for note in tables.notes(content):
        err.print(note, markup=False)
    if left_out:
        err.print(f"no room for: {', '.join(dict.fromkeys(left_out))}; --json and -o report.html have them", markup=False)
