"""What becomes of the rows of a matrix that has one for each id."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hf_bpe.editing.id_map import IdMap, Made
from hf_bpe.errors import EditError

__all__ = ["MADE", "Rows", "padding_of", "plan_rows", "rows_after"]

MADE = -2
"""In place of an old row: it is made. (Not -1, which would look like the row before row 0.)"""


@dataclass(frozen=True)
class Rows:
    """The new rows of every matrix.

    sources: for each new row the old row that it is, or `MADE`.
    made: how those are made, of new ids and of padding.
    in_use: which old rows belong to a token.
    new_ids: the ids whose tokens are new, in order; the other rows that are made are padding.
    """

    sources: NDArray[np.int64]
    made: Mapping[int, Made]
    in_use: NDArray[np.bool_]
    new_ids: tuple[int, ...]

    @property
    def stay(self) -> bool:
        """Whether every row is where it was, and none is new."""
        return len(self.sources) == len(self.in_use) and bool((self.sources == np.arange(len(self.sources))).all())


def padding_of(rows: int, ids: int) -> int:
    """The multiple that a matrix with more rows than ids was padded to, 128 at most; 1 for rows that make none of 8.

    128 is the most that is padded to in practice. Where less was meant, too much is at most 127 rows.

    >>> padding_of(32_064, 32_000), padding_of(32_000, 32_000), padding_of(262_208, 262_145), padding_of(1_025, 1_000)
    (64, 1, 64, 1)
    """
    multiple = math.gcd(rows, 128)
    return multiple if rows > ids and multiple >= 8 else 1


def rows_after(rows_before: int, id_map: IdMap, *, shrink: bool = False, multiple: int = 1) -> int:
    """How many rows the new matrix has: those there were, more if the vocabulary needs them, fewer only where that is asked for.

    >>> id_map = IdMap(old_size=100, new_size=90, kept={})
    >>> rows_after(128, id_map), rows_after(128, id_map, shrink=True), rows_after(128, id_map, shrink=True, multiple=64)
    (128, 90, 128)
    """
    needed = id_map.new_size if shrink else max(rows_before, id_map.new_size)
    return -(-needed // multiple) * multiple


def plan_rows(id_map: IdMap, before: int, after: int, default: Mapping[int, Made]) -> Rows:
    """Where each new row comes from. default: new id -> how its row is made, where the id map leaves that open.

    A row that no token has now is as it was if no token had it before. Else it becomes the mean of the rows in use: a model that
    was trained to give the old token there would go on giving an id that decodes to nothing. A head's mean row gives the mean
    of the logits, by which an id is never likelier than 1 in as many as there are tokens; a row of zeros gives 0, which may well
    be the largest.
    """
    if id_map.old_size > before:
        raise EditError(f"the old vocabulary has ids up to {id_map.old_size - 1}, and the embedding has {before} rows")
    sources = np.full(after, MADE, dtype=np.int64)
    in_use = np.zeros(before, dtype=np.bool_)
    in_use[list(id_map.old_ids)] = True
    both = min(before, after)
    sources[:both] = np.where(in_use[:both], MADE, np.arange(both))
    sources[list(id_map.made)] = MADE
    if id_map.kept:
        sources[list(id_map.kept.values())] = list(id_map.kept)
    ways = {new: default[new] if made is None else made for new, made in id_map.made.items()}
    padding = {int(row): Made() for row in np.flatnonzero(sources == MADE) if int(row) not in ways}
    return Rows(sources, ways | padding, in_use, tuple(sorted(id_map.made)))
