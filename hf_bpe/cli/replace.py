"""`hf-bpe replace`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from hf_bpe.cli.console import print_warning
from hf_bpe.cli.edited import Edit, How, carry_out, effect_on_corpus
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
    TextField,
    Texts,
    Tokenizer,
    Yes,
    given_path,
    load,
    old_and_new,
)
from hf_bpe.editing import replace_tokens
from hf_bpe.errors import EditError
from hf_bpe.files import read_text
from hf_bpe.vocabulary.shown import shown

__all__ = ["replace"]


def replace(
    tokenizer: Tokenizer,
    target: Target,
    token: Annotated[
        list[str] | None,
        typer.Option(
            "--token",
            metavar="OLD=NEW",
            show_default=False,
            help="An ordinary token, by its text or as files spell it, and the text that is to have its id (repeatable).",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            "--tokens",
            metavar="FILE",
            parser=given_path,
            show_default=False,
            help="A file with OLD, a tab, and NEW on each line.",
        ),
    ] = None,
    corpus: Texts = None,
    text_field: TextField = "text",
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
    """Put other tokens in the places of some, with their ids; every text that has neither keeps its ids.

    A model's rows for these ids are new ones: `hf-bpe resize` makes them. For special and reserved tokens see `hf-bpe rename`.
    """
    how = How.of(target, to, dry_run=dry_run, yes=yes, quiet=quiet, as_json=as_json, force=force)
    named = old_and_new(token or ())
    if tokens is not None:
        named = _with_listed(named, tokens)
    spec = load(tokenizer, source_format, pattern, special_token)
    if spec.sentencepiece is None and any("Ġ" in new and " " not in new for new in named.values()):
        print_warning("in a new token Ġ is that letter; a space is written as a space")
    replaced = replace_tokens(spec, named)  # type: ignore[arg-type]  # a mapping takes its keys as they are
    effect = effect_on_corpus(corpus, text_field, spec, replaced.spec, replaced.id_map.kept, quiet=quiet)
    lines = [f"replaced: {i}: '{shown(old)}' -> '{shown(new)}'" for i, (old, new) in replaced.replaced.items()]
    carry_out(Edit("replace", tokenizer, spec, replaced.spec, replaced.id_map, lines, effect=effect), how)


def _with_listed(named: Mapping[str, str], path: Path) -> dict[str, str]:
    """What was named so far, and what a file names."""
    found = {**named}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        old, _, new = line.partition("\t")
        if line and not (old and new):
            raise EditError(f"{path}: line {number} is not a token, a tab, and the token that comes in its place")
        if old in found:
            raise EditError(f"{path}: line {number}: {old!r} is named twice; give it one new token")
        if line:
            found[old] = new
    return found
