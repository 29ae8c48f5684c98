"""What readers give: documents as bytes laid end to end, and where in their source each one ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hf_bpe.engine.backends import load_native
from hf_bpe.errors import CorpusError

__all__ = ["BLOCK_BYTES", "BadDocuments", "Batch", "Offsets", "Place", "as_int64", "drop_invalid_utf8", "offsets_of"]

Offsets = npt.NDArray[np.int64]

BLOCK_BYTES = 16 << 20
"""How much text is read, and encoded, at a time: enough for every thread, little enough to hold several of."""


@dataclass(frozen=True)
class Place:
    """Where in a source to read on.

    offset: bytes of the uncompressed text that lie before it (0 in Parquet). row: lines, documents or rows before it.
    """

    offset: int = 0
    row: int = 0


@dataclass(frozen=True)
class Batch:
    """Some documents of one source.

    data: UTF-8, end to end; document `n` is `data[offsets[n]:offsets[n + 1]]`.
    ends, rows: of each document, the `Place` behind it.
    bad_rows: rising; the rows (counted as `rows`) that were skipped, among these documents or after them.
    consumed: bytes of the file read by now, as they are on disk.
    unfinished: the last document goes on in the next batch, and `data` may be cut there without changing ids.
    """

    data: bytes
    offsets: Offsets
    ends: Offsets
    rows: Offsets
    bad_rows: Offsets = field(default_factory=lambda: np.zeros(0, np.int64))
    consumed: int = 0
    unfinished: bool = False


_REMEDY = 'Mend it, or leave such documents out with on_bad="skip", which counts them'


class BadDocuments:
    """What happens to a document that cannot be read: an error, or it is counted and left out. `remedy`: the error's last words."""

    def __init__(self, *, skip: bool, remedy: str = _REMEDY) -> None:
        self.skip = skip
        self._remedy = remedy
        self.count = 0
        self.first: str | None = None

    def add(self, path: Path, place: str, reason: str) -> None:
        """Note one. Raises `CorpusError` unless bad documents are to be skipped."""
        message = f"{path}: {place}: {reason}"
        if not self.skip:
            raise CorpusError(f"{message}. {self._remedy}")
        self.count += 1
        self.first = self.first or message


def as_int64(content: bytes) -> Offsets:
    """The numbers that the native engine hands over as bytes."""
    return np.frombuffer(content, np.int64)


def offsets_of(lengths: Offsets) -> Offsets:
    """Where documents of these lengths begin and end.

    >>> offsets_of(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _invalid_utf8(data: bytes, offsets: Offsets) -> list[tuple[int, int]]:
    """(document, place in it) of the first wrong byte of each document that is not UTF-8."""
    native = load_native()
    if native is not None:
        found: list[tuple[int, int]] = native.invalid_utf8(data, np.ascontiguousarray(offsets))
        return found
    wrong = []
    for number, (start, end) in enumerate(pairwise(offsets.tolist())):
        try:
            data[start:end].decode()
        except UnicodeDecodeError as error:
            wrong.append((number, error.start))
    return wrong


def drop_invalid_utf8(batch: Batch, name: Callable[[int, int], str], path: Path, bad: BadDocuments) -> Batch:
    """The batch without the documents that are not UTF-8, each reported to `bad`.

    name: (document in the batch, byte in the document) -> where that is, for the message.
    """
    wrong = _invalid_utf8(batch.data, batch.offsets)
    if not wrong:
        return batch
    for number, at in wrong:
        byte = batch.data[int(batch.offsets[number]) + at]
        bad.add(path, name(number, at), f"not UTF-8: byte 0x{byte:02X}")
    kept = np.ones(len(batch.rows), bool)
    kept[[number for number, _ in wrong]] = False
    starts, ends = batch.offsets[:-1][kept], batch.offsets[1:][kept]
    data = b"".join(batch.data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True))
    return Batch(
        data,
        offsets_of(ends - starts),
        batch.ends[kept],
        batch.rows[kept],
        np.sort(np.concatenate([batch.bad_rows, batch.rows[~kept]])),
        batch.consumed,
        batch.unfinished,
    )
