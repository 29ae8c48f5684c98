"""Reads text files: one document each, or several with a separator between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from hf_bpe.corpus.documents import BLOCK_BYTES, BadDocuments, Batch, Place, drop_invalid_utf8, offsets_of
from hf_bpe.corpus.sources import Source
from hf_bpe.corpus.streams import Stream

__all__ = ["read_text"]


def read_text(
    source: Source,
    start: Place,
    *,
    separator: bytes | None,
    cut: Callable[[bytearray, int], int] | None,
    bad: BadDocuments,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Batch]:
    """The documents of a text file, in batches of about `block_bytes`.

    A separator ends a document; what follows the last one is a document too, unless it is empty. Line breaks are kept as
    they are. A document longer than a batch is given in parts where there is a `cut` (text, end -> the last place before `end` at
    which it may be cut; 0: none); otherwise it is held whole.
    """
    reader = _Reader(source, start, separator, bad)
    rest = bytearray()  # the beginning of the next document
    cut = None if bad.skip else cut  # a document that may have to be left out must be seen to its end first
    margin = len(separator) - 1 if separator else 0  # so much of a separator may stand at the end of `rest`
    first = True
    with Stream(source, start.offset) as stream:
        for begin, block in stream.blocks(block_bytes):
            if first:
                reader.offset, first = begin, False  # a byte order mark may stand before it
            searched = max(0, len(rest) - margin)
            rest += block
            if separator is not None and rest.find(separator, searched) >= 0:
                *whole, tail = bytes(rest).split(separator)
                rest = bytearray(tail)
                yield reader.batch(whole, stream.consumed)
            elif cut is not None and len(rest) >= 2 * block_bytes:
                place = cut(rest, len(rest) - margin)
                if place:
                    with memoryview(rest) as view:
                        part = view[:place].tobytes()
                    yield reader.part(part, stream.consumed)
                    del rest[:place]
        if rest or (separator is None and reader.row == 0):
            yield reader.batch([bytes(rest)], stream.consumed, separated=False)


class _Reader:
    """Turns documents into batches, and knows where in the file it is."""

    def __init__(self, source: Source, start: Place, separator: bytes | None, bad: BadDocuments) -> None:
        self._source = source
        self._separator = separator or b""
        self._bad = bad
        self.offset = start.offset
        self.row = start.row

    def batch(self, documents: Sequence[bytes], consumed: int, *, separated: bool = True) -> Batch:
        lengths = np.fromiter(map(len, documents), np.int64, len(documents))
        ends = self.offset + np.cumsum(lengths + (len(self._separator) if separated else 0))
        rows = self.row + np.arange(1, len(documents) + 1)
        batch = self._checked(Batch(b"".join(documents), offsets_of(lengths), ends, rows, consumed=consumed))
        self.offset, self.row = int(ends[-1]), int(rows[-1])
        return batch

    def part(self, text: bytes, consumed: int) -> Batch:
        offsets = np.array([0, len(text)])
        batch = self._checked(
            Batch(text, offsets, offsets[1:] + self.offset, np.array([self.row + 1]), consumed=consumed, unfinished=True)
        )
        self.offset += len(text)
        return batch

    def _checked(self, batch: Batch) -> Batch:
        sizes = len(self._separator)

        def name(number: int, at: int) -> str:
            place = self.offset + int(batch.offsets[number]) + number * sizes + at
            return f"document {batch.rows[number]}, byte {place} of the text"

        return drop_invalid_utf8(batch, name, self._source.path, self._bad)
