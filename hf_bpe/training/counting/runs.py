"""Runs: sorted words on disk, written when memory is full and read again block by block."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from hf_bpe.corpus.documents import offsets_of
from hf_bpe.errors import FormatError
from hf_bpe.training.words import Words

__all__ = ["BLOCK_WORDS", "read_run", "write_run"]

BLOCK_WORDS = 1 << 15
"""About a megabyte: as much as is held of each run while runs are merged."""

_HEADER = struct.Struct("<QQI")  # words, bytes of words, CRC-32 of what follows; a block without words is the last


def write_run(path: Path, words: Iterable[Words]) -> None:
    """Write sorted words, and see them on disk. Raises `OSError` naming the file."""
    with path.open("wb") as file:
        for whole in words:
            for start in range(0, whole.size, BLOCK_WORDS):
                block = whole.part(start, min(start + BLOCK_WORDS, whole.size))
                data = block.bytes[block.bounds[0] : block.bounds[-1]].tobytes()
                content = block.lengths.tobytes() + block.counts.tobytes() + data
                file.write(_HEADER.pack(block.size, len(data), zlib.crc32(content)))
                file.write(content)
        file.write(_HEADER.pack(0, 0, 0))
        file.flush()
        os.fsync(file.fileno())


def read_run(path: Path) -> Iterator[Words]:
    """The words of a run. Raises `FormatError` if it is not what was written."""
    try:
        with path.open("rb") as file:
            while True:
                words, size, crc32 = _HEADER.unpack(_whole(file.read(_HEADER.size), _HEADER.size))
                if not words:
                    return
                length = 16 * words + size
                content = _whole(file.read(length), length)
                if zlib.crc32(content) != crc32:
                    raise ValueError("its checksum is wrong")
                bounds = offsets_of(np.frombuffer(content, np.int64, words))
                counts = np.frombuffer(content, np.int64, words, 8 * words)
                yield Words(np.frombuffer(content, np.uint8, size, 16 * words), bounds, counts)
    except (ValueError, OSError) as error:
        raise FormatError(
            f"{path}: cannot be read back: {error}; it holds counts that were put aside, so they must be counted again"
        ) from error


def _whole(content: bytes, size: int) -> bytes:
    if len(content) != size:
        raise ValueError("it ends too early")
    return content
