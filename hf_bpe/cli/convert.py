"""`hf-bpe convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import conversion
from hf_bpe.cli.console import err, out, print_json
from hf_bpe.cli.files import refuse_existing, target_format
from hf_bpe.cli.options import FORMAT_NAMES, Force, Json, LoadedPattern, SourceFormat, SpecialIds, load

__all__ = ["convert"]


def convert(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", show_default=False, help="What to read: a file or a folder.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", show_default=False, help="What to write.")],
    source_format: SourceFormat = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            show_default=False,
            help=f"Format to write: {FORMAT_NAMES}. Default: what TARGET's name says, for one without an ending huggingface.",
        ),
    ] = None,
    pattern: LoadedPattern = None,
    special_token: SpecialIds = None,
    allow_lossy: Annotated[
        bool,
        typer.Option(
            "--allow-lossy",
            help="Write the nearest file where the format cannot hold the tokenizer exactly, and a report of what is lost.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say whether the format holds it, and write nothing.")] = False,
    corpus: Annotated[
        list[Path] | None, typer.Option(show_default=False, help="Text files to measure a loss on, too (repeatable).")
    ] = None,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Write a tokenizer in another format, and say whether that is exact. What is not is refused, with the reason."""
    to = target_format(target, to)
    if not dry_run:
        refuse_existing(target, force)
    spec = load(source, source_format, pattern, special_token)
    options: dict[str, Any] = {"allow_lossy": allow_lossy, "dry_run": dry_run, "corpus": corpus, "source": source}
    converted = conversion.convert(spec, target, format=to, **options)
    if as_json:
        facts = {"files": list(map(str, converted.paths)), "vocab_size": spec.vocab_size, "fingerprint": spec.fingerprint}
        print_json(converted.verdict.to_dict() | facts)
        return
    (out if dry_run else err).print(converted.verdict.summary(), soft_wrap=True, markup=False)
    if converted.paths:
        err.print(f"wrote {', '.join(map(str, converted.paths))}", markup=False)
