"""Cuts encoded sequences to a length and pads them, with the results of the stock fast tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Truncation", "pad_columns", "padded_length"]


@dataclass(frozen=True)
class Truncation:
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

    def apply(self, first: list[int], second: list[int] | None) -> tuple[list[int], list[int] | None]:
        """Cut a text or a pair to the room there is. Raises `ValueError` where the strategy cannot do that.

        >>> Truncation(3, "longest_first", "right").apply([1, 2, 3, 4], [5, 6])
        ([1, 2], [5])
        """
        lengths = self._lengths(len(first), None if second is None else len(second))
        return self._cut(first, lengths[0]), None if second is None else self._cut(second, lengths[1])

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

    def _cut(self, ids: list[int], length: int) -> list[int]:
        if len(ids) <= length:
            return ids
        if length and self.stride >= length:
            raise ValueError(f"stride {self.stride} must be smaller than the {length} tokens that are kept of a text")
        return ids[len(ids) - length :] if self.side == "left" else ids[:length]


def padded_length(lengths: list[int], fixed: int | None, multiple_of: int | None) -> int:
    """How long rows become: `fixed`, or as long as the longest, rounded up to a multiple. Longer rows stay as they are."""
    length = max(lengths, default=0) if fixed is None else fixed
    return length + -length % multiple_of if multiple_of else length


def pad_columns(columns: dict[str, list[list[int]]], fill: dict[str, int], length: int, side: str) -> dict[str, Any]:
    """Fill every row of every column up to a length, each column with its own value.

    >>> pad_columns({"input_ids": [[5]]}, {"input_ids": 0}, 3, "left")
    {'input_ids': [[0, 0, 5]]}
    """
    if side not in ("left", "right"):
        raise ValueError(f"padding_side must be 'left' or 'right', not {side!r}")

    def padded(row: list[int], value: int) -> list[int]:
        missing = [value] * (length - len(row))
        return missing + row if side == "left" else row + missing

    return {name: [padded(row, fill[name]) for row in rows] for name, rows in columns.items()}
