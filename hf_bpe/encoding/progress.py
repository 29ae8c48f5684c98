"""Shows, or tells a function, how much of the input has been encoded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, TypeAlias

from tqdm import tqdm

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Progress", "reporting"]

Progress: TypeAlias = bool | Callable[[int, int], object]
"""True: a bar on standard error. A function: called with bytes done and bytes in all, of the files as they are on disk."""


def reporting(progress: Progress, start: int, total: int) -> AbstractContextManager[Callable[[int], object]]:
    """What to call with the number of bytes done. `start`: bytes done by earlier runs."""
    return _bar(start, total, shown=progress) if isinstance(progress, bool) else _told(progress, total)


@contextmanager
def _bar(start: int, total: int, *, shown: bool) -> Iterator[Callable[[int], object]]:
    with tqdm(total=total, initial=start, desc="encoding", unit="B", unit_scale=True, disable=not shown) as bar:
        yield lambda done: bar.update(max(0, done - bar.n))


@contextmanager
def _told(function: Callable[[int, int], object], total: int) -> Iterator[Callable[[int], object]]:
    yield lambda done: function(done, total)
