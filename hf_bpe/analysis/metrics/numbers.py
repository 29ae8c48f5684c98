"""How a tokenizer cuts numbers, and whether sums line up for it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hf_bpe.engine import Encoder

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DIGITS", "Cut", "cuts_of", "numbers_cut"]

DIGITS = 12
_MOST_NUMBERS = 1000
"""Of one length; up to three digits that is all of them."""
_SUMS = 1000
_SEED = 0

Cut = tuple[int, ...]
"""The digits in each part of a number, from its left: (1, 3) where 1|234 is cut."""


def numbers_cut(encoder: Encoder, digits: int = DIGITS) -> dict[str, Any]:
    """How numbers of 1 to `digits` digits are cut, each as a text of its own, and sums such as "123 + 45 = 168".

    `by_digits`: of each length how many numbers were tried, tokens for each, the cut that most have, and how many have it; `right_aligned`: the share whose
    parts are all of one size, the first perhaps shorter. `grouping`: the rule that holds for all numbers: "digits", each by itself; "right" and
    "left", groups of `size` counted from there; else "irregular". `aligned_sums`: the share of sums in which both summands and the
    sum are cut at the same powers of ten, so that digits which are added stand at the same places in their tokens.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> numbers_cut(Encoder(spec), digits=4)["grouping"]
    {'scheme': 'digits', 'size': 1}
    """
    found = {length: cuts_of(encoder, _numbers(length)) for length in range(1, digits + 1)}
    return {
        "by_digits": [_row(length, cuts) for length, cuts in found.items()],
        "grouping": _grouping({length: set(cuts) for length, cuts in found.items() if length > 1}),
        "aligned_sums": round(_aligned_sums(encoder), 6),
    }


def cuts_of(encoder: Encoder, numbers: Sequence[str]) -> list[Cut]:
    """How each number is cut."""
    return [_cut(len(number), starts) for number, starts in zip(numbers, _starts(encoder, numbers), strict=True)]


def _numbers(length: int) -> list[str]:
    first, after = (0 if length == 1 else 10 ** (length - 1)), 10**length
    if after - first <= _MOST_NUMBERS:
        return list(map(str, range(first, after)))
    chosen = random.Random(_SEED)  # noqa: S311 - the same numbers each time
    return [str(chosen.randrange(first, after)) for _ in range(_MOST_NUMBERS)]


def _starts(encoder: Encoder, texts: Sequence[str]) -> Iterator[list[int]]:
    """Of each text, the characters that tokens begin at. A space that a SentencePiece model adds is none."""
    found = encoder.align_batch(texts, disallowed_special=())
    for start, stop in zip(found.bounds[:-1].tolist(), found.bounds[1:].tolist(), strict=True):
        spans = zip(found.starts[start:stop].tolist(), found.stops[start:stop].tolist(), strict=True)
        yield [first for first, last in spans if last > first]


def _cut(length: int, starts: list[int]) -> Cut:
    borders = [0, *sorted({start for start in starts if 0 < start < length}), length]
    return tuple(after - before for before, after in pairwise(borders))


def _row(length: int, cuts: list[Cut]) -> dict[str, Any]:
    common, times = Counter(cuts).most_common(1)[0]
    return {
        "digits": length,
        "numbers": len(cuts),
        "tokens_per_number": round(sum(map(len, cuts)) / len(cuts), 6),
        "most_common_cut": "+".join(map(str, common)),
        "share_of_most_common": round(times / len(cuts), 6),
        "different_cuts": len(set(cuts)),
        "right_aligned": round(sum(cut == _from_right(length, max(cut)) for cut in cuts) / len(cuts), 6),
    }


def _from_right(length: int, size: int) -> Cut:
    """Groups of so many digits counted from the right.

    >>> _from_right(7, 3)
    (1, 3, 3)
    """
    first = length % size
    return (*((first,) if first else ()), *(size,) * (length // size))


def _grouping(cuts: dict[int, set[Cut]]) -> dict[str, Any]:
    largest = max((max(cut) for found in cuts.values() for cut in found), default=1)
    if largest == 1:
        return {"scheme": "digits", "size": 1}
    for scheme, turned in (("right", False), ("left", True)):
        expected = {length: _from_right(length, largest)[:: -1 if turned else 1] for length in cuts}
        if all(found == {expected[length]} for length, found in cuts.items()):
            return {"scheme": scheme, "size": largest}
    return {"scheme": "irregular", "size": None}


def _aligned_sums(encoder: Encoder) -> float:
    chosen = random.Random(_SEED)  # noqa: S311 - the same sums each time
    pairs = [tuple(chosen.randrange(10 ** chosen.randrange(1, 10)) for _ in range(2)) for _ in range(_SUMS)]
    terms = [(str(a), str(b), str(a + b)) for a, b in pairs]
    starts = _starts(encoder, [f"{a} + {b} = {c}" for a, b, c in terms])
    return sum(_is_aligned(each, where) for each, where in zip(terms, starts, strict=True)) / _SUMS


def _is_aligned(terms: tuple[str, str, str], starts: list[int]) -> bool:
    """Whether at each power of ten all of the numbers that reach over it are cut, or none.

    >>> _is_aligned(("12", "345", "357"), [0, 1, 2, 6, 10, 14])
    False
    """
    first, cut_at = 0, []
    for number in terms:
        end = first + len(number)
        cut_at.append({end - start for start in starts if first < start < end})
        first = end + len(" + ")
    powers = range(1, len(terms[-1]))
    reaching = ([cuts for number, cuts in zip(terms, cut_at, strict=True) if len(number) > power] for power in powers)
    return all(len({power in cuts for cuts in numbers}) == 1 for power, numbers in zip(powers, reaching, strict=True))
