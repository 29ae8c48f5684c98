"""Merges that make given tokens, for the beginning of a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

from hf_bpe.engine.reference import merge_pair
from hf_bpe.errors import TrainingError

__all__ = ["forced_merges"]

Pair = tuple[int, int]


def forced_merges(tokens: Sequence[bytes]) -> list[Pair]:
    """Merges after which each of these is one token, made from the left out of the tokens that are there by then.

    Ids 0..255 are the bytes, the n-th merge makes id 256 + n. A merge comes after those of its parts, and after it all that was
    made before is still made: so a token that was reached once stays reachable.

    Raises `TrainingError` for a token that cannot be made.

    >>> forced_merges([b"  ", b"   ", b"    "])
    [(32, 32), (256, 32), (256, 256)]
    """
    merges: list[Pair] = []
    known = {bytes([byte]): byte for byte in range(256)}
    spelled = list(known)
    for token in tokens:
        ids = list(token)
        for number, pair in enumerate(merges):
            ids = merge_pair(ids, pair, 256 + number)
        while len(ids) > 1:
            pair = _next_pair(ids, spelled, known, token)
            new = spelled[pair[0]] + spelled[pair[1]]
            known[new] = len(spelled)
            spelled.append(new)
            merges.append(pair)
            ids = merge_pair(ids, pair, known[new])
    return merges


def _next_pair(ids: list[int], spelled: list[bytes], known: dict[bytes, int], token: bytes) -> Pair:
    """The first two whose bytes are no token yet: a token is made by one merge alone, as rank files demand."""
    for pair in zip(ids, ids[1:], strict=False):
        if spelled[pair[0]] + spelled[pair[1]] not in known:
            return pair
    raise TrainingError(
        f"no merges make {token!r} beside the other tokens that are forced: its parts {[spelled[part] for part in ids]} are tokens in other "
        "cuts already; change the order of forced_tokens, or leave one of them out"
    )
