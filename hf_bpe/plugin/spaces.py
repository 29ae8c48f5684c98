"""Offsets without the spaces around tokens, as a post-processor with `trim_offsets` makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from hf_bpe.pattern_syntax import SPACE

__all__ = ["OuterSpaces", "outer_spaces", "trimmed"]

Array = NDArray[np.int64]

_SPACES = frozenset(chr(c) for span in SPACE for c in range(span.first, span.last + 1)) | {"Ġ"}


def outer_spaces(token: str) -> tuple[int, int]:
    """How many spaces a token begins and ends with.

    >>> outer_spaces("Ġhello")
    (1, 0)
    """
    return _leading_spaces(token), _leading_spaces(reversed(token))


def _leading_spaces(token: Iterable[str]) -> int:
    count = 0
    for character in token:
        if character not in _SPACES:
            break
        count += 1
    return count


class OuterSpaces:
    """`outer_spaces` of the tokens of a vocabulary, each counted when first asked for. `token_of`: how one is written."""

    def __init__(self, n_vocab: int, token_of: Callable[[int], str]) -> None:
        self._token_of = token_of
        self._counts = np.full((n_vocab, 2), -1, np.int32)

    def of(self, ids: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Those of tokens by their ids, shape (n, 2)."""
        for token_id in np.unique(ids[self._counts[ids, 0] < 0]).tolist():
            self._counts[token_id] = outer_spaces(self._token_of(token_id))
        return self._counts[ids]


def trimmed(starts: Array, stops: Array, spaces: NDArray[np.int32], keeps_one: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Places without the spaces that tokens begin and end with: what a ByteLevel post-processor with `trim_offsets` does.

    spaces: how many, shape (n, 2). keeps_one: where a single space at the beginning is none of the text.

    >>> trimmed(np.array([0, 2]), np.array([2, 5]), np.array([[1, 0], [1, 1]]), np.array([True, False]))
    (array([0, 3]), array([2, 4]))
    """
    leading, trailing = spaces[:, 0], spaces[:, 1]
    begins = np.where(keeps_one & (leading == 1), starts, np.minimum(starts + leading, stops))
    return begins, np.where(stops >= trailing, np.maximum(stops - trailing, begins), stops)
