"""Reads sources and counts them: what is read, in which order, what becomes of a bad one and of Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from hf_bpe.corpus.documents import Batch, Place
from hf_bpe.corpus.prefetch import Prefetched
from hf_bpe.errors import CorpusError, ResumeRefused
from hf_bpe.progress import byte_bar
from hf_bpe.training.corpus import FileInput, Input, size_of
from hf_bpe.training.counting.interrupts import Interrupts
from hf_bpe.training.counting.record import Counted
from hf_bpe.training.counting.tally import Tally

__all__ = ["count_inputs"]

SAVE_SECONDS = 600.0
"""Between two states to go on from: so much work is lost at most where a process is killed."""


@dataclass(frozen=True)
class _Event:
    """What comes of reading a source: texts, or its end (no batch), or what is wrong with it."""

    source: Input
    batch: Batch | None = None
    wrong: str | None = None


def count_inputs(
    inputs: Sequence[Input], tally: Tally, *, skip_bad_files: bool, progress: bool, save: Callable[[], None] | None
) -> None:
    """Count all inputs that are not finished or left out already; what `tally` has begun comes first.

    save: keeps a state to go on from; called every ten minutes, at the end, and when anything interrupts.
    """
    begun = tally.saved.open
    finished = {counted.name: counted for counted in tally.saved.finished}
    for each in inputs:
        if each.name in finished and not each.is_file:  # a file is known by its size and time of change
            _refuse_more(each, finished[each.name])
    ready = finished.keys() | {left.name for left in tally.saved.left_out}
    todo = [each for each in inputs if each.name not in ready]
    todo.sort(key=lambda each: begun is None or each.name != begun.name)
    events = _events(todo, begun, skip_bad_files=skip_bad_files)
    in_thread = all(isinstance(each, FileInput) for each in todo)  # a generator of the caller's runs where it was made
    reading: AbstractContextManager[Iterator[_Event]] = Prefetched(events) if in_thread else nullcontext(events)
    with (
        Interrupts() as interrupts,
        _Bar(todo, shown=progress) as bar,
        _Saving(save, tally, interrupts) as saving,
        reading as ready_events,
    ):
        for event in ready_events:
            with interrupts.held():
                with saving.broken_if_it_fails():
                    _take(tally, event)
                saving.if_due()
            bar.show(event)
        with interrupts.held(), saving.broken_if_it_fails():
            tally.settle()


def _take(tally: Tally, event: _Event) -> None:
    tally.begin(event.source)
    if event.batch is not None:
        tally.add(event.batch)
    elif event.wrong is not None:
        tally.leave_out(event.wrong)
    else:
        tally.finish()


def _events(inputs: Sequence[Input], begun: Counted | None, *, skip_bad_files: bool) -> Iterator[_Event]:
    for source in inputs:
        batches = source.batches(Place())
        if begun is not None and begun.name == source.name:
            batches = source.batches(begun.place) if source.is_file else _behind(batches, begun)
        try:
            for batch in batches:
                yield _Event(source, batch)
        except (CorpusError, OSError) as error:
            if not (skip_bad_files and source.is_file):
                raise
            yield _Event(source, wrong=str(error))
        else:
            yield _Event(source)


def _behind(batches: Iterator[Batch], begun: Counted) -> Iterator[Batch]:
    """The batches behind those that were counted, once these prove to be the same."""
    seen = Counted(begun.name, begun.source)
    while (seen.texts, seen.text_bytes) != (begun.texts, begun.text_bytes):
        batch = next(batches, None)
        if batch is None or seen.text_bytes > begun.text_bytes:
            break
        seen = seen.and_then(batch)
    if (seen.texts, seen.text_bytes, seen.crc32) != (begun.texts, begun.text_bytes, begun.crc32):
        raise ResumeRefused(
            f"{begun.name} does not begin with the {begun.texts:,} texts ({begun.text_bytes:,} bytes) that an interrupted count read from it; "
            "give the same texts in the same order, or pass overwrite=True (--force) to count anew"
        )
    yield from batches


def _refuse_more(source: Input, finished: Counted) -> None:
    """Raise `ResumeRefused` unless a source holds what was counted of it, and no more."""
    if next(_behind(source.batches(Place()), finished), None) is not None:
        raise ResumeRefused(
            f"{finished.name} holds more than the {finished.texts:,} texts that an interrupted count found in it; give the same texts, or "
            "pass overwrite=True (--force) to count anew"
        )


class _Saving:
    """Keeps a state to go on from, now and then, and whenever counting ends."""

    def __init__(self, save: Callable[[], None] | None, tally: Tally, interrupts: Interrupts) -> None:
        self._save = save
        self._tally = tally
        self._interrupts = interrupts
        self._last = time.monotonic()
        self._broken = False

    def __enter__(self) -> _Saving:
        return self

    def __exit__(self, *_: object) -> None:
        if self._save is not None and not self._broken:
            with self._interrupts.held():
                self._now()

    @contextmanager
    def broken_if_it_fails(self) -> Iterator[None]:
        """Within it, an error leaves counts that may be half of a batch: the state saved last stands."""
        try:
            yield
        except BaseException:
            self._broken = True
            raise

    def if_due(self) -> None:
        if self._save is not None and time.monotonic() - self._last >= SAVE_SECONDS:
            with self.broken_if_it_fails():
                self._tally.settle()
                self._now()

    def _now(self) -> None:
        if self._save is not None:
            self._tally.put_aside()
            self._save()
        self._last = time.monotonic()


class _Bar:
    """Bytes read, the rate, and the time left where it can be known: from the sizes of files or the number of texts."""

    def __init__(self, inputs: Sequence[Input], *, shown: bool) -> None:
        self._total = size_of(inputs)
        self._bar = byte_bar("counting", self._total, shown=shown)
        self._before = 0
        self._inside = 0

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self, event: _Event) -> None:
        if event.batch is None:
            self._before += self._inside if event.source.size is None else event.source.size
            self._inside = 0
        elif event.source.size is None:
            self._inside += len(event.batch.data)
            if event.source.texts and self._total is None:
                self._bar.total = self._inside * event.source.texts // max(1, int(event.batch.rows[-1]))
        else:
            self._inside = event.batch.consumed
        self._bar.update(max(0, self._before + self._inside - self._bar.n))
