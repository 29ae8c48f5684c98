"""`hf-bpe extend`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from hf_bpe.cli.console import err
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
    load,
)
from hf_bpe.editing import Habits, id_map_between, with_block
from hf_bpe.editing import extend as extend_spec
from hf_bpe.errors import EditError, some
from hf_bpe.spec import TokenizerSpec

__all__ = ["extend"]


def extend(
    tokenizer: Tokenizer,
    target: Target,
    corpus: Texts = None,
    tokens: Annotated[int, typer.Option(min=0, help="How many tokens to learn from the corpus.")] = 0,
    min_frequency: Annotated[int, typer.Option(min=1, help="Learn no pair that is seen less often.")] = 2,
    max_token_length: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Longest token to learn, in bytes.")
    ] = None,
    split_digits: Annotated[
        bool | None,
        typer.Option(
            show_default=False,
            help="SentencePiece models: learn no piece with a digit beside another character. Default: as in the vocabulary.",
        ),
    ] = None,
    split_by_unicode_script: Annotated[
        bool | None,
        typer.Option(
            show_default=False,
            help="SentencePiece models: learn no piece with characters of two scripts, such as letters and punctuation. "
            "Default: as in the vocabulary.",
        ),
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
    """Add tokens, learnt or given. Every old id stays, and so does every merge.

    TARGET.id_map.json says which ids are new: `hf-bpe resize --id-map` takes it.
    """
    how = How.of(target, to, dry_run=dry_run, yes=yes, quiet=quiet, as_json=as_json, force=force)
    blocks = list(map(_block, add_block or ()))
    if tokens and not corpus:
        raise typer.BadParameter(f"{tokens} tokens are to be learnt, and no corpus is named", param_hint="--tokens")
    if not (tokens or add or add_special or blocks):
        raise typer.BadParameter("nothing is to be added: give --tokens, --add, --add-special or --add-block")
    before = load(tokenizer, source_format, pattern, special_token)
    given = _given(before, add or (), add_special or ())
    after = before
    says: dict[str, Any] = {}
    if tokens:
        split = {"split_digits": split_digits, "split_by_unicode_script": split_by_unicode_script}
        options = {"min_frequency": min_frequency, "max_token_length": max_token_length, "text_field": text_field, **split}
        shows_progress = not quiet and err.is_terminal
        extended = extend_spec(before, list(map(Path, corpus or ())), tokens, **options, progress=shows_progress)  # type: ignore[arg-type]
        after = extended.spec
        if extended.habits is not None:
            given += _kept(extended.habits, split)
            says["habits"] = asdict(extended.habits)
    after = after.with_added_tokens(add_special or ())
    ranges: dict[str, range] = {}
    for name, count in blocks:
        after, ranges[name] = with_block(after, name, count)
    after = after.with_added_tokens(add or (), special=False)
    if after == before:
        raise EditError("all of these tokens are there already")
    effect = effect_on_corpus(reference or corpus, text_field, before, after, quiet=quiet)
    lines = [*given, *(f"block {name}: ids {ids[0]} to {ids[-1]}" for name, ids in ranges.items())]
    says["blocks"] = {name: {"first": ids[0], "count": len(ids)} for name, ids in ranges.items()}
    carry_out(Edit("extend", tokenizer, before, after, id_map_between(before, after), lines, says, effect), how)


def _given(before: TokenizerSpec, plain: Sequence[str], special: Sequence[str]) -> list[str]:
    """What is to be said of tokens to add that are there already.

    Raises `EditError` for a text that is empty or is to be both, and for ordinary tokens that are to be matched wherever their text
    stands, inside of words too: without a new id, texts would have other ids.
    """
    twice = {*plain}.intersection(special)
    if twice:
        raise EditError(f"{some(sorted(map(repr, twice)))} is to be a special token and a plain one; choose one of the two")
    given = dict.fromkeys((*special, *plain))
    if "" in given:
        raise EditError("a token to add is empty, and an empty text is no token; give one with a character at least")
    there = [text for text in given if before.token_id(text.encode("utf-8", "surrogatepass")) is not None]
    added = {token.content for token in before.added_tokens}
    ordinary = [text for text in there if text in plain and text not in added]
    if ordinary:
        raise EditError(
            f"{some(list(map(repr, ordinary)))} is a token that merging makes; added, it would be cut out of other words, and texts would "
            "have other ids. Leave it out, or give a longer text"
        )
    return [
        f"{text!r} is there already and keeps its id"
        + ("" if text in added else "; special from now on, it is cut out of other words wherever special tokens are matched")
        for text in there
    ]


_RULES = {
    "split_digits": "a digit beside another character",
    "split_by_unicode_script": "characters of several scripts, such as letters and punctuation",
}


def _kept(habits: Habits, given: Mapping[str, bool | None]) -> list[str]:
    """What is to be said of rules that nobody gave and new pieces keep."""
    return [
        f"no piece of the vocabulary holds {what}, and no new one does; --no-{name.replace('_', '-')} would allow it"
        for name, what in _RULES.items()
        if getattr(habits, name) and given[name] is None
    ]


def _block(given: str) -> tuple[str, int]:
    name, _, count = given.rpartition("=")
    if not name or not count.isdecimal() or not int(count):
        raise typer.BadParameter(f"{given!r} is not NAME=COUNT, such as image=8192", param_hint="--add-block")
    return name, int(count)
