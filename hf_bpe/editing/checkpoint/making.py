"""Rows that no old id has: means of old rows, zeros, or drawn at random."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hf_bpe.editing.checkpoint.numbers import from_bytes, to_bytes
from hf_bpe.editing.checkpoint.reading import RowReader
from hf_bpe.editing.id_map import Made
from hf_bpe.errors import EditError

__all__ = ["RowMaker"]

_DRAWN_BYTES = 1 << 28
"""How much of the random numbers is held at a time."""


class RowMaker:
    """Makes rows for one matrix, of a dtype of `FLOATS`. in_use: which of its rows belong to a token.

    Raises `EditError` where rows in use hold what is no number.
    """

    def __init__(self, reader: RowReader, made: Mapping[int, Made], in_use: NDArray[np.bool_], seed: int) -> None:
        self._reader = reader
        self._made = made
        self._in_use = in_use
        self._seed = seed
        self._dtype = reader.matrix.tensor.dtype
        self._normal = sorted(number for number, how in made.items() if how.row == "normal")
        self._block: dict[int, NDArray[np.uint8]] = {}

    def rows(self, numbers: Sequence[int]) -> NDArray[np.uint8]:
        """The rows of these new ids, as bytes. They are asked for in order."""
        found = np.zeros((len(numbers), self._reader.matrix.row_bytes), dtype=np.uint8)
        for place, number in enumerate(numbers):
            made = self._made[number]
            if made.row == "normal":
                found[place] = self._drawn_row(number)
            elif made.of:
                found[place] = self._mean_of(made.of)
            elif made.row == "mean":
                found[place] = self._mean_row
        return found

    def _mean_of(self, ids: Sequence[int]) -> NDArray[np.uint8]:
        rows = self._reader.rows(ids)
        if len(ids) == 1:
            return np.asarray(rows[0])  # also where it holds what is no number
        return self._rounded(self._checked(from_bytes(rows, self._dtype).mean(axis=0, dtype=np.float64)))

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
        for rows in self._reader.used(self._in_use):
            total = total + from_bytes(rows, self._dtype).sum(axis=0, dtype=np.float64)
        return self._checked(total / count)

    def _checked(self, mean: NDArray[np.float64]) -> NDArray[np.float64]:
        if not np.isfinite(mean).all():
            raise EditError(
                f"{self._reader.matrix.tensor.name} holds rows with infinities or what is no number, so no others can be made of them; "
                "the checkpoint is damaged, or was saved after a training that failed"
            )
        return mean

    def _drawn_row(self, number: int) -> NDArray[np.uint8]:
        """One of a block of rows, for which the old rows are read once."""
        if number not in self._block:
            size = max(1, _DRAWN_BYTES // (4 * len(self._in_use)))
            first = bisect_left(self._normal, number)
            ids = self._normal[first : first + size]
            self._block = dict(zip(ids, to_bytes(self._drawn(ids), self._dtype), strict=True))
        return self._block[number]

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
        for rows in self._reader.used(self._in_use):
            apart = from_bytes(rows, self._dtype)
            apart -= mean.astype(apart.dtype)
            total += weights[:, done : done + len(apart)] @ apart
            done += len(apart)
        return np.asarray(mean + total / np.sqrt(max(1, count - 1)))
