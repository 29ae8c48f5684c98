"""Rows of a tensor, straight from its file: one after the other, or those asked for."""

from __future__ import annotations

from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from hf_bpe.editing.checkpoint.matrices import Matrix
from hf_bpe.errors import FormatError

__all__ = ["WINDOW_BYTES", "RowReader", "read_exactly"]

WINDOW_BYTES = 1 << 24
"""How much of a tensor is held at a time."""


class RowReader:
    """The rows of a matrix, as bytes. A context manager."""

    def __init__(self, folder: Path, matrix: Matrix, data_start: int) -> None:
        self.matrix = matrix
        self.window = max(1, WINDOW_BYTES // matrix.row_bytes)
        self._start = data_start + matrix.tensor.start
        self._file = FileIO(folder / matrix.file)

    def __enter__(self) -> RowReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The rows of these numbers, those that stand side by side in one go."""
        size = self.matrix.row_bytes
        found = np.empty((len(numbers), size), dtype=np.uint8)
        borders = np.flatnonzero(np.diff(numbers) != 1) + 1
        for begin, end in zip([0, *borders], [*borders, len(numbers)], strict=True):
            if end > begin:
                self._file.seek(self._start + int(numbers[begin]) * size)
                read_exactly(self._file, found[begin:end].data.cast("B"))
        return found

    def windows(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """(the number of the first, rows) of all rows in order."""
        for start in range(0, self.matrix.rows, self.window):
            yield start, self.rows(np.arange(start, min(start + self.window, self.matrix.rows)))


def read_exactly(file: FileIO, target: memoryview) -> None:
    """Fill the target. Raises `FormatError` for a file that ends before."""
    done = 0
    while done < len(target):
        count = file.readinto(target[done:])
        if not count:
            raise FormatError(
                f"{file.name!s}: ends before its header says; it was changed meanwhile, or truncated: fetch it again"
            )
        done += count
