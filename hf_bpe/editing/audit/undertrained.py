"""Which rows of an embedding matrix look as if no training had touched them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hf_bpe.errors import EditError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Indicators", "Rows", "indicators", "suspects"]


@dataclass(frozen=True)
class Rows:
    """A matrix, read some rows at a time.

    count: how many rows. windows: gives them in order, shape (some, width), each time it is called. name: what it is called.

    >>> import numpy as np
    >>> Rows.of(np.zeros((3, 2))).count
    3
    """

    count: int
    windows: Callable[[], Iterable[NDArray[Any]]]
    name: str = ""

    @classmethod
    def of(cls, matrix: NDArray[Any]) -> Rows:
        """A matrix that is in memory."""
        return cls(len(matrix), lambda: [matrix])


@dataclass(frozen=True)
class Indicators:
    """Low values are suspicious.

    norm: the length of each row, shape (rows,).
    distance: 1 - cosine of each row and the mean of the rows that are known to be untrained, both without the mean of all; shape (rows,).
    """

    norm: NDArray[np.float64]
    distance: NDArray[np.float64]


def indicators(matrix: Rows, untrained: Sequence[int]) -> Indicators:
    """The indicators of Land and Bartolo, "Fishing for Magikarp" (2024): norms tell most where input and output matrices are two,
    the distance to the mean of untrained rows where they are one, and for output matrices.

    untrained: rows that no training can have reached, such as those of padding, of reserved tokens and of bytes that UTF-8 never has.
    Reads the matrix twice and holds one window. Raises `EditError` where no such row is named, or one that the matrix lacks.

    >>> import numpy as np
    >>> found = indicators(Rows.of(np.array([[3.0, 4.0], [0.0, 0.0], [-3.0, 4.0]])), [1])
    >>> found.norm.tolist(), found.distance.round(2).tolist()
    ([5.0, 0.0, 5.0], [1.41, 0.0, 1.41])
    """
    import numpy as np

    wanted = np.unique(np.asarray(untrained, np.int64))
    if not len(wanted):
        raise EditError("no row is known to be untrained; name some, such as those of reserved tokens")
    if not 0 <= wanted[0] <= wanted[-1] < matrix.count:
        raise EditError(
            f"row {wanted[-1]:,} is said to be untrained, and the matrix has {matrix.count:,} rows; does it belong to the tokenizer?"
        )
    total, known, start = np.zeros(()), np.zeros(()), 0
    for window in matrix.windows():
        rows = window.astype(np.float64)
        total = total + rows.sum(0)
        known = known + rows[wanted[(wanted >= start) & (wanted < start + len(rows))] - start].sum(0)
        start += len(rows)
    mean = total / matrix.count
    direction = known / len(wanted) - mean
    direction /= np.linalg.norm(direction) or 1.0
    norms, distances = [], []
    for window in matrix.windows():
        rows = window.astype(np.float64)
        centred = rows - mean
        norms.append(np.linalg.norm(rows, axis=1))
        lengths = np.linalg.norm(centred, axis=1)
        distances.append(1 - centred @ direction / np.where(lengths, lengths, 1.0))
    return Indicators(np.concatenate(norms), np.concatenate(distances))


def suspects(values: NDArray[np.float64], untrained: Sequence[int], candidates: Sequence[int]) -> list[int]:
    """The candidates whose indicator is like those of the untrained rows, the most suspicious first.

    The border is put where it parts the untrained rows, of which a twentieth may lie beyond, from the middle of the candidates:
    at their 95th percentile, but no further than half way from their median to that of the candidates.
    """
    import numpy as np

    reference, others = values[list(untrained)], values[list(candidates)]
    low, middle = float(np.median(reference)), float(np.median(others))
    border = min(float(np.quantile(reference, 0.95)), (low + middle) / 2)
    # Rows that were never touched differ by rounding, or by what they began with: a tenth of the way is allowed for that.
    border = max(border, low + (middle - low) / 10)
    return sorted((i for i in candidates if values[i] <= border), key=lambda i: float(values[i]))
