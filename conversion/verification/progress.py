"""Shows how much of the corpus has been read, and how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

__all__ = ["reporting"]


@contextmanager
def reporting(total: int, *, shown: bool, doing: str = "comparing") -> Iterator[Callable[[int], object]]:
    """What to call with the number of bytes done."""
    with tqdm(total=total, desc=doing, unit="B", unit_scale=True, disable=not shown) as bar:
        yield lambda done: bar.update(max(0, done - bar.n))
