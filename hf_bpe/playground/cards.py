"""One token by itself, and the merges of the word that it stands in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hf_bpe.analysis.card import Card
from hf_bpe.analysis.visible import Glyph, glyphs_of_bytes
from hf_bpe.engine.steps import MergeRules, MergeStep
from hf_bpe.errors import HfBpeError, PlaygroundError
from hf_bpe.pieces import SPACE_SYMBOL
from hf_bpe.playground.shelf import Shelf, Shown

__all__ = ["OneToken", "Step", "card_of", "glyphs_of_part"]

_MOST_BYTES = 400
"""Of a word whose merges are shown: its steps grow with the square."""


@dataclass(frozen=True)
class Step:
    """What is there after one merge. merged: which of it the merge has made; None of the first step."""

    tokens: Sequence[bytes]
    merged: int | None
    said: str


@dataclass(frozen=True)
class OneToken:
    """A card. steps: the merges of the word in which the token was chosen; empty where it was not chosen in a word."""

    shown: Shown
    template: str
    card: Card
    word: bytes
    steps: list[Step]


def card_of(shelf: Shelf, key: str, token_id: str, word: str, template: str = "own") -> OneToken:
    """The card of an id of a tokenizer. word: a piece of text as bytes in hexadecimal, or nothing. template: the chat template
    whose special tokens it has been given, if any.

    Raises `PlaygroundError` for what no page of ours asks, `UnknownTokenError` for an id that is not in use.
    """
    shown = shelf.find(key)
    if not token_id.isascii() or not token_id.isdecimal() or len(token_id) > 10:
        raise PlaygroundError(f"{token_id!r:.40} is no id; ids are whole numbers from 0 up")
    try:
        piece = bytes.fromhex(word)
    except ValueError:
        raise PlaygroundError("this is not a request of the page: the word is not given in hexadecimal") from None
    card = shown.cards(template).card(int(token_id))
    return OneToken(shown, template, card, piece, _steps(shown, piece) if 1 < len(piece) <= _MOST_BYTES else [])


def glyphs_of_part(content: bytes) -> list[Glyph]:
    """How a part of a word, or of a token, is shown."""
    # In pieces of a SentencePiece model the sign for a space is written as that; it is shown as other spaces are.
    return glyphs_of_bytes(content.replace(SPACE_SYMBOL.encode(), b" "))


def _steps(shown: Shown, piece: bytes) -> list[Step]:
    try:
        found = MergeRules(shown.spec).steps(piece)
    except HfBpeError:
        return []
    made = [None, *(_place(before, after) for before, after in pairwise(found))]
    return [Step(step.tokens, place, _said(step, number)) for number, (step, place) in enumerate(zip(found, made, strict=True))]


def _place(before: MergeStep, after: MergeStep) -> int | None:
    """Where a merge has made a token: the first place at which the two differ."""
    if after.pair is None:
        return None
    return next(_differing(before.tokens, after.tokens), None)


def _differing(before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[int]:
    return (place for place, (old, new) in enumerate(zip(before, after, strict=False)) if old != new)


def _said(step: MergeStep, number: int) -> str:
    if number == 0:
        return "taken whole, without merging" if len(step.tokens) == 1 else "what merging begins with"
    if step.pair is None:
        return "what is no piece comes apart"
    return (
        f"merge {step.rank + 1:,}" if step.rank is not None else f"score {step.score:g}" if step.score is not None else "merged"
    )
