"""`Words`: counted words, flat, as they go between the counter, files of counts and the learner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Words"]


class Words(NamedTuple):
    """Distinct words end to end, and how often each was seen: word n is `bytes[bounds[n]:bounds[n + 1]]`, seen `counts[n]` times.

    These are the buffers of arrow's large binary and int64 columns, so they go to and from it without a copy.

    >>> list(Words.of([(b"ab", 3), (b"c", 1)]))
    [array([97, 98, 99], dtype=uint8), array([0, 2, 3]), array([3, 1])]
    """

    bytes: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, counted: Iterable[tuple[bytes, int]]) -> Words:
        """From words and their counts. Raises `OverflowError` for a count of more than 63 bits."""
        import numpy as np

        words, counts = [], []
        for word, count in counted:
            words.append(word)
            counts.append(count)
        bounds = np.zeros(len(words) + 1, np.int64)
        np.cumsum([len(word) for word in words], out=bounds[1:])
        return cls(np.frombuffer(b"".join(words), np.uint8), bounds, np.array(counts, np.int64))

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Each word with its count.

        >>> dict(Words.of([(b"ab", 3), (b"c", 1)]).items())
        {b'ab': 3, b'c': 1}
        """
        every = self.bytes.tobytes()
        bounds = self.bounds.tolist()
        for start, end, count in zip(bounds, bounds[1:], self.counts.tolist(), strict=False):
            yield every[start:end], count
