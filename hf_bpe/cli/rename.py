"""`hf-bpe rename`."""

from __future__ import annotations

from typing import Annotated

import typer

from hf_bpe.cli.edited import Edit, How, carry_out
from hf_bpe.cli.options import (
    DryRun,
    Force,
    Json,
    LoadedPattern,
    Quiet,
    SourceFormat,
    SpecialIds,
    Target,
    TargetFormat,
    Tokenizer,
    Yes,
    load,
    old_and_new,
)
from hf_bpe.editing import IdMap

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
    yes: Yes = False,
    quiet: Quiet = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Give added tokens other texts and leave them their ids: so reserved ones come into use. No row of a model changes."""
    how = How.of(target, to, dry_run=dry_run, yes=yes, quiet=quiet, as_json=as_json, force=force)
    names = old_and_new(token)
    spec = load(tokenizer, source_format, pattern, special_token)
    renamed = spec.with_renamed_tokens(names)
    ids = {token.content: token.id for token in renamed.added_tokens}
    kept = IdMap(spec.n_vocab, spec.n_vocab, {token_id: token_id for token_id in spec.used_ids})
    lines = [f"renamed: {ids[new]}: {old} -> {new}" for old, new in names.items()]
    says = {"renamed": [{"id": ids[new], "old": old, "new": new} for old, new in names.items()]}
    carry_out(Edit("rename", tokenizer, spec, renamed, kept, lines, says, renamed=names), how)
