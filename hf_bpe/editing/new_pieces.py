"""Pieces that a SentencePiece model gets without losing what it does: their scores, which must not be, and which would be odd."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import regex
from tokenizers.pre_tokenizers import UnicodeScripts

from conversion.sentencepiece.piece_merges import merges_of
from hf_bpe.pieces import SPACE_SYMBOL, SentencePieceRules

__all__ = ["Habits", "habits_of", "scores_below", "sets_free"]

_DIGIT = regex.compile("[0-9\uff10-\uff19]")
"""What SentencePiece's trainer takes for a digit: these, and none of other scripts."""
_DIGIT_BESIDE_LETTER = regex.compile(rf"{_DIGIT.pattern}\p{{L}}|\p{{L}}\p{{M}}*{_DIGIT.pattern}")
_OF_ANY_SCRIPT = regex.compile(rf"[\p{{Script=Inherited}}{SPACE_SYMBOL} ]")
_SCRIPTS = UnicodeScripts()


@dataclass(frozen=True)
class Habits:
    """What pieces never are. The names are those of SentencePiece's trainer, a file of whose results does not say what it was told.

    split_digits: no digit (0-9, and full-width ones) is beside another character, not even U+2581.
    split_by_unicode_script: no characters of several scripts are in one piece; punctuation counts as a script, Han and kana as one.
    split_by_number: there digits count as punctuation does, else they go with every script.
    """

    split_digits: bool = False
    split_by_unicode_script: bool = False
    split_by_number: bool = True

    def broken_by(self, content: str) -> bool:
        """Whether a piece is what pieces never are.

        >>> Habits(split_digits=True).broken_by("\u25811"), Habits(split_by_unicode_script=True).broken_by("don't")
        (True, True)
        """
        if len(content) < 2:
            return False
        if self.split_digits and _DIGIT.search(content):
            return True
        if not self.split_by_unicode_script:
            return False
        text = _OF_ANY_SCRIPT.sub("", content)
        # The table of the tokenizers package, as the trainer's, has Han and kana as one. No piece of Mistral's breaks this rule.
        return len(_SCRIPTS.pre_tokenize_str(text if self.split_by_number else _DIGIT.sub("", text))) > 1


def habits_of(pieces: Iterable[str]) -> Habits:
    """The habits that none of these pieces breaks.

    >>> habits_of(["ab", "x1"])
    Habits(split_digits=False, split_by_unicode_script=True, split_by_number=False)
    """
    pieces = list(pieces)
    by_number = not any(map(_DIGIT_BESIDE_LETTER.search, pieces))
    wanted = Habits(split_digits=True), Habits(split_by_unicode_script=True, split_by_number=by_number)
    digits, scripts = (not any(map(habit.broken_by, pieces)) for habit in wanted)
    return Habits(digits, scripts, by_number)


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
