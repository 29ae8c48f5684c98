"""A bin: the words of one way of cutting text, in memory and put aside."""

from __future__ import annotations

from collections.abc import Callable

from hf_bpe.corpus.documents import Offsets
from hf_bpe.training.counting.counters import WordCounter
from hf_bpe.training.counting.store import Store
from hf_bpe.training.words import Words

__all__ = ["Bin"]


class Bin:
    """Counts of finished sources, and apart from them those of the source being read (unless `apart` is false)."""

    def __init__(self, make_counter: Callable[[], WordCounter], store: Store, *, apart: bool) -> None:
        self.store = store
        self._finished = make_counter()
        self._open = make_counter() if apart else self._finished
        self._apart = apart

    @property
    def nbytes(self) -> int:
        """The memory that its tables take up."""
        return self._finished.nbytes + (self._open.nbytes if self._apart else 0)

    def count(self, data: bytes, offsets: Offsets) -> None:
        """Count texts of finished sources."""
        self._finished.add(data, offsets)

    def count_open(self, data: bytes, offsets: Offsets) -> None:
        """Count texts of the source being read."""
        self._open.add(data, offsets)

    def finish_open(self) -> None:
        """The source being read is finished."""
        if self._apart:
            self._finished.absorb(self._open)
        self.store.finish_open()

    def forget_open(self) -> None:
        """The source being read shall not count."""
        self._open.take()
        self.store.forget_open()

    def put_aside(self) -> None:
        """Write what is in memory to the store."""
        self.store.put(self._finished.take(), self.store.finished)
        if self._apart:
            self.store.put(self._open.take(), self.store.open)

    def take(self) -> Words:
        """What was counted of finished sources and is not put aside."""
        return self._finished.take()
