"""`hf-bpe rename`."""

from __future__ import annotations

from typing import Annotated

import typer

from hf_bpe.cli.console import err, print_json
from hf_bpe.cli.edited import write_edited
from hf_bpe.cli.files import refuse_existing, target_format
from hf_bpe.cli.options import (
    DryRun,
    Force,
    Json,
    LoadedPattern,
    SourceFormat,
    SpecialIds,
    Target,
    TargetFormat,
    Tokenizer,
    load,
)

__all__ = ["rename"]


def rename(
    tokenizer: Tokenizer,
    target: Target,
    token: Annotated[
        list[str],
        typer.Option(
            "--token", metavar="OLD=NEW", show_default=False, help="A special or added token, and its new text (repeatable)."
        ),
    ],
    to: TargetFormat = None,
    source_format: SourceFormat = None,
    pattern: LoadedPattern = None,
    special_token: SpecialIds = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Give added tokens other texts and leave them their ids: so reserved ones come into use. No row of a model changes."""
    to = target_format(target, to)
    if not dry_run:
        refuse_existing(target, force)
    spec = load(tokenizer, source_format, pattern, special_token)
    names = dict(map(_old_and_new, token))
    renamed = spec.with_renamed_tokens(names)
    paths = [] if dry_run else write_edited(renamed, target, to, tokenizer, renamed=names)
    ids = {old: next(t.id for t in renamed.added_tokens if t.content == new) for old, new in names.items()}
    if as_json:
        print_json(
            {
                "renamed": [{"id": ids[old], "old": old, "new": new} for old, new in names.items()],
                "files": list(map(str, paths)),
            }
        )
        return
    for old, new in names.items():
        err.print(f"{ids[old]}: {old} -> {new}", markup=False)
    err.print("nothing was written" if dry_run else f"wrote {', '.join(map(str, paths))}", markup=False)


def _old_and_new(given: str) -> tuple[str, str]:
    old, _, new = given.partition("=")
    if not old or not new:
        raise typer.BadParameter(f"{given!r} is not OLD=NEW, such as '<|reserved_0|>=<|tool|>'", param_hint="--token")
    return old, new
