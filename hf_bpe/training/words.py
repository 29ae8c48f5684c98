"""`Words`: counted words, flat, as they go between the counter, files of counts and the learner."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Words"]

Word: TypeAlias = bytes
"""`bytes` itself; below, that is the name of a field."""


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
    def of(cls, counted: Iterable[tuple[Word, int]]) -> Words:
        """From words and their counts. Raises `OverflowError` for a count of more than 63 bits."""
        import numpy as np

        words, counts = [], []
        for word, count in counted:
            words.append(word)
            counts.append(count)
        bounds = np.zeros(len(words) + 1, np.int64)
        np.cumsum([len(word) for word in words], out=bounds[1:])
        return cls(np.frombuffer(b"".join(words), np.uint8), bounds, np.array(counts, np.int64))

    @property
    def size(self) -> int:
        """How many words there are."""
        return len(self.counts)

    @property
    def nbytes(self) -> int:
        """The memory that these words take up, which is less than the arrays if they are a `part`."""
        return int(self.bounds[-1] - self.bounds[0]) + 16 * self.size

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Of each word, in bytes."""
        difference: NDArray[np.int64] = self.bounds[1:] - self.bounds[:-1]
        return difference

    def items(self) -> Iterator[tuple[Word, int]]:
        """Each word with its count.

        >>> dict(Words.of([(b"ab", 3), (b"c", 1)]).items())
        {b'ab': 3, b'c': 1}
        """
        first = int(self.bounds[0])
        every = self.bytes[first : self.bounds[-1]].tobytes()
        for (start, end), count in zip(pairwise(self.bounds.tolist()), self.counts.tolist(), strict=True):
            yield every[start - first : end - first], count

    def word(self, number: int) -> Word:
        """One word.

        >>> Words.of([(b"ab", 3), (b"c", 1)]).word(1)
        b'c'
        """
        return self.bytes[self.bounds[number] : self.bounds[number + 1]].tobytes()

    def part(self, start: int, stop: int) -> Words:
        """Some of the words, in the same memory."""
        return Words(self.bytes, self.bounds[start : stop + 1], self.counts[start:stop])

    def up_to(self, word: Word) -> int:
        """How many of them are not greater than a word, where they ascend.

        >>> Words.of([(b"ab", 3), (b"c", 1)]).up_to(b"b")
        1
        """
        return bisect_right(range(self.size), word, key=self.word)
