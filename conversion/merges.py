"""From ranks to merges: which pair of tokens makes each token of a rank table.

tiktoken stores tokens with ranks and merges whichever neighbours spell the best-ranked token. Other formats store the pairs.
The two agree because a token that merging can make at all is always made by one and the same last pair: the one that the
merge loop ends with on the token's own bytes. That loop must run over the whole table. Limited to better ranks than the
token's own, as it is often written, it loses tokens in tables where a part has a worse rank than the whole (Llama 3 has 81).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import AnyStr, TypeAlias

from conversion.verdict import Checks
from hf_bpe.engine.backends import load_native

__all__ = ["check_lookup", "last_pair", "merged_parts", "out_of_reach", "recover_merges", "unreachable_tokens"]

Pair: TypeAlias = tuple[bytes, bytes]

_LONG = 4096
"""Longer tokens, which no real table has, are merged with a queue: the native loop looks at every pair again each time."""


def recover_merges(vocab_in_rank_order: Sequence[bytes]) -> tuple[tuple[Pair, ...], tuple[bytes, ...]]:
    """Tokens, best rank first -> the pairs that make them, best rank first, and the tokens that no merging makes.

    >>> recover_merges([b"a", b"b", b"c", b"bca", b"ca"])
    (((b'b', b'ca'), (b'c', b'a')), ())
    >>> recover_merges([b"a", b"b", b"c", b"ab", b"abc", b"bc"])
    (((b'a', b'b'), (b'ab', b'c'), (b'b', b'c')), ())
    """
    return _recovered(tuple(vocab_in_rank_order))


@lru_cache(maxsize=1)
def _recovered(vocab_in_rank_order: tuple[bytes, ...]) -> tuple[tuple[Pair, ...], tuple[bytes, ...]]:
    # Checking, writing and reading back ask for the same table: half a second each time for 200,000 tokens.
    native = load_native()
    if native is None or max(map(len, vocab_in_rank_order), default=0) > _LONG:
        return _recover(vocab_in_rank_order)
    cuts, lost = native.recover_merges(vocab_in_rank_order)
    merges = tuple((vocab_in_rank_order[rank][:cut], vocab_in_rank_order[rank][cut:]) for rank, cut in cuts)
    return merges, tuple(vocab_in_rank_order[rank] for rank in lost)


def _recover(table: Sequence[bytes]) -> tuple[tuple[Pair, ...], tuple[bytes, ...]]:
    """The definition; the native engine must give the same."""
    rank_of = {token: rank for rank, token in enumerate(table)}
    merges: list[Pair] = []
    unreachable: list[bytes] = []
    for token in table:
        if len(token) == 1:
            continue
        pair = last_pair(token, lambda left, right: rank_of.get(left + right))
        if pair is None:
            unreachable.append(token)
        else:
            merges.append(pair)
    return tuple(merges), tuple(unreachable)


def unreachable_tokens(vocab: Iterable[bytes], merges: Iterable[Pair]) -> list[bytes]:
    """The tokens that merging their own bytes does not arrive at.

    >>> unreachable_tokens([b"a", b"b", b"ab", b"ba"], [(b"a", b"b")])
    [b'ba']
    """
    rank_of: Mapping[Pair, int] = {pair: rank for rank, pair in enumerate(merges)}
    return [token for token in vocab if len(token) > 1 and last_pair(token, lambda *pair: rank_of.get(pair)) not in rank_of]


def out_of_reach(vocab: Mapping[bytes, int], merges: tuple[Pair, ...]) -> list[bytes]:
    """The same for a vocabulary with ids; quick where merging goes by id."""
    in_id_order = sorted(vocab, key=vocab.__getitem__)
    implied, unreachable = recover_merges(in_id_order)
    return list(unreachable) if implied == merges else unreachable_tokens(in_id_order, merges)


def check_lookup(vocab: Mapping[bytes, int], merges: tuple[Pair, ...], ignore_merges: bool, checks: Checks) -> None:
    """Note whether a format that merges every piece, and looks none up as a whole first, gives the same ids."""
    lost = out_of_reach(vocab, merges) if ignore_merges else []
    conflict = (
        f"{len(lost)} tokens are found only by looking up a whole piece (ignore_merges); the first is {lost[0]!r} "
        f"(id {vocab[lost[0]]})"
        if lost
        else None
    )
    texts = (token.decode(errors="ignore") for token in lost)
    checks.expect("no token is found only by looking up a whole piece", conflict, lambda: texts)


def last_pair(token: AnyStr, rank_of: Callable[[AnyStr, AnyStr], float | None]) -> tuple[AnyStr, AnyStr] | None:
    """The two parts that a token's bytes or characters are before the last merge, or None where more are left over."""
    parts = merged_parts(token, rank_of, fewest=2)
    return (parts[0], parts[1]) if len(parts) == 2 else None


def merged_parts(token: AnyStr, rank_of: Callable[[AnyStr, AnyStr], float | None], *, fewest: int = 1) -> list[AnyStr]:
    """Merge bytes or characters, best rank first and leftmost of equals, until no pair has a rank or the fewest are left.

    >>> merged_parts("abab", lambda left, right: 0 if left + right == "ab" else None)
    ['ab', 'ab']
    """
    length = len(token)
    following = list(range(1, length + 1))  # start of a part -> where it ends, which is where the next one starts
    preceding = list(range(-1, length))  # start of a part -> start of the part before it
    waiting: list[tuple[float, int, int, int]] = []
    pairs = [(start, start + 1, start + 2) for start in range(length - 1)]
    parts = length
    while parts > fewest:
        for start, middle, end in pairs:
            rank = rank_of(token[start:middle], token[middle:end])
            if rank is not None:
                heappush(waiting, (rank, start, middle, end))
        while waiting:
            _, start, middle, end = heappop(waiting)
            if following[start] == middle and following[middle] == end:
                break  # else one of the two parts has become something else since
        else:
            break
        following[start], following[middle] = end, -1
        parts -= 1
        pairs.clear()
        if start > 0:
            pairs.append((preceding[start], start, end))
        if end < length:
            preceding[end] = start
            pairs.append((start, end, following[end]))
    found = []
    start = 0
    while start < length:
        found.append(token[start : following[start]])
        start = following[start]
    return found
