"""Pieces that a SentencePiece model gets without losing what it does: their scores, and which must not be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from conversion.sentencepiece.piece_merges import merges_of
from hf_bpe.pieces import SentencePieceRules

__all__ = ["scores_below", "sets_free"]


def scores_below(rules: SentencePieceRules) -> Iterator[float]:
    """Scores for new pieces, each lower than all before, so that they are merged when nothing else can be.

    >>> from itertools import islice
    >>> from hf_bpe.pieces import Piece
    >>> list(islice(scores_below(SentencePieceRules((Piece("<unk>", kind="unknown"), Piece("ab", -3.5)))), 2))
    [-5.0, -6.0]
    """
    # Single characters are made by no merge; their scores may be anything, such as -1e9.
    score = min((piece.score for piece in rules.pieces if piece.kind == "normal" and len(piece.content) > 1), default=0.0)
    while True:
        score = _below(score)
        yield score


def sets_free(rules: SentencePieceRules) -> Callable[[str], str | None]:
    """What gives, for the text of a new piece, a piece that no merge makes now, and one might make with it: then texts change that do
    not have the new piece. Such pieces are rare; none is in a model that SentencePiece trained.
    """
    unmade = sorted(merges_of(rules).unreachable)
    return lambda content: next((piece for piece in unmade if content in piece), None)


def _below(score: float) -> float:
    """A lower score that 32 bits hold exactly: a whole one, while there are.

    >>> _below(-3.5), _below(-1e9)
    (-5.0, -1000000064.0)
    """
    whole = math.floor(score) - 1.0
    return whole if whole >= -(2**24) else float(np.nextafter(np.float32(score), np.float32(-np.inf)))
