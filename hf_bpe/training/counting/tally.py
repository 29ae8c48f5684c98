"""`Tally`: the counts while they grow, within a budget of memory, and what they are the counts of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hf_bpe.corpus.documents import Batch, Offsets
from hf_bpe.cuts import last_cut
from hf_bpe.training.corpus import Input
from hf_bpe.training.counting.bins import Bin
from hf_bpe.training.counting.record import Counted, LeftOut
from hf_bpe.training.counting.store import Saved

__all__ = ["Tally"]

ENOUGH_BYTES = 1 << 20
"""Texts are counted when so much for each thread has come together: enough to keep it busy."""

_PART_BYTES = 1 << 17
"""A long text is shared out among threads in parts of about this size."""


class Tally:
    """Counts sources one after the other, into one bin or several.

    What the source being read has added is kept apart until it is finished: a source that turns out to be bad leaves no trace, and
    an interrupted one is gone on with.
    """

    def __init__(self, bins: Sequence[Bin], saved: Saved, *, memory_limit: int, cuttable: bool, threads: int) -> None:
        self.bins = bins
        self.saved = saved
        self._limit = memory_limit
        self._cuttable = cuttable
        self._enough = threads * ENOUGH_BYTES
        self._read: Counted | None = saved.open
        self._waiting: list[Batch] = []  # of the source being read
        self._ended: list[Counted] = []  # sources that were read to the end, and are not counted yet
        self._waiting_ended: list[Batch] = []  # theirs

    def begin(self, source: Input) -> None:
        """The next batches are of this source; it may have been begun before."""
        if self._read is None:
            self._read = Counted.none_of(source)

    def add(self, batch: Batch) -> None:
        """Note texts of the source being read."""
        self._waiting.append(batch)
        if sum(len(batch.data) for batch in (*self._waiting_ended, *self._waiting)) >= self._enough:
            self.settle()

    def finish(self) -> None:
        """The source being read is finished."""
        if self.saved.open is not None:  # a part of it is counted, so that the rest joins it
            self._count_all()
            for each in self.bins:
                each.finish_open()
            self.saved.finished.append(self.saved.open)
            self.saved.open = self._read = None
        elif self._read is not None:
            for batch in self._waiting:
                self._read = self._read.and_then(batch)
            self._ended.append(self._read)
            self._waiting_ended += self._waiting
            self._waiting, self._read = [], None

    def leave_out(self, reason: str) -> None:
        """The source being read is bad: nothing of it counts."""
        if self._read is None:
            return
        self.saved.left_out.append(LeftOut(self._read.name, self._read.source, reason))
        if self.saved.open is not None:
            for each in self.bins:
                each.forget_open()
        self._waiting, self._read, self.saved.open = [], None, None

    def settle(self) -> None:
        """Count what waits, and put counts aside where they take up too much memory."""
        self._count_all()
        if sum(each.nbytes for each in self.bins) > self._limit:
            self.put_aside()

    def put_aside(self) -> None:
        """Write what is counted to the stores."""
        for each in self.bins:
            each.put_aside()

    def _count_all(self) -> None:
        self._count(self._waiting_ended, Bin.count)
        self.saved.finished += self._ended
        self._waiting_ended, self._ended = [], []
        if self._waiting and self._read is not None:
            self._count(self._waiting, Bin.count_open)
            for batch in self._waiting:
                self._read = self._read.and_then(batch)
            self._waiting, self.saved.open = [], self._read

    def _count(self, batches: list[Batch], into: Callable[[Bin, bytes, Offsets], None]) -> None:
        if not batches:
            return
        data = batches[0].data if len(batches) == 1 else b"".join(batch.data for batch in batches)
        offsets = _offsets(data, batches, cuttable=self._cuttable)
        for each in self.bins:
            into(each, data, offsets)


def _offsets(data: bytes, batches: list[Batch], *, cuttable: bool) -> Offsets:
    """Where texts begin in the data of all batches, or parts of long ones where cutting is harmless."""
    ends: list[int] = []
    before = 0
    for batch in batches:
        for end in (batch.offsets[1:] + before).tolist():
            start = ends[-1] if ends else 0
            ends += _cuts(data, start, end) if cuttable and end - start > 2 * _PART_BYTES else []
            ends.append(end)
        before += len(batch.data)
    return np.array([0, *ends], np.int64)


def _cuts(data: bytes, start: int, end: int) -> list[int]:
    cuts: list[int] = []
    for place in range(start + _PART_BYTES, end, _PART_BYTES):
        cut = last_cut(data, place)
        if cut > (cuts[-1] if cuts else start):
            cuts.append(cut)
    return cuts
