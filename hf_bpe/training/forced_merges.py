"""Merges that make given tokens, for the beginning of a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

from hf_bpe.engine.reference import merge_by_rank, merge_pair

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
    merged: dict[Pair, tuple[int, int]] = {}  # to rank and id, in the order of ranks
    for token in tokens:
        ids = merge_by_rank(list(token), merged)
        while len(ids) > 1:
            pair, new_id = (ids[0], ids[1]), 256 + len(merged)
            merged[pair] = (len(merged), new_id)
            ids = merge_pair(ids, pair, new_id)
    return list(merged)
