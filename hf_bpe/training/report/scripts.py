"""Which script a word is written in: that of its first character that belongs to one alone."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

import numpy as np

from hf_bpe.pattern_syntax.code_points import property_members
from hf_bpe.pattern_syntax.tree import SCRIPTS, Property
from hf_bpe.training.report.usage import Numbers
from hf_bpe.training.words import Words

__all__ = ["OTHER", "script_names", "script_of", "scripts_of"]

OTHER = "other"
_SHARED = {"Common", "Inherited"}


@cache
def script_names() -> tuple[str, ...]:
    """Scripts that are told apart, and last what is in none of them: digits, punctuation, white space, rare scripts."""
    return (*sorted(SCRIPTS - _SHARED), OTHER)


@cache
def _spans() -> tuple[list[int], list[int], list[int]]:
    names = script_names()
    spans = [
        (span.first, span.last, number) for number, name in enumerate(names[:-1]) for span in property_members(Property(name))
    ]
    firsts, lasts, numbers = zip(*sorted(spans), strict=True)
    return list(firsts), list(lasts), list(numbers)


@cache
def script_of(character: str) -> int | None:
    """The number of a character's script, if it has one.

    >>> script_names()[script_of("é")], script_of("1")
    ('Latin', None)
    """
    firsts, lasts, numbers = _spans()
    place = bisect_right(firsts, ord(character)) - 1
    return numbers[place] if place >= 0 and ord(character) <= lasts[place] else None


def scripts_of(words: Words) -> Numbers:
    """The number of each word's script."""
    other = len(script_names()) - 1
    found = (
        next((script for character in word.decode("utf-8", "replace") if (script := script_of(character)) is not None), other)
        for word, _ in words.items()
    )
    return np.fromiter(found, np.int64, len(words.counts))
