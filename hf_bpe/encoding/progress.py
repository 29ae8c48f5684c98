"""Shows, or tells a function, how much of the input has been encoded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from hf_bpe.progress import reporting_bytes

__all__ = ["Progress", "reporting"]

Progress: TypeAlias = bool | Callable[[int, int], object]
"""True: a bar on standard error. A function: called with bytes done and bytes in all, of the files as they are on disk."""


def reporting(progress: Progress, start: int, total: int) -> AbstractContextManager[Callable[[int], object]]:
    """What to call with the number of bytes done. `start`: bytes done by earlier runs."""
    if isinstance(progress, bool):
        return reporting_bytes("encoding", total, shown=progress, before=start)
    return nullcontext(lambda done: progress(done, total))
