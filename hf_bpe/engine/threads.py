"""How many threads a caller asks for."""

from __future__ import annotations

import os
from operator import index

__all__ = ["thread_count"]

_MOST = 1024
"""More than this many are of no use on any machine, and may be more than the system starts."""


def thread_count(num_threads: int | None) -> int:
    """The number of threads to start at most; None: all processors.

    Raises `TypeError` for what is not an integer, `ValueError` for less than one.
    """
    if num_threads is None:
        return os.cpu_count() or 1
    if type(num_threads) is int and 0 < num_threads <= _MOST:
        return num_threads
    if isinstance(num_threads, bool) or not hasattr(num_threads, "__index__"):
        raise TypeError(f"num_threads must be an int, or None for all processors, not {num_threads!r}")
    threads = index(num_threads)
    if threads < 1:
        raise ValueError(f"num_threads must be at least 1, not {threads}")
    return min(threads, _MOST)
