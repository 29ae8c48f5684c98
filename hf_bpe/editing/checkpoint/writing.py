"""A file of a checkpoint written anew: some tensors with other rows, all others byte for byte, each read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import TypeAlias

import numpy as np

from hf_bpe.editing.checkpoint.checked_file import CheckedFile, Disk, blocks_of
from hf_bpe.editing.checkpoint.making import RowMaker
from hf_bpe.editing.checkpoint.matrices import Matrix
from hf_bpe.editing.checkpoint.reading import RowReader
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
    source: Path, header: Header, matrices: Mapping[str, Matrix], rows: Rows, seed: int, target: Path, told: Told, disk: Disk
) -> None:
    """Write a file with new rows in some of its tensors, all others byte for byte."""
    if read_header(source) != header:
        raise EditError(f"{source} was changed after the plan was made; make the plan again")
    after = [resized(matrices[t.name], len(rows.sources)) if t.name in matrices else t for t in header.tensors]
    head, placed = header_bytes(after, header.metadata)
    with FileIO(source) as origin, CheckedFile(target, disk) as written:
        written.append(memoryview(head))
        for tensor in header.tensors:
            blocks = (
                _new_rows(source.parent, matrices[tensor.name], header.data_start, rows, seed)
                if tensor.name in matrices
                else blocks_of(origin, header.data_start + tensor.start, tensor.nbytes)
            )
            for block in blocks:
                written.append(block)
                told(len(block))
    if read_header(target) != Header(placed, header.metadata, len(head)):
        raise EditError(f"{target.name} has another header than was written, so the disk is at fault; nothing was changed")


def _new_rows(folder: Path, matrix: Matrix, data_start: int, rows: Rows, seed: int) -> Iterator[memoryview]:
    with RowReader(folder, matrix, data_start) as reader:
        maker = RowMaker(reader, rows.made, rows.in_use, seed)
        room = reader.empty(min(reader.window, len(rows.sources)))
        for start in range(0, len(rows.sources), reader.window):
            sources = rows.sources[start : start + reader.window]
            block = room[: len(sources)]
            reader.fill(block, sources)
            places = np.flatnonzero(sources == MADE)
            if len(places):
                block[places] = maker.rows([start + place for place in places.tolist()])
            yield block.data.cast("B")
