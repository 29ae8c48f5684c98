"""A file of a checkpoint written anew: some tensors with other rows, all others byte for byte, each read back."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import TypeAlias

import numpy as np

from hf_bpe.editing.checkpoint.making import RowMaker
from hf_bpe.editing.checkpoint.matrices import Matrix
from hf_bpe.editing.checkpoint.reading import WINDOW_BYTES, RowReader, read_exactly
from hf_bpe.editing.rows import MADE, Rows
from hf_bpe.errors import EditError
from hf_bpe.model_files.safetensors_header import Header, Tensor, header_bytes, read_header

__all__ = ["Told", "resized", "write_shard"]

Told: TypeAlias = Callable[[int], object]
"""Is told how many more bytes are done."""


def resized(matrix: Matrix, rows: int) -> Tensor:
    """The tensor with another number of rows, where it stands now."""
    tensor = matrix.tensor
    return replace(tensor, shape=matrix.shape_with(rows), end=tensor.start + rows * matrix.row_bytes)


def write_shard(
    source: Path, header: Header, matrices: Mapping[str, Matrix], rows: Rows, seed: int, target: Path, told: Told
) -> int:
    """Write a file with new rows in some of its tensors, and return how many of the others were copied and found unchanged.

    What was written is read back: the checksum of every tensor must be that of the bytes that were meant. (CRC-32 runs at
    3 GB/s where SHA-256 runs at 0.35, and what is to be found is a disk at fault or a slip, not a forger.)
    """
    after = [resized(matrices[t.name], len(rows.sources)) if t.name in matrices else t for t in header.tensors]
    head, placed = header_bytes(after, header.metadata)
    meant: dict[str, int] = {}
    with ExitStack() as stack:
        origin = stack.enter_context(FileIO(source))
        written = stack.enter_context(FileIO(target, "xb"))
        _write_all(written, memoryview(head))
        for tensor in header.tensors:
            blocks = (
                _new_rows(source.parent, matrices[tensor.name], header.data_start, rows, seed)
                if tensor.name in matrices
                else _bytes_of(origin, header.data_start + tensor.start, tensor.nbytes)
            )
            checksum = 0
            for block in blocks:
                _write_all(written, block)
                checksum = zlib.crc32(block, checksum)
                told(len(block))
            meant[tensor.name] = checksum
        os.fsync(written.fileno())
    _read_back(target, head, placed, meant, told)
    return len(header.tensors) - len(matrices)


def _new_rows(folder: Path, matrix: Matrix, data_start: int, rows: Rows, seed: int) -> Iterator[memoryview]:
    with RowReader(folder, matrix, data_start) as reader:
        maker = RowMaker(reader, rows.made, rows.in_use, seed)
        for start in range(0, len(rows.sources), reader.window):
            sources = rows.sources[start : start + reader.window]
            block = np.empty((len(sources), matrix.row_bytes), dtype=np.uint8)
            is_made = sources == MADE
            block[~is_made] = reader.rows(sources[~is_made])
            if is_made.any():
                block[is_made] = maker.rows([start + int(place) for place in np.flatnonzero(is_made)])
            yield block.data.cast("B")


def _bytes_of(file: FileIO, start: int, size: int) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(min(size, WINDOW_BYTES)))
    file.seek(start)
    while size:
        block = buffer[: min(size, len(buffer))]
        read_exactly(file, block)
        yield block
        size -= len(block)


def _write_all(file: FileIO, content: memoryview) -> None:
    while content:
        content = content[file.write(content) :]


def _read_back(path: Path, head: bytes, placed: tuple[Tensor, ...], meant: Mapping[str, int], told: Told) -> None:
    header = read_header(path)
    same = header.data_start == len(head) and {t.name: t for t in header.tensors} == {t.name: t for t in placed}
    with FileIO(path) as file:
        for tensor in placed if same else ():
            checksum = 0
            for block in _bytes_of(file, header.data_start + tensor.start, tensor.nbytes):
                checksum = zlib.crc32(block, checksum)
                told(len(block))
            same = same and checksum == meant[tensor.name]
    if not same:
        raise EditError(
            f"{path.name} reads back other than it was written, so the disk or the file system is at fault; nothing was changed"
        )
