"""`open_encoded`: the documents in a folder that `encode_files` wrote, mapped into memory."""

from __future__ import annotations

import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from operator import index as as_index
from pathlib import Path
from typing import Any, overload

import numpy as np

from hf_bpe.encoding.index import HEADER_BYTES, INDEX, Index
from hf_bpe.encoding.ragged import Ids, Ragged
from hf_bpe.errors import FormatError

__all__ = ["EncodedCorpus", "open_encoded"]


def open_encoded(folder: str | os.PathLike[str], *, allow_incomplete: bool = False) -> EncodedCorpus:
    """Open what `encode_files` wrote. Nothing is read but the index; ids come from disk as they are used.

    allow_incomplete: also open what an interrupted run has finished so far.
    Raises `FormatError` if the folder holds none, it is incomplete, or a file is missing or has another length.

    >>> corpus = open_encoded("data")  # doctest: +SKIP
    >>> len(corpus), corpus.tokens, corpus[0]  # doctest: +SKIP
    (2, 7, array([15496, 995, 50256], dtype=uint16))
    """
    path = Path(folder)
    index = Index.load(path)
    if not index.complete and not allow_incomplete:
        raise FormatError(
            f"{path}: encoding was interrupted after {len(index.shards)} shards; run it again to go on, or pass allow_incomplete=True"
        )
    return EncodedCorpus(path, index)


class EncodedCorpus:
    """A sequence of documents, each a read-only array of ids. Made by `open_encoded`.

    Pickles as its path, so that worker processes each map the files themselves.

    >>> for ids in corpus: ...  # doctest: +SKIP
    """

    def __init__(self, folder: Path, index: Index) -> None:
        self.folder = folder
        self._index = index
        self._starts = [0, *accumulate(shard.documents for shard in index.shards)]
        self._shards: list[Ragged | None] = [None] * len(index.shards)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.folder,)

    def __repr__(self) -> str:
        return f"EncodedCorpus({os.fspath(self.folder)!r}, documents={len(self):,}, tokens={self.tokens:,}, dtype={self.dtype.name})"

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, number: int) -> Ids: ...
    @overload
    def __getitem__(self, number: slice) -> list[Ids]: ...
    def __getitem__(self, number: int | slice) -> Ids | list[Ids]:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        place = as_index(number)
        place += len(self) if place < 0 else 0
        if not 0 <= place < len(self):
            raise IndexError(f"document {number} of {len(self)}")
        at = bisect_right(self._starts, place) - 1
        ids, offsets = self.shard(at)
        inside = place - self._starts[at]
        return ids[offsets[inside] : offsets[inside + 1]]

    def __iter__(self) -> Iterator[Ids]:
        for number in range(len(self._shards)):
            ids, offsets = self.shard(number)
            start = 0
            for end in offsets[1:]:
                yield ids[start:end]
                start = end

    @property
    def tokens(self) -> int:
        """How many ids there are."""
        return self._index.tokens

    @property
    def skipped(self) -> int:
        """How many documents could not be read and were left out."""
        return self._index.skipped

    @property
    def complete(self) -> bool:
        """Whether the run that wrote this came to its end."""
        return self._index.complete

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the ids: uint16 or uint32, little-endian."""
        return np.dtype(self._index.settings.dtype)

    @property
    def fingerprint(self) -> str:
        """Which tokenizer made the ids: compare with `TokenizerSpec.fingerprint`."""
        return self._index.settings.tokenizer

    @property
    def num_shards(self) -> int:
        """How many shards there are."""
        return len(self._shards)

    def shard(self, number: int) -> Ragged:
        """The ids and offsets of one shard, mapped into memory."""
        mapped = self._shards[number]
        if mapped is None:
            entry = self._index.shards[number]
            path = self.folder / entry.ids
            # An empty file cannot be mapped.
            ids: Ids = np.memmap(path, self.dtype, "r") if entry.tokens else np.zeros(0, self.dtype)
            offsets = np.memmap(self.folder / entry.offsets, "<i8", "r", HEADER_BYTES, (entry.documents + 1,))
            mapped = self._shards[number] = Ragged(ids, offsets)
        return mapped

    def verify(self) -> None:
        """Read every byte and compare checksums. Raises `FormatError` naming the first file that has changed."""
        for shard in self._index.shards:
            for name, expected in ((shard.ids, shard.ids_crc32), (shard.offsets, shard.offsets_crc32)):
                checksum = 0
                with (self.folder / name).open("rb") as file:
                    while block := file.read(1 << 20):
                        checksum = zlib.crc32(block, checksum)
                if f"{checksum:08x}" != expected:
                    raise FormatError(
                        f"{self.folder / name}: is not what {INDEX} says was written; restore it, or encode again"
                    )


def _reopen(folder: Path) -> EncodedCorpus:
    return open_encoded(folder, allow_incomplete=True)
