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

_SIZES = struct.Struct("<QQ")  # words, and bytes of words; a block without words is the last
_CRC32 = struct.Struct("<I")  # of the sizes and of what follows
_HEADER_BYTES = _SIZES.size + _CRC32.size


def write_run(path: Path, words: Iterable[Words]) -> None:
    """Write sorted words, and see them on disk. Raises `OSError` naming the file."""
    with path.open("wb") as file:
        for whole in words:
            for start in range(0, whole.size, BLOCK_WORDS):
                block = whole.part(start, min(start + BLOCK_WORDS, whole.size))
                data = block.bytes[block.bounds[0] : block.bounds[-1]].tobytes()
                content = block.lengths.tobytes() + block.counts.tobytes() + data
                file.write(_header(block.size, len(data), content))
                file.write(content)
        file.write(_header(0, 0, b""))
        file.flush()
        os.fsync(file.fileno())


def _header(words: int, size: int, content: bytes) -> bytes:
    sizes = _SIZES.pack(words, size)
    return sizes + _CRC32.pack(zlib.crc32(content, zlib.crc32(sizes)))


def read_run(path: Path) -> Iterator[Words]:
    """The words of a run. Raises `FormatError` if it is not what was written."""
    try:
        with path.open("rb") as file:
            left = path.stat().st_size
            while True:
                header = file.read(_HEADER_BYTES)
                left -= _HEADER_BYTES
                words, size = _SIZES.unpack(header[: _SIZES.size]) if left >= 0 else (0, 0)
                length = 16 * words + size
                left -= length
                if left < 0:
                    raise ValueError("it ends too early")
                content = file.read(length)
                if _header(words, size, content) != header:
                    raise ValueError("its checksum is wrong")
                if not words:
                    return
                bounds = offsets_of(np.frombuffer(content, np.int64, words))
                counts = np.frombuffer(content, np.int64, words, 8 * words)
                yield Words(np.frombuffer(content, np.uint8, size, 16 * words), bounds, counts)
    except (ValueError, OSError) as error:
        raise FormatError(
            f"{path}: cannot be read back: {error}; it holds counts that were put aside, so they must be counted again"
        ) from error
