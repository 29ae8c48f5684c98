"""Cuts encoded sequences to a length and pads them, with the results of the stock fast tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["Columns", "Padding", "Truncation", "check_sizes", "padded_length"]

Columns = dict[str, list[Any]]
"""The columns of one row of a result: name -> one value for each id."""


class Truncation(NamedTuple):
    """How much room there is, and what gives way when that is too little.

    room: ids for the text or texts, special tokens not counted.
    strategy: "longest_first", "only_first" or "only_second".
    side: which end of a text is cut off, "left" or "right".
    stride: overlap of the windows that a cut text falls into; it must be shorter than they are, wanted or not.
    """

    room: int
    strategy: str
    side: str
    stride: int = 0

    def kept(self, first: int, second: int | None) -> tuple[slice, slice]:
        """What is kept of a text or a pair of these lengths. Raises `ValueError` where the strategy cannot do that.

        >>> Truncation(3, "longest_first", "right").kept(4, 2)
        (slice(0, 2, None), slice(0, 1, None))
        """
        lengths = self._lengths(first, second)
        return self._ends(first, lengths[0]), self._ends(second or 0, lengths[1])

    def windows(self, first: int, second: int | None) -> tuple[list[slice], list[slice]]:
        """What is kept, followed by the windows that the rest falls into.

        Where nothing is kept of a text, all of it is one window that is left over, as in the stock class.

        >>> Truncation(3, "longest_first", "right", stride=1).windows(6, None)[0]
        [slice(0, 3, None), slice(2, 5, None), slice(4, 6, None)]
        """
        lengths = self._lengths(first, second)
        return self._windows(first, lengths[0]), self._windows(second or 0, lengths[1])

    def _lengths(self, first: int, second: int | None) -> tuple[int, int]:
        total = first + (second or 0)
        if self.room <= 0:
            return 0, 0
        if total <= self.room:
            return first, second or 0
        if self.strategy == "longest_first":
            return (self.room, 0) if second is None else self._share(first, second)
        if self.strategy == "only_first":
            return self._shorter(first, total, "first"), second or 0
        if second is None:
            raise ValueError(
                "truncation='only_second' needs a second text; use 'longest_first' or 'only_first' for single texts"
            )
        return first, self._shorter(second, total, "second")

    def _share(self, first: int, second: int) -> tuple[int, int]:
        """The shorter text keeps what it has if it has at most half; else each gets half, the longer one the odd token."""
        shorter, longer = sorted((first, second))
        if shorter <= self.room // 2:
            longer = self.room - shorter
        else:
            shorter, longer = self.room // 2, self.room - self.room // 2
        return (longer, shorter) if first > second else (shorter, longer)

    def _shorter(self, length: int, total: int, which: str) -> int:
        left = length - (total - self.room)
        if left <= 0:
            raise ValueError(
                f"truncation='only_{which}' cannot reach {self.room} tokens: the {which} text has {length} and {total - self.room} "
                "must go; use 'longest_first' or a larger max_length"
            )
        return left

    def _ends(self, length: int, kept: int) -> slice:
        if length <= kept:
            return slice(0, length)
        if kept and self.stride >= kept:
            raise ValueError(f"stride {self.stride} must be smaller than the {kept} tokens that are kept of a text")
        return slice(length - kept, length) if self.side == "left" else slice(0, kept)

    def _windows(self, length: int, kept: int) -> list[slice]:
        first = self._ends(length, kept)
        if length <= kept:
            return [first]
        if not kept:
            return [first, slice(0, length)]
        step = kept - self.stride
        starts = range(0, length - kept + step, step)
        if self.side == "left":
            return [slice(max(length - start - kept, 0), length - start) for start in starts]
        return [slice(start, min(start + kept, length)) for start in starts]


class Padding(NamedTuple):
    """Fills rows up to a length, each column with its own value. Longer rows stay as they are."""

    length: int
    side: str
    fill: Mapping[str, Any]

    def apply(self, columns: Columns) -> Columns:
        """A row filled up.

        >>> Padding(3, "left", {"input_ids": 0}).apply({"input_ids": [5]})
        {'input_ids': [0, 0, 5]}
        """
        return {name: self.fill_up(name, column) for name, column in columns.items()}

    def fill_up(self, name: str, column: list[Any]) -> list[Any]:
        """The same for one column."""
        filling = [self.fill[name]] * self.missing(len(column))
        return filling + column if self.side == "left" else column + filling

    def missing(self, length: int) -> int:
        """How many values a row of a length lacks."""
        return max(self.length - length, 0)


def padded_length(lengths: list[int], fixed: int | None, multiple_of: int | None) -> int:
    """How long rows become: `fixed`, or as long as the longest, rounded up to a multiple. Longer rows stay as they are."""
    length = max(lengths, default=0) if fixed is None else fixed
    return length + -length % multiple_of if multiple_of else length


def check_sizes(**sizes: int | None) -> None:
    """Raise `ValueError` naming the first that is below zero: as the end of a slice it would cut off text without a word.

    >>> check_sizes(stride=0, max_length=-1)
    Traceback (most recent call last):
    ...
    ValueError: max_length must not be negative, and it is -1
    """
    for name, size in sizes.items():
        if size is not None and size < 0:
            raise ValueError(f"{name} must not be negative, and it is {size}")
