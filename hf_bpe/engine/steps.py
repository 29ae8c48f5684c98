"""How a piece is merged, one step after the other: for those who want to watch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from hf_bpe.engine.pieces_reference import UserDefined, cut, take_apart
from hf_bpe.errors import EncodingError
from hf_bpe.pieces import SentencePieceRules, byte_piece
from hf_bpe.spec import TokenizerSpec

__all__ = ["MergeRules", "MergeStep", "merge_steps"]

MOST_SYMBOLS = 2000
"""Each step lists all that is there, so steps grow with the square: those of 2,000 bytes are 2 million tokens."""

_Symbol: TypeAlias = tuple[bytes, bool]
"""What is there of a piece, and whether it merges with nothing."""


class MergeStep(NamedTuple):
    """One merge of a piece. tokens: what is there after it. pair: what was merged.

    rank: its place among the merges, from 0. score: instead of that, the score of the piece it makes, in a SentencePiece model.
    """

    tokens: tuple[bytes, ...]
    pair: tuple[bytes, bytes] | None
    rank: int | None
    score: float | None = None


def merge_steps(spec: TokenizerSpec, piece: bytes) -> list[MergeStep]:
    """What merging does to a piece of text. For several pieces, make one `MergeRules`.

    >>> from hf_bpe.training import train
    >>> spec = train(["aaabdaaabac"], 259, pattern=None, progress=False)
    >>> for step in merge_steps(spec, b"aab"):
    ...     print(step.rank, *step.tokens)
    None b'a' b'a' b'b'
    0 b'aa' b'b'
    """
    return MergeRules(spec).steps(piece)


class MergeRules:
    """Which merge of a tokenizer comes first: those of a list by their places, those of a SentencePiece model by scores."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self._spec = spec

    def steps(self, piece: bytes, *, whole: bool = True) -> list[MergeStep]:
        """First the bytes that a piece begins with, or the characters of a normalised SentencePiece text; then a step for each merge.

        The best-ranked pair is merged, the leftmost of equals; the last step has the tokens that encoding gives. A SentencePiece model may
        take one more for that: characters that are no piece become bytes or the unknown piece, and unused pieces come apart.

        whole: a piece that the tokenizer takes whole without merging (`ignore_merges`) has one step; False: it is merged all the same.
        Raises `EncodingError` for a piece of more than 2,000 of them.
        """
        if whole and self._spec.ignore_merges and piece in self._spec.vocab:
            return [MergeStep((piece,), None, None)]
        symbols = self._symbols(piece)
        steps = [MergeStep(_contents(symbols), None, None)]
        halves: dict[bytes, tuple[bytes, bytes]] = {}
        while (place := self._best(symbols)) is not None:
            left, right = pair = symbols[place][0], symbols[place + 1][0]
            symbols[place : place + 2] = [(left + right, False)]
            steps.append(MergeStep(_contents(symbols), pair, self._ranks.get(pair), self._scores.get(left + right)))
            if left + right in self._unused:
                halves[left + right] = pair
        given = self._given([part for content, _ in symbols for part in take_apart(content, halves)])
        return steps if given == steps[-1].tokens else [*steps, MergeStep(given, None, None)]

    @property
    def _rules(self) -> SentencePieceRules | None:
        return self._spec.sentencepiece

    @cached_property
    def _ranks(self) -> dict[tuple[bytes, bytes], int]:
        return {pair: rank for rank, pair in enumerate(self._spec.merges)}

    @cached_property
    def _scores(self) -> dict[bytes, float]:
        pieces = () if self._rules is None else self._rules.pieces
        return {p.content.encode(): p.score for p in pieces if p.kind in ("normal", "user_defined", "unused")}

    @cached_property
    def _unused(self) -> frozenset[bytes]:
        pieces = () if self._rules is None else self._rules.pieces
        return frozenset(piece.content.encode() for piece in pieces if piece.kind == "unused")

    def _symbols(self, piece: bytes) -> list[_Symbol]:
        if self._rules is None:
            symbols = [(piece[place : place + 1], False) for place in range(len(piece))]
        else:
            symbols = list(cut(piece, UserDefined(self._rules)))
        if len(symbols) > MOST_SYMBOLS:
            raise EncodingError(
                f"a piece of {len(symbols):,} {'bytes' if self._rules is None else 'characters'} has too many steps to show; give a "
                f"shorter text, of pieces up to {MOST_SYMBOLS:,}"
            )
        return symbols

    def _best(self, symbols: Sequence[_Symbol]) -> int | None:
        """Where the best-ranked pair begins."""
        pairs = enumerate(pairwise(symbols))
        found = [(rank, place) for place, pair in pairs if (rank := self._rank(*pair)) is not None]
        return min(found)[1] if found else None

    def _rank(self, left: _Symbol, right: _Symbol) -> float | None:
        if self._rules is None:
            return self._ranks.get((left[0], right[0]))
        score = None if left[1] or right[1] else self._scores.get(left[0] + right[0])
        return None if score is None else -score

    def _given(self, parts: Sequence[bytes]) -> tuple[bytes, ...]:
        """What symbols are at the end; neighbours that are unknown are one."""
        rules = self._rules
        if rules is None:
            return tuple(parts)
        unknown = None if rules.byte_fallback else rules.pieces[rules.unk_id].content.encode()
        given: list[bytes] = []
        for part in parts:
            if part in self._scores and part not in self._unused:
                given.append(part)
            elif unknown is None:
                given += [byte_piece(byte).encode() for byte in part]
            elif given[-1:] != [unknown]:
                given.append(unknown)
        return tuple(given)


def _contents(symbols: Sequence[_Symbol]) -> tuple[bytes, ...]:
    return tuple(content for content, _ in symbols)
