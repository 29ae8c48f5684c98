"""`hf-bpe prune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hf_bpe.cli.corpora import read_texts
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
)
from hf_bpe.editing import prune as prune_spec
from hf_bpe.files import read_text

__all__ = ["prune"]


def prune(
    tokenizer: Tokenizer,
    target: Target,
    token: Annotated[
        list[str] | None,
        typer.Option(
            "--token",
            metavar="TOKEN",
            show_default=False,
            help="A token to remove: its text, or as files spell it (repeatable).",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            "--tokens",
            metavar="FILE",
            parser=given_path,
            show_default=False,
            help="A file of tokens to remove, one on each line.",
        ),
    ] = None,
    script: Annotated[
        list[str] | None,
        typer.Option(show_default=False, help="Remove tokens with a character of this script, such as Cyrillic (repeatable)."),
    ] = None,
    corpus: Texts = None,
    min_count: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Remove what the corpus uses less often.")
    ] = None,
    unwanted: Annotated[
        list[str] | None,
        typer.Option(
            show_default=False,
            help="Text of a language that is not needed: remove what it uses and the corpus uses less often than --min-count, here by default "
            "1 (repeatable).",
        ),
    ] = None,
    vocab_size: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Remove the least used until so many are left.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="TOKEN", show_default=False, help="A token that stays (repeatable).")
    ] = None,
    keep_ids: Annotated[bool, typer.Option("--keep-ids", help="Leave gaps instead of numbering the tokens anew.")] = False,
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
    """Remove tokens; every text that needs none of them keeps its ids.

    With a token go those that are merged of it. TARGET.id_map.json says which id became which: `hf-bpe resize --id-map` takes it.
    """
    how = How.of(target, to, dry_run=dry_run, yes=yes, quiet=quiet, as_json=as_json, force=force)
    listed = [*(token or ()), *(_lines(tokens) if tokens is not None else ())]
    texts, other = (
        None if not files else read_texts(files, text_field, quiet=quiet, doing="counting") for files in (corpus, unwanted)
    )
    spec = load(tokenizer, source_format, pattern, special_token)
    rules = {"scripts": script or (), "min_count": min_count, "vocab_size": vocab_size, "keep": keep or ()}
    pruned = prune_spec(spec, listed, corpus=texts, unwanted=other, compact=not keep_ids, **rules)  # type: ignore[arg-type]
    effects = [
        effect_on_corpus(files, text_field, spec, pruned.spec, pruned.id_map.kept, quiet=quiet) for files in (corpus, unwanted)
    ]
    along = sorted(pruned.taken_along)
    lines = [f"{len(along):,} of those that are gone are made of others that were to go"] if along else []
    says: dict[str, Any] = {"taken_along": along}
    if effects[1] is not None:
        lines.append(f"unwanted: {effects[1].summary()}")
        says["effect_on_unwanted"] = effects[1].to_dict()
    edit = Edit("prune", tokenizer, spec, pruned.spec, pruned.id_map, lines, says, effects[0], notes=pruned.notes)
    carry_out(edit, how)


def _lines(path: Path) -> list[str]:
    return [line for line in read_text(path).split("\n") if line]
