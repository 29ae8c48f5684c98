"""`hf-bpe convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hf_bpe.cli.console import err, print_json
from hf_bpe.cli.files import refuse_existing, save, target_format
from hf_bpe.cli.options import Force, Json, LoadedPattern, SourceFormat, SpecialIds, load

__all__ = ["convert"]


def convert(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", show_default=False, help="What to read: a file or a folder.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", show_default=False, help="What to write.")],
    source_format: SourceFormat = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", show_default=False, help="Format to write; default: what TARGET's name says, else huggingface."
        ),
    ] = None,
    pattern: LoadedPattern = None,
    special_token: SpecialIds = None,
    allow_lossy: Annotated[
        bool, typer.Option("--allow-lossy", help="Write the nearest file where the format cannot hold the tokenizer exactly.")
    ] = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Write a tokenizer in another format. What cannot be converted exactly is refused, with the reason."""
    to = target_format(target, to)
    refuse_existing(target, force)
    spec = load(source, source_format, pattern, special_token)
    written = save(spec, target, to, allow_lossy)
    if as_json:
        print_json(
            {"format": to, "files": list(map(str, written)), "vocab_size": spec.vocab_size, "fingerprint": spec.fingerprint}
        )
    else:
        err.print(f"wrote {', '.join(map(str, written))}")
