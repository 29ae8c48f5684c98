"""Rows of a tensor, straight from its file: one after the other, or those asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from hf_bpe.editing.checkpoint.matrices import Matrix
from hf_bpe.errors import FormatError

__all__ = ["WINDOW_BYTES", "RowReader", "read_exactly"]

WINDOW_BYTES = 1 << 18
"""How much of a tensor is held at a time: what stays in a processor's cache between reading, checking and writing. With 1 MiB a
gigabyte took 0.75 s of processor time instead of 0.6."""


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

    def empty(self, count: int) -> NDArray[np.uint8]:
        """Room for so many rows."""
        return np.empty((count, self.matrix.row_bytes), dtype=np.uint8)

    def rows(self, numbers: Sequence[int]) -> NDArray[np.uint8]:
        """The rows of these numbers."""
        found = self.empty(len(numbers))
        self.fill(found, np.array(numbers, dtype=np.int64))
        return found

    def fill(self, target: NDArray[np.uint8], numbers: NDArray[np.int64]) -> None:
        """Put the rows of these numbers there, those that stand side by side in one go; where a number is below 0, nothing."""
        borders = (np.flatnonzero(np.diff(numbers) != 1) + 1).tolist()
        for begin, end in zip([0, *borders], [*borders, len(numbers)], strict=True):
            if end > begin and numbers[begin] >= 0:
                self._file.seek(self._start + int(numbers[begin]) * self.matrix.row_bytes)
                read_exactly(self._file, target[begin:end].data.cast("B"))

    def windows(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """(the number of the first, rows) of all rows, in order. What was given before is overwritten."""
        room = self.empty(min(self.window, self.matrix.rows))
        for start in range(0, self.matrix.rows, self.window):
            rows = room[: self.matrix.rows - start]
            self.fill(rows, np.arange(start, start + len(rows)))
            yield start, rows

    def used(self, in_use: NDArray[np.bool_]) -> Iterator[NDArray[np.uint8]]:
        """The rows in use, in order, a window at a time. What was given before is overwritten."""
        for start, rows in self.windows():
            wanted = in_use[start : start + len(rows)]
            yield rows if wanted.all() else rows[wanted]


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
