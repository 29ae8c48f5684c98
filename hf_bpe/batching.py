"""Items put together until there is enough to keep every thread busy, and no more than is good to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["batched"]

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: Callable[[Item], int], enough: int) -> Iterator[list[Item]]:
    """Lists of items whose sizes come to at least `enough`, but for the last.

    >>> list(batched(["ab", "c", "def", "g"], len, 3))
    [['ab', 'c'], ['def'], ['g']]
    """
    batch: list[Item] = []
    gathered = 0
    for item in items:
        batch.append(item)
        gathered += size(item)
        if gathered >= enough:
            yield batch
            batch, gathered = [], 0
    if batch:
        yield batch
