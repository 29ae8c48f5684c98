"""Rows that no old id has: means of old rows, zeros, or drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hf_bpe.editing.checkpoint.numbers import FLOATS, from_bytes, to_bytes
from hf_bpe.editing.checkpoint.reading import RowReader
from hf_bpe.editing.id_map import Made
from hf_bpe.errors import EditError

__all__ = ["RowMaker"]

_DRAWN_BYTES = 1 << 28
"""How much of the random numbers is held at a time."""


class RowMaker:
    """Makes rows for one matrix. in_use: which of its rows belong to a token.

    Raises `EditError` for a dtype that is not known to be floats, and where rows in use hold what is no number.
    """

    def __init__(self, reader: RowReader, made: Mapping[int, Made], in_use: NDArray[np.bool_], seed: int) -> None:
        self._reader = reader
        self._made = made
        self._in_use = in_use
        self._seed = seed
        self._dtype = reader.matrix.tensor.dtype
        if made and self._dtype not in FLOATS:
            raise EditError(
                f"{reader.matrix.tensor.name} is {self._dtype}, of which no rows can be made; known are {', '.join(FLOATS)}. "
                "Resize the model before it is quantised"
            )

    def rows(self, numbers: Sequence[int]) -> NDArray[np.uint8]:
        """The rows of these new ids, as bytes."""
        numbers_found = np.zeros((len(numbers), self._reader.matrix.row_bytes), dtype=np.uint8)
        drawn = []
        for place, number in enumerate(numbers):
            made = self._made[number]
            if made.row == "normal":
                drawn.append(place)
            elif made.of:
                numbers_found[place] = self._mean_of(made.of)
            elif made.row == "mean":
                numbers_found[place] = self._mean_row
        block = max(1, _DRAWN_BYTES // (4 * len(self._in_use)))
        for start in range(0, len(drawn), block):
            places = drawn[start : start + block]
            numbers_found[places] = to_bytes(self._drawn([numbers[place] for place in places]), self._dtype)
        return numbers_found

    def _mean_of(self, ids: Sequence[int]) -> NDArray[np.uint8]:
        rows = self._reader.rows(np.array(ids, dtype=np.int64))
        if len(ids) == 1:
            return np.asarray(rows[0])  # also where it holds what is no number
        return self._rounded(self._checked(from_bytes(rows, self._dtype).mean(axis=0)))

    @cached_property
    def _mean_row(self) -> NDArray[np.uint8]:
        return self._rounded(self._mean)

    def _rounded(self, row: NDArray[np.float64]) -> NDArray[np.uint8]:
        return to_bytes(row[None], self._dtype).reshape(-1)

    @cached_property
    def _mean(self) -> NDArray[np.float64]:
        count = int(self._in_use.sum())
        if not count:
            raise EditError("no old id has a token, so there are no rows to make others of; choose zeros")
        total = np.zeros(1)
        for start, rows in self._reader.windows():
            total = total + from_bytes(rows[self._in_use[start : start + len(rows)]], self._dtype).sum(axis=0)
        return self._checked(total / count)

    def _checked(self, mean: NDArray[np.float64]) -> NDArray[np.float64]:
        if not np.isfinite(mean).all():
            raise EditError(
                f"{self._reader.matrix.tensor.name} holds rows with infinities or what is no number, so no others can be made of them; "
                "the checkpoint is damaged, or was saved after a training that failed"
            )
        return mean

    def _drawn(self, ids: Sequence[int]) -> NDArray[np.float64]:
        """Mean + sum of z_i (row_i - mean) / sqrt(n - 1), with a standard normal z_i for each row: that has the rows' covariance.

        So no matrix of the covariance is needed, which for 8,192 columns takes half a gigabyte and minutes to decompose. The same
        numbers are drawn for every tensor, so that embedding and head of a new token go together as those of old tokens do.
        """
        mean = self._mean
        count = int(self._in_use.sum())
        weights = np.empty((len(ids), count), dtype=np.float32)
        for place, number in enumerate(ids):
            weights[place] = np.random.default_rng([self._seed, number]).standard_normal(count, dtype=np.float32)
        total = np.zeros((len(ids), len(mean)))
        done = 0
        for start, rows in self._reader.windows():
            apart = from_bytes(rows[self._in_use[start : start + len(rows)]], self._dtype) - mean
            total += weights[:, done : done + len(apart)] @ apart.astype(np.float32)
            done += len(apart)
        return np.asarray(mean + total / np.sqrt(max(1, count - 1)))
