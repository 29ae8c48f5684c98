"""Bars that show how many bytes are done, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

__all__ = ["byte_bar", "reporting_bytes"]


def byte_bar(doing: str, total: int | None, *, shown: bool, before: int = 0) -> tqdm[Any]:
    """A bar in bytes. doing: what is done, in a word. total: None where nobody knows. before: bytes that earlier runs did.

    >>> with byte_bar("counting", 10, shown=False) as bar:
    ...     _ = bar.update(5)
    """
    from tqdm import tqdm  # not before something takes long

    return tqdm(total=total, initial=before, desc=doing, unit="B", unit_scale=True, disable=not shown)


@contextmanager
def reporting_bytes(doing: str, total: int | None, *, shown: bool, before: int = 0) -> Iterator[Callable[[int], object]]:
    """The same, for those who know how much is done in all: what to call with that.

    >>> with reporting_bytes("comparing", 10, shown=False) as report:
    ...     _ = report(5)
    """
    with byte_bar(doing, total, shown=shown, before=before) as bar:
        yield lambda done: bar.update(max(0, done - bar.n))
