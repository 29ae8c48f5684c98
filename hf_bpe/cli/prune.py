"""`hf-bpe prune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from conversion.verification.corpus import DEFAULT_SEPARATOR, read_corpus
from hf_bpe.byte_level import bytes_to_token
from hf_bpe.cli.console import err, out, print_json
from hf_bpe.cli.edited import refuse_targets, write_edited
from hf_bpe.cli.files import target_format
from hf_bpe.cli.options import (
    DryRun,
    Force,
    Json,
    LoadedPattern,
    SourceFormat,
    SpecialIds,
    Target,
    TargetFormat,
    Texts,
    Tokenizer,
    load,
)
from hf_bpe.editing import Pruned, effect_on
from hf_bpe.editing import prune as prune_spec
from hf_bpe.engine import Encoder
from hf_bpe.files import read_text

__all__ = ["prune"]

_SHOWN = 20


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
        typer.Option("--tokens", metavar="FILE", show_default=False, help="A file of tokens to remove, one on each line."),
    ] = None,
    script: Annotated[
        list[str] | None,
        typer.Option(show_default=False, help="Remove tokens with a character of this script, such as Cyrillic (repeatable)."),
    ] = None,
    corpus: Texts = None,
    min_count: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Remove what the corpus uses less often.")
    ] = None,
    vocab_size: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Remove the least used until so many are left.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="TOKEN", show_default=False, help="A token that stays (repeatable).")
    ] = None,
    keep_ids: Annotated[bool, typer.Option("--keep-ids", help="Leave gaps instead of numbering the tokens anew.")] = False,
    to: TargetFormat = None,
    source_format: SourceFormat = None,
    pattern: LoadedPattern = None,
    special_token: SpecialIds = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Remove tokens; every text that needs none of them keeps its ids.

    With a token go those that are merged of it. TARGET.id_map.json says which id became which: `hf-bpe resize --id-map` takes it.
    """
    to = target_format(target, to)
    if not dry_run:
        refuse_targets(target, force)
    spec = load(tokenizer, source_format, pattern, special_token)
    listed = [*(token or ()), *(_lines(tokens) if tokens is not None else ())]
    texts = None if not corpus else [d.text for d in read_corpus(corpus, separator=DEFAULT_SEPARATOR, text_field="text")]
    rules = {"scripts": script or (), "min_count": min_count, "vocab_size": vocab_size, "keep": keep or ()}
    pruned = prune_spec(spec, listed, corpus=texts, compact=not keep_ids, **rules)  # type: ignore[arg-type]
    effect = None if texts is None else effect_on(texts, Encoder(spec), Encoder(pruned.spec), pruned.id_map.kept)
    written = [] if dry_run else write_edited(pruned.spec, target, to, tokenizer, pruned.id_map)
    if as_json:
        record = {"removed": {str(i): _shown(spec.sentencepiece is None, token) for i, token in pruned.removed.items()}}
        facts = {
            "taken_along": sorted(pruned.taken_along),
            "vocab_size": pruned.spec.vocab_size,
            "files": list(map(str, written)),
        }
        prints = {"before": spec.fingerprint, "after": pruned.spec.fingerprint}
        print_json(record | facts | {"fingerprints": prints, "effect": None if effect is None else effect.to_dict()})
        return
    _print(pruned, spec.sentencepiece is None)
    if effect is not None:
        out.print(Text(effect.summary()), soft_wrap=True)
    err.print("nothing was written" if dry_run else f"wrote {', '.join(map(str, written))}", markup=False)


def _lines(path: Path) -> list[str]:
    return [line for line in read_text(path).split("\n") if line]


def _shown(is_bytes: bool, token: bytes) -> str:
    return bytes_to_token(token) if is_bytes else token.decode("utf-8", "replace")


def _print(pruned: Pruned, is_bytes: bool) -> None:
    along = f", {len(pruned.taken_along):,} of them because they are made of others" if pruned.taken_along else ""
    out.print(Text(f"{len(pruned.removed):,} tokens go{along}; {pruned.spec.vocab_size:,} are left"), soft_wrap=True)
    shown = [f"{_shown(is_bytes, token)} ({token_id})" for token_id, token in list(pruned.removed.items())[:_SHOWN]]
    more = f" and {len(pruned.removed) - len(shown):,} more" if len(pruned.removed) > len(shown) else ""
    out.print(Text(f"they are {', '.join(shown)}{more}"), soft_wrap=True)
