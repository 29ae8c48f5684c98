"""The smallest texts that use what two lists of merges, or two vocabularies, do not have in common."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import TypeAlias, TypeVar

from hf_bpe.spec import TokenizerSpec

__all__ = ["as_text", "texts_merged_apart", "tokens_apart"]

Pair: TypeAlias = tuple[bytes, bytes]
Item = TypeVar("Item")

_MOST_SUSPECTS = 1500
_MOST_NEIGHBOURS = 6
_TAILS = [b"", *(bytes(tail) for length in (1, 2, 3) for tail in product((0x80, 0x90, 0xA0), repeat=length))]
_HEADS = [b"", b"\xc3", b"\xe4", b"\xf0", b"\xe4\xb8", b"\xf0\x9f", b"\xf0\x9f\x98"]


def texts_merged_apart(a: Sequence[Pair], b: Sequence[Pair]) -> Iterator[str]:
    """Texts of the merges that only one list has, or that stand in another order, alone and reaching over their neighbours.

    >>> list(texts_merged_apart([(b"a", b"b"), (b"b", b"c")], [(b"b", b"c"), (b"a", b"b")]))
    ['ab', 'abc', 'abc']
    """
    if a == b:
        return
    suspects = _spread([*_only_in(a, b), *_only_in(b, a), *_moved(a, b)])
    begin_with, end_with = _by_part([*a, *b])
    for left, right in suspects:
        yield from _texts([left + right])
        yield from _texts(left + right + more for _, more in islice(begin_with[right], _MOST_NEIGHBOURS))
        yield from _texts(more + left + right for more, _ in islice(end_with[left], _MOST_NEIGHBOURS))


def tokens_apart(a: TokenizerSpec, b: TokenizerSpec) -> Iterator[str]:
    """Texts of the tokens that only one vocabulary has, or that have another id in the other, in surroundings that matter."""
    apart = [token for token in a.vocab.keys() | b.vocab.keys() if a.vocab.get(token) != b.vocab.get(token)]
    for text in _texts(_spread(sorted(apart, key=lambda token: (len(token), token)))):
        yield from (text, " " + text, text + text, f"a{text}", f"{text}a", text[1:], text[:-1], f"\n{text}", f"{text}\n")


def as_text(token: bytes) -> str | None:
    """The token in the shortest text around it that is UTF-8; None where there is none.

    >>> as_text(b"\\x9f\\x98"), as_text(b"\\xff")
    ('䟘', None)
    """
    for head, tail in product(_HEADS, _TAILS):
        try:
            return (head + token + tail).decode()
        except UnicodeDecodeError:
            continue
    return None


def _texts(tokens: Iterable[bytes]) -> Iterator[str]:
    return (text for token in tokens if (text := as_text(token)))


def _only_in(a: Sequence[Pair], b: Sequence[Pair]) -> list[Pair]:
    others = set(b)
    return [pair for pair in a if pair not in others]


def _moved(a: Sequence[Pair], b: Sequence[Pair]) -> list[Pair]:
    """The fewest pairs without which both lists are in one order: all but a longest rising sequence."""
    rank_in_b = {pair: rank for rank, pair in enumerate(b)}
    common = [pair for pair in a if pair in rank_in_b]
    tails: list[int] = []  # smallest rank that ends a rising sequence of each length
    places: list[int] = []
    for pair in common:
        rank = rank_in_b[pair]
        place = bisect_left(tails, rank)
        tails[place : place + 1] = [rank]
        places.append(place)
    moved, wanted = [], len(tails) - 1
    for pair, place in zip(reversed(common), reversed(places), strict=True):
        if place == wanted:
            wanted -= 1
        else:
            moved.append(pair)
    return moved[::-1]


def _by_part(merges: Iterable[Pair]) -> tuple[Mapping[bytes, list[Pair]], Mapping[bytes, list[Pair]]]:
    """Merges by their left part, and by their right part."""
    begin_with: dict[bytes, list[Pair]] = defaultdict(list)
    end_with: dict[bytes, list[Pair]] = defaultdict(list)
    for left, right in merges:
        begin_with[left].append((left, right))
        end_with[right].append((left, right))
    return begin_with, end_with


def _spread(items: list[Item]) -> list[Item]:
    """All of them, or as many as there is time for: the first half from the beginning, the rest from everywhere."""
    if len(items) <= _MOST_SUSPECTS:
        return items
    half = _MOST_SUSPECTS // 2
    return [*items[:half], *items[half :: -(-(len(items) - half) // half)]]
