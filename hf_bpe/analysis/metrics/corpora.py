"""The texts that tokenizers are measured on: named corpora, read a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise

from hf_bpe.corpus.documents import BadDocuments, Place
from hf_bpe.corpus.prefetch import Prefetched
from hf_bpe.encoding.cutting import cut_of
from hf_bpe.errors import CorpusError
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.corpus import Corpus, Cut, Input, inputs_of, size_of

__all__ = ["Block", "NamedCorpus", "common_cut"]

_LINE = "\n"
_PARALLEL_REMEDY = "Mend it, or take it out of all parallel corpora: without it the others would not fit each other"
_BLOCK_BYTES = 1 << 20
"""A long text comes in parts of twice that. Looking at one takes forty times its memory; four times as much was no faster."""


@dataclass(frozen=True)
class Block:
    """Some texts of a corpus. bytes: of them all. finished: how many texts end in it; the last may go on in the next block."""

    texts: list[str]
    bytes: int
    finished: int


@dataclass(frozen=True, eq=False)
class NamedCorpus:
    """A corpus and what reports call it.

    parallel: its texts say the same as those of the other parallel corpora, one for one. A text file's are its lines then.
    """

    name: str
    inputs: Sequence[Input]
    parallel: bool
    bad: BadDocuments

    @classmethod
    def of(
        cls,
        name: str,
        corpus: Corpus,
        *,
        parallel: bool = False,
        text_field: str = "text",
        separator: str | None = None,
        skip_bad: bool = False,
        cut: Cut | None = None,
    ) -> NamedCorpus:
        """Raises `CorpusError` naming the corpus and what is wrong with it. cut: where long texts of text files may be cut."""
        bad = BadDocuments(skip=False, remedy=_PARALLEL_REMEDY) if parallel else BadDocuments(skip=skip_bad)
        if separator is None and parallel:
            separator = _LINE
        ending = separator.encode() if separator else None
        with _naming(name):
            inputs = inputs_of(corpus, field=text_field, cut=cut, separator=ending, bad=bad, block_bytes=_BLOCK_BYTES)
        return cls(name, inputs, parallel, bad)

    @property
    def size(self) -> int | None:
        """What the numbers told to `report` grow to; None where nobody knows."""
        return size_of(self.inputs)

    @property
    def source(self) -> str:
        """Where its texts come from."""
        return ", ".join(each.name for each in self.inputs)

    def blocks(self, report: Callable[[int], object]) -> Iterator[Block]:
        """Its texts; those of files are read while others are at work. report: is told how much was read.

        Nothing else is read ahead: Ctrl-C would have to wait for the thread that waits for standard input.
        """
        read = self._blocks()
        ahead = all(each.is_file for each in self.inputs)
        with _naming(self.name), Prefetched(read) if ahead else nullcontext(read) as blocks:
            for block, done in blocks:
                yield block
                report(done)

    def _blocks(self) -> Iterator[tuple[Block, int]]:
        before = 0
        for each in self.inputs:
            for batch in each.batches(Place()):
                bounds = batch.offsets.tolist()
                texts = [batch.data[start:stop].decode() for start, stop in pairwise(bounds)]
                yield Block(texts, bounds[-1] - bounds[0], len(texts) - batch.unfinished), before + batch.consumed
            before += each.size or 0


@contextmanager
def _naming(name: str) -> Iterator[None]:
    try:
        yield
    except CorpusError as error:
        raise CorpusError(f"corpus {name!r}: {error}") from error


def common_cut(specs: Sequence[TokenizerSpec]) -> Cut | None:
    """Where a long text may be cut without changing the ids of any of these tokenizers; None: nowhere that is known."""
    cuts = [cut_of(spec) for spec in specs]
    return None if None in cuts or not cuts else cuts[0]
