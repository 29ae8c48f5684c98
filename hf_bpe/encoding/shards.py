"""Writes ids as shards. What a shard holds depends on the documents alone, not on batches or on interruptions."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np

from hf_bpe.corpus.documents import Batch, Offsets, Place
from hf_bpe.encoding.index import HEADER_BYTES, End, Index, Shard
from hf_bpe.encoding.ragged import Ids, Ragged
from hf_bpe.encoding.staged import StagedFile
from hf_bpe.errors import CorpusError
from hf_bpe.files import sync_folder

__all__ = ["NO_DOCUMENTS", "ShardWriter", "offsets_header"]

NO_DOCUMENTS = "the files hold no documents"


def offsets_header(count: int) -> bytes:
    """The beginning of a .npy file of `count` int64."""
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (count,)})  # type: ignore[no-untyped-call]
    return header.getvalue()


class _OpenShard:
    """Two files that grow."""

    def __init__(self, folder: Path, number: int) -> None:
        self.tokens = 0
        self.documents = 0
        self.ids = StagedFile(folder / f"shard-{number:05d}.bin")
        try:
            self.offsets = StagedFile(folder / f"shard-{number:05d}.offsets.npy", HEADER_BYTES)
        except BaseException:
            self.ids.discard()
            raise
        try:
            self.offsets.write(bytes(8))
        except BaseException:
            self.discard()
            raise

    def write(self, ids: Ids, ends: Offsets) -> None:
        """Append ids, and where among them documents end."""
        self.ids.write(np.ascontiguousarray(ids).data.cast("B"))
        if len(ends):
            self.offsets.write((ends + self.tokens).astype("<i8").tobytes())
        self.tokens += len(ids)
        self.documents += len(ends)

    def commit(self, end: End) -> Shard:
        self.ids.commit()
        self.offsets.commit(offsets_header(self.documents + 1))
        return Shard(
            ids=self.ids.path.name,
            offsets=self.offsets.path.name,
            tokens=self.tokens,
            documents=self.documents,
            ids_crc32=f"{self.ids.crc32:08x}",
            offsets_crc32=f"{self.offsets.crc32:08x}",
            end=end,
        )

    def discard(self) -> None:
        self.ids.discard()
        self.offsets.discard()


class ShardWriter:
    """Takes the ids of batches, in order, and makes a shard whenever `shard_tokens` are reached at the end of a document.

    Use as a context manager: an error leaves the shards that are complete, and the index that names them.
    """

    def __init__(self, folder: Path, index: Index) -> None:
        self.index = index
        self._folder = folder
        self._open: _OpenShard | None = None
        self._skipped = index.skipped
        self._end = index.shards[-1].end if index.shards else End(0, Place(), 0)

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open is not None:
            self._open.discard()
            self._open = None

    def add(self, source: int, batch: Batch, ragged: Ragged) -> None:
        """Write the ids of a batch of a source. The last document of an unfinished batch goes on in the next one."""
        ids, offsets = ragged
        whole = len(batch.rows) - batch.unfinished
        limit = self.index.settings.shard_tokens
        done = 0
        while done < whole:
            shard = self._shard()
            # The first document with which the shard is full, else the last one.
            full = int(np.searchsorted(offsets[done + 1 : whole + 1], offsets[done] + limit - shard.tokens))
            upto = min(done + full + 1, whole)
            shard.write(ids[offsets[done] : offsets[upto]], offsets[done + 1 : upto + 1] - offsets[done])
            done = upto
            row = int(batch.rows[done - 1])
            skipped = self._skipped + int(np.searchsorted(batch.bad_rows, row, "right"))
            self._end = End(source, Place(int(batch.ends[done - 1]), row), skipped)
            if shard.tokens >= limit:
                self._close()
        self._skipped += len(batch.bad_rows)
        if batch.unfinished:
            self._shard().write(ids[offsets[whole] :], offsets[:0])

    def finish(self, *, allow_empty: bool) -> None:
        """Write what is left, and that this is all. Raises `CorpusError` if it is nothing, and that is not allowed."""
        if self._open is not None:
            self._close()
        if not self.index.shards and not allow_empty:
            raise CorpusError(NO_DOCUMENTS + (f"; {self._skipped} bad ones were skipped" if self._skipped else ""))
        self.index = replace(self.index, skipped=self._skipped, complete=True)
        self.index.save(self._folder)
        sync_folder(self._folder)

    def _shard(self) -> _OpenShard:
        if self._open is None:
            self._open = _OpenShard(self._folder, len(self.index.shards))
        return self._open

    def _close(self) -> None:
        shard = self._open
        if shard is None:
            return
        index = self.index.with_shard(shard.commit(self._end))
        sync_folder(self._folder)  # the shard must be there when the index says so
        index.save(self._folder)
        self.index, self._open = index, None
