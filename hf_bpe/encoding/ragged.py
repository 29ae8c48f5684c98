"""`Ragged`: the ids of many documents in two arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Ids", "Offsets", "Ragged"]

Ids = npt.NDArray[Any]
"""uint16 or uint32."""
Offsets = npt.NDArray[np.int64]


class Ragged(NamedTuple):
    """Rows of different lengths, end to end.

    ids: all ids, uint16 or uint32, shape (number of ids,).
    offsets: int64, shape (documents + 1,); document `n` is `ids[offsets[n]:offsets[n + 1]]`.
    """

    ids: Ids
    offsets: Offsets
