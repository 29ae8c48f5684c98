"""`hf-bpe train`."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import conversion
import hf_bpe
from hf_bpe.cli.console import err, print_json
from hf_bpe.cli.files import refuse_existing, target_format
from hf_bpe.cli.options import PATTERN_NAMES, Force, Json
from hf_bpe.errors import ConversionRefused
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.sentencepiece_settings import PRESETS, SETTING_NAMES, settings_for

__all__ = ["train"]


def train(
    output: Annotated[Path, typer.Option("--output", "-o", show_default=False, help="Where to write the tokenizer.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES...",
            show_default=False,
            help="Text, .jsonl or .parquet; text and .jsonl also .gz or .zst. A folder is all files in it; patterns are expanded; - is "
            "standard input.",
        ),
    ] = None,
    counts: Annotated[
        list[Path] | None,
        typer.Option(
            show_default=False,
            help="Word counts (`hf-bpe counts make`) instead of FILES; how they were made decides how text is split.",
        ),
    ] = None,
    text_field: Annotated[
        str | None, typer.Option(show_default="text", help="The field or column of JSON lines and Parquet that holds the text.")
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(show_default="2GB", help="byte_level: words that do not fit are put aside on disk while counting."),
    ] = None,
    skip_bad_files: Annotated[
        bool, typer.Option("--skip-bad-files", help="byte_level: leave out files that are damaged, and name them at the end.")
    ] = False,
    vocab_size: Annotated[int, typer.Option(help="Ids in all, special tokens included.")] = 32_000,
    dialect: Annotated[
        Literal["byte_level", "sentencepiece"],
        typer.Option(help="What merging starts from: bytes, or the characters of a SentencePiece model."),
    ] = "byte_level",
    preset: Annotated[
        str | None, typer.Option(show_default=False, help=f"sentencepiece: settings by name: {', '.join(PRESETS)}.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            show_default=False,
            help="sentencepiece: a setting by sentencepiece's own name, such as byte_fallback=true (repeatable).",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(show_default="cl100k", help=f"How text is split: {PATTERN_NAMES}, or a regular expression."),
    ] = None,
    normalizer: Annotated[
        list[str] | None,
        typer.Option(show_default=False, help="byte_level: what is done to text first, such as NFC (repeatable)."),
    ] = None,
    special_token: Annotated[
        list[str] | None, typer.Option(show_default=False, help="Text to keep whole; gets the last ids (repeatable).")
    ] = None,
    min_frequency: Annotated[int | None, typer.Option(show_default="2", help="Merge only pairs seen this often.")] = None,
    max_token_length: Annotated[int | None, typer.Option(show_default=False, help="Longest token, in bytes.")] = None,
    num_threads: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Threads; default: all processors.")
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option("--format", show_default=False, help="What to write; default: what OUTPUT's name says, else huggingface."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Train a tokenizer on text files and save it."""
    chosen = target_format(output, file_format)
    refuse_existing(output, force)
    given = {
        "preset": preset,
        "pattern": pattern,
        "normalizer": normalizer,
        "min_frequency": min_frequency,
        "max_token_length": max_token_length,
        "text_field": text_field,
        "memory_limit": memory_limit,
        "skip_bad_files": skip_bad_files or None,
        "special_tokens": special_token,
    }
    given = {name: value for name, value in given.items() if value is not None} | dict(map(_name_and_value, settings or ()))
    if dialect == "sentencepiece":
        _refuse_what_cannot_be_saved(chosen, given)
    started = time.perf_counter()
    spec = hf_bpe.train(
        _corpus(files, counts),
        vocab_size,
        dialect=dialect,
        num_threads=num_threads,
        progress=not quiet and err.is_terminal,
        **given,
    )
    written = conversion.save(spec, output, format=chosen)
    seconds = time.perf_counter() - started
    if as_json:
        print_json(
            {
                "output": str(output),
                "format": chosen,
                "files": list(map(str, written)),
                "vocab_size": spec.vocab_size,
                "merges": _count_merged(spec),
                "special_tokens": dict(spec.special_tokens),
                "fingerprint": spec.fingerprint,
                "seconds": round(seconds, 3),
            }
        )
    elif not quiet:
        err.print(f"{output}: {spec.vocab_size:,} tokens, {_count_merged(spec):,} of them merged, in {seconds:.1f} s")


def _refuse_what_cannot_be_saved(chosen: str, given: dict[str, Any]) -> None:
    """Raise `ConversionRefused` before training, for hours maybe, where only a .model file could hold the result."""
    known = {name: value for name, value in given.items() if name in SETTING_NAMES}
    rule = settings_for(given.get("preset"), known).normalization_rule_name
    if rule != "identity" and chosen in ("huggingface", "tokenizer.json"):
        raise ConversionRefused(
            f"a model with the normaliser {rule} cannot be saved as {chosen}, which cannot say it exactly: give OUTPUT a name that ends "
            "in .model, or train with --preset llama2 or --set normalization_rule_name=identity"
        )


def _name_and_value(given: str) -> tuple[str, Any]:
    """A setting, its value as JSON reads it, or else the text itself.

    >>> _name_and_value("split_digits=true"), _name_and_value("normalization_rule_name=identity")
    (('split_digits', True), ('normalization_rule_name', 'identity'))
    """
    name, equals, value = given.partition("=")
    if not name or not equals:
        raise typer.BadParameter(f"{given!r} is not NAME=VALUE, such as byte_fallback=true", param_hint="--set")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def _count_merged(spec: TokenizerSpec) -> int:
    """How many tokens merging makes."""
    if spec.sentencepiece is None:
        return len(spec.merges)
    return sum(piece.kind == "normal" and len(piece.content) > 1 for piece in spec.sentencepiece.pieces)


def _corpus(files: Sequence[str] | None, counts: Sequence[Path] | None) -> Any:
    """What `train` takes: paths, or the counts in files, one for each stage."""
    if bool(files) == bool(counts):
        raise typer.BadParameter("name files to train on, or word counts with --counts, one of the two", param_hint="FILES")
    return list(map(hf_bpe.WordCounts.load, counts)) if counts else list(map(Path, files or ()))
