"""What encoding gives besides lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Alignment", "CacheInfo", "Ragged"]


class Ragged(NamedTuple):
    """The ids of several texts in one array. Text n has `ids[offsets[n]:offsets[n + 1]]`.

    ids: uint32 or uint16, shape (total ids,). offsets: int64, shape (number of texts + 1,).

    >>> encoder.encode_ordinary_batch_to_numpy(["ab", "c"])  # doctest: +SKIP
    Ragged(ids=array([380,  66], dtype=uint32), offsets=array([0, 1, 2]))
    """

    ids: NDArray[Any]
    offsets: NDArray[np.int64]

    def rows(self) -> Iterator[NDArray[Any]]:
        """The ids of each text: views, no copies."""
        return (self.ids[start:stop] for start, stop in zip(self.offsets[:-1], self.offsets[1:], strict=True))


class Alignment(NamedTuple):
    """Where the ids of several texts come from; all arrays but the last have one entry for each id.

    ids: uint32. starts, stops: int64, first and last + 1 character. pieces: uint32, the number of the piece of the text.
    added: bool, whether the id is an added token that was found in the text; merging makes the ids of some as well.
    bounds: int64, shape (number of texts + 1,). Text n has the entries `bounds[n]:bounds[n + 1]`.
    """

    ids: NDArray[np.uint32]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    pieces: NDArray[np.uint32]
    added: NDArray[np.bool_]
    bounds: NDArray[np.int64]


class CacheInfo(NamedTuple):
    """How the cache of pieces is used. It is bounded: about 28 MiB for each thread that has encoded.

    bytes: memory it holds. lookups: pieces asked for. misses: how many of them, or of their parts, had to be merged.
    """

    bytes: int
    lookups: int
    misses: int
