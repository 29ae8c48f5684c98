"""Reading ahead: the next batches are read, unpacked and parsed while the engine is at work on the present ones."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Generic, TypeVar

__all__ = ["Prefetched"]

Item = TypeVar("Item")

_POLL_SECONDS = 0.1


class Prefetched(Generic[Item]):
    """The items of an iterator, up to `ahead` of them made in a thread of their own. Use as a context manager.

    An error of the iterator is raised where its item would have come. Leaving the context stops the thread.
    """

    def __init__(self, items: Iterator[Item], ahead: int = 2) -> None:
        self._items = items
        self._queue: queue.Queue[tuple[Item] | BaseException | None] = queue.Queue(ahead)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hf-bpe reader", daemon=True)

    def __enter__(self) -> Iterator[Item]:
        self._thread.start()
        return self._taken()

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _taken(self) -> Iterator[Item]:
        while (item := self._queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item[0]

    def _run(self) -> None:
        try:
            for item in self._items:
                if not self._put((item,)):
                    return
        except BaseException as error:  # noqa: BLE001 - raised again where the items are taken
            self._put(error)
        else:
            self._put(None)

    def _put(self, item: tuple[Item] | BaseException | None) -> bool:
        while not self._stopped.is_set():
            try:
                self._queue.put(item, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False
