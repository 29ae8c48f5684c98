"""`hf-bpe verify`."""

from __future__ import annotations

from itertools import takewhile
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

import conversion
from conversion.verification import LOADERS, Difference, VerifyReport, split_prefix
from conversion.verification.corpus import DEFAULT_SEPARATOR
from conversion.verification.difference import Row, Token
from hf_bpe.cli.console import out, print_json
from hf_bpe.cli.options import Json, LoadedPattern, SpecialIds, TextField, load_options

__all__ = ["verify"]

_INTERRUPTED = 130
_LOADER_NAMES = "; ".join(f"{name}: {what}" for name, what in LOADERS.items())


def verify(
    a: Annotated[str, typer.Argument(metavar="[LOADER:]A", show_default=False, help="A tokenizer: a file or a folder.")],
    b: Annotated[str, typer.Argument(metavar="[LOADER:]B", show_default=False, help="The one to compare it with.")],
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            show_default=False,
            help="Text, .jsonl or .parquet to encode with both; also .gz, .zst, folders, patterns (repeatable).",
        ),
    ] = None,
    official: Annotated[
        bool, typer.Option("--official", help="Run those without a loader with the library that their format belongs to.")
    ] = False,
    separator: Annotated[
        str, typer.Option(help="What ends a document in text files; '' for one document per file.")
    ] = DEFAULT_SEPARATOR,
    text_field: TextField = "text",
    pattern: LoadedPattern = None,
    special_token: SpecialIds = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    as_json: Json = False,
) -> None:
    """Compare two tokenizers, or two loaders of one: what they consist of, and their ids on text.

    Exits with 0 if they are equal, 1 if they differ, 2 if they could not be compared.
    """
    sides = [split_prefix(given) for given in (a, b)]
    report = conversion.verify(
        sides[0][1],
        sides[1][1],
        corpus=corpus or None,
        loader=(_loader(a, sides[0], official), _loader(b, sides[1], official)),
        separator=separator,
        text_field=text_field,
        progress=not quiet,
        **load_options(pattern, special_token),
    )
    if as_json:
        print_json(report.to_dict())
    else:
        _print(report)
    if not report.equal:
        raise typer.Exit(1)
    if report.interrupted:
        raise typer.Exit(_INTERRUPTED)


verify.__doc__ = f"{verify.__doc__}\n    LOADER is one of {_LOADER_NAMES}.\n"


def _loader(given: str, side: tuple[str, str], official: bool) -> str:
    loader, path = side
    return "official" if official and path == given else loader


def _print(report: VerifyReport) -> None:
    out.print(Text.assemble(("A ", "bold cyan"), report.a), soft_wrap=True)
    out.print(Text.assemble(("B ", "bold magenta"), report.b), soft_wrap=True)
    if report.interrupted:
        out.print("[bold yellow]interrupted[/]: this is what is known so far")
    verdict = ("equal", "bold green") if report.equal else ("different", "bold red")
    counts = f": {report.differing:,} of {report.documents:,} documents differ"
    tokens = f"{report.a_tokens:,} and {report.b_tokens:,} tokens"
    out.print(Text.assemble(verdict, counts, f" ({report.by_origin()}; {tokens})"), soft_wrap=True)
    if report.proof:
        out.print(Text(f"proof: {report.proof}"), soft_wrap=True)
    elif report.equal and report.compared and not report.differences:
        same = ", ".join(report.compared)
        out.print(
            Text(f"the descriptions are the same ({same}), but two libraries run them, so this is no proof"), soft_wrap=True
        )
    if report.unsaid:
        out.print(Text(f"the descriptions were not compared: {report.unsaid}"), soft_wrap=True)
    for aspect in report.differences:
        out.print(
            Text.assemble("the descriptions differ in their ", (aspect.name, "bold"), f": {aspect.detail}"), soft_wrap=True
        )
    for found in report.causes:
        number = f"{found.documents:,} document{'s' if found.documents != 1 else ''}"
        explained = "" if report.explained == report.differing else f" of the first {report.explained:,} that differ"
        out.print(
            Text.assemble("\ncause: ", (found.cause, "bold red"), f", in {number}{explained}; the smallest text:"),
            soft_wrap=True,
        )
        _print_difference(found.smallest)
    if report.first is not None and report.first.text not in [found.smallest.text for found in report.causes]:
        out.print(Text(f"\nfirst difference, in {report.first.where} (cause: {report.first.cause}):"), soft_wrap=True)
        _print_difference(report.first)


def _print_difference(difference: Difference) -> None:
    out.print(Text.assemble("  ", (repr(difference.text), "bold"), f"  ({difference.reading})"), soft_wrap=True)
    if difference.a_decoded is not None:
        out.print(Text(f"  the same {difference.ids_in_common} ids; A decodes {difference.a_decoded!r}"), soft_wrap=True)
        out.print(Text(f"  {'':{len(str(difference.ids_in_common)) + 14}}B decodes {difference.b_decoded!r}"), soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2), show_header=True)
    table.add_column("  ")
    table.add_column("A", style="cyan", overflow="fold")
    table.add_column("B", style="magenta", overflow="fold")
    before = difference.ids_in_common - len(_before(difference))
    if before > 0:
        table.add_row("  ", f"... {before} in common", f"... {before} in common", style="dim")
    for row in difference.rows:
        mark = Text("  ") if row.same else Text("≠ ", style="bold red")
        table.add_row(mark, _cell(row.a), _cell(row.b), style="dim" if row.same else "bold")
    out.print(table)


def _before(difference: Difference) -> list[Row]:
    """The rows before the first that differs."""
    return list(takewhile(lambda row: row.same, difference.rows))


def _cell(tokens: tuple[Token, ...]) -> Text:
    return Text("  ".join(f"{token.text!r} {token.id}" for token in tokens) or "(nothing)")
