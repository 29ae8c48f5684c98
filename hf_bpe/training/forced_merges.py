"""Merges that make given tokens, for the beginning of a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

from hf_bpe.engine.reference import merge_pair

__all__ = ["forced_merges"]

Pair = tuple[int, int]


def forced_merges(tokens: Sequence[bytes]) -> list[Pair]:
    """Merges after which each of these is one token, made from the left out of the tokens that are there by then.

    Ids 0..255 are the bytes, the n-th merge makes id 256 + n. What was made before is still made after further merges, which have
    worse ranks. And no merge makes a token that is there already: were two neighbours that are left such a token together, nothing
    merged across its ends, so that its bytes alone would be left as the same two.

    >>> forced_merges([b"  ", b"   ", b"    "])
    [(32, 32), (256, 32), (256, 256)]
    """
    merges: list[Pair] = []
    for token in tokens:
        ids = list(token)
        for number, pair in enumerate(merges):
            ids = merge_pair(ids, pair, 256 + number)
        while len(ids) > 1:
            pair = (ids[0], ids[1])
            ids = merge_pair(ids, pair, 256 + len(merges))
            merges.append(pair)
    return merges
