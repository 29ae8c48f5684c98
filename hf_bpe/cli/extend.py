"""`hf-bpe extend`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from conversion.verification.corpus import DEFAULT_SEPARATOR, read_corpus
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
from hf_bpe.editing import Effect, effect_on, id_map_between
from hf_bpe.editing import extend as extend_spec
from hf_bpe.engine import Encoder
from hf_bpe.errors import EditError
from hf_bpe.spec import TokenizerSpec
from hf_bpe.spelling import spelled_vocabulary

__all__ = ["extend"]

_SHOWN = 20


def extend(
    tokenizer: Tokenizer,
    target: Target,
    corpus: Texts = None,
    tokens: Annotated[int, typer.Option(min=0, help="How many tokens to learn from the corpus.")] = 0,
    min_frequency: Annotated[int, typer.Option(min=1, help="Learn no pair that is seen less often.")] = 2,
    max_token_length: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Longest token to learn, in bytes.")
    ] = None,
    add: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", show_default=False, help="A text that is always one token (repeatable).")
    ] = None,
    add_special: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", show_default=False, help="A special token (repeatable).")
    ] = None,
    add_block: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COUNT",
            show_default=False,
            help="A block of special tokens <|NAME_0|>, <|NAME_1|>, ... such as image=8192 (repeatable).",
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(show_default=False, help="Text to say of how its ids change; default: the corpus (repeatable)."),
    ] = None,
    to: TargetFormat = None,
    source_format: SourceFormat = None,
    pattern: LoadedPattern = None,
    special_token: SpecialIds = None,
    dry_run: DryRun = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Add tokens, learnt or given. Every old id stays, and so does every merge.

    TARGET.id_map.json says which ids are new: `hf-bpe resize --id-map` takes it.
    """
    to = target_format(target, to)
    if not dry_run:
        refuse_targets(target, force)
    spec = load(tokenizer, source_format, pattern, special_token)
    given = [*(add_special or ()), *(name for block in add_block or () for name in _block(block))]
    if tokens and not corpus:
        raise typer.BadParameter(f"{tokens} tokens are to be learnt, and no corpus is named", param_hint="--tokens")
    if not (tokens or add or given):
        raise typer.BadParameter("nothing is to be added: give --tokens, --add, --add-special or --add-block")
    new = spec
    if tokens:
        options = {"min_frequency": min_frequency, "max_token_length": max_token_length, "progress": not quiet}
        new = extend_spec(spec, list(map(Path, corpus or ())), tokens, **options).spec  # type: ignore[arg-type]
    new = new.with_added_tokens(given).with_added_tokens(add or (), special=False)
    if new == spec:
        raise EditError("all of these tokens are there already")
    id_map = id_map_between(spec, new)
    effect = _effect(spec, new, reference or corpus or ())
    written = [] if dry_run else write_edited(new, target, to, tokenizer, id_map)
    added = {token_id: token for token_id, token in sorted(spelled_vocabulary(new).items()) if token_id in id_map.made}
    if as_json:
        facts = {"vocab_size": new.vocab_size, "files": list(map(str, written))}
        prints = {"before": spec.fingerprint, "after": new.fingerprint}
        print_json({"added": added} | facts | {"fingerprints": prints, "effect": effect.to_dict() if effect else None})
        return
    _print(added, effect, new)
    err.print("nothing was written" if dry_run else f"wrote {', '.join(map(str, written))}", markup=False)


def _block(given: str) -> list[str]:
    name, _, count = given.rpartition("=")
    if not name or not count.isdecimal() or not int(count):
        raise typer.BadParameter(f"{given!r} is not NAME=COUNT, such as image=8192", param_hint="--add-block")
    return [f"<|{name}_{number}|>" for number in range(int(count))]


def _effect(before: TokenizerSpec, after: TokenizerSpec, texts: list[str] | tuple[()]) -> Effect | None:
    if not texts:
        return None
    found = (document.text for document in read_corpus(texts, separator=DEFAULT_SEPARATOR, text_field="text"))
    return effect_on(found, Encoder(before), Encoder(after))


def _print(added: dict[int, str], effect: Effect | None, new: TokenizerSpec) -> None:
    shown = ", ".join(f"{token} ({token_id})" for token_id, token in list(added.items())[:_SHOWN])
    more = f" and {len(added) - _SHOWN:,} more" if len(added) > _SHOWN else ""
    out.print(Text(f"{len(added):,} tokens are new, {new.vocab_size:,} in all: {shown}{more}"), soft_wrap=True)
    if effect is None:
        return
    out.print(Text(effect.summary()), soft_wrap=True)
    for change in effect.examples[:3]:
        out.print(Text(f"  {' | '.join(change.before)!r} -> {' | '.join(change.after)!r}"), soft_wrap=True)
