"""Ctrl-C that waits until what is being counted is counted, so that counts and the list of what they hold always agree."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Interrupts"]


class Interrupts:
    """Use as a context manager. Other threads than the main one get no signals, and nothing is changed for them."""

    def __init__(self) -> None:
        self._inside = False
        self._waiting: tuple[int, Any] | None = None
        self._before: Callable[[int, Any], Any] | None = None

    def __enter__(self) -> Interrupts:
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before):
            self._before = before
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it no Ctrl-C has an effect; behind it, it has."""
        self._inside = True
        try:
            yield
        finally:
            self._inside = False
            self._deliver()

    def _handle(self, number: int, frame: Any) -> None:
        self._waiting = (number, frame)
        if not self._inside:
            self._deliver()

    def _deliver(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and self._before is not None:
            self._before(*waiting)
