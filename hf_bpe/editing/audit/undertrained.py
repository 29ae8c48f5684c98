"""Which rows of an embedding matrix look as if no training had touched them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hf_bpe.errors import EditError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Indicators", "Rows", "border", "checked_untrained", "indicators", "suspects"]


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
    distance: 1 - cosine of each row and the mean of the (other) rows that are known to be untrained, both without the mean of all; shape (rows,).
    """

    norm: NDArray[np.float64]
    distance: NDArray[np.float64]


def checked_untrained(untrained: Iterable[int], matrix: Rows) -> list[int]:
    """The rows that are known to be untrained, each once, in order. Raises `EditError` where there is none, or one that the matrix lacks.

    >>> checked_untrained([2, 0, 2], Rows(3, list))
    [0, 2]
    """
    wanted = sorted({*untrained})
    if not wanted:
        raise EditError("no row is known to be untrained; name ids of some with untrained=, such as those of reserved tokens")
    odd = next((number for number in wanted if not 0 <= number < matrix.count), None)
    if odd is not None:
        raise EditError(
            f"row {odd:,} is said to be untrained, and {matrix.name or 'the matrix'} has {matrix.count:,} rows, from 0 on; "
            "name others with untrained="
        )
    return wanted


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

    wanted = np.asarray(checked_untrained(untrained, matrix), np.int64)
    total, known, start = np.zeros(()), np.zeros(()), 0
    for window in matrix.windows():
        rows = window.astype(np.float64)
        if not np.isfinite(rows).all():
            odd = start + int(np.argmin(np.isfinite(rows).all(1)))
            raise EditError(
                f"row {odd:,} of {matrix.name or 'the matrix'} holds what is no finite number; fetch the model again"
            )
        total = total + rows.sum(0)
        known = known + rows[wanted[(wanted >= start) & (wanted < start + len(rows))] - start].sum(0)
        start += len(rows)
    mean = total / matrix.count
    norms, distances, start = [], [], 0
    for window in matrix.windows():
        rows = window.astype(np.float64)
        norms.append(np.linalg.norm(rows, axis=1))
        toward = np.repeat((known / len(wanted))[None], len(rows), 0)
        if len(wanted) > 1:
            # Its own part in the mean would bring each of them near to it: a few at random would seem to have much in common.
            own = wanted[(wanted >= start) & (wanted < start + len(rows))] - start
            toward[own] = (known - rows[own]) / (len(wanted) - 1)
        distances.append(1 - _cosines(rows - mean, toward - mean))
        start += len(rows)
    return Indicators(np.concatenate(norms), np.concatenate(distances))


def _cosines(rows: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each row and the other of its number; 0 where one of them is zero."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(others, axis=1)
    cosines: NDArray[np.float64] = (rows * others).sum(1) / np.where(lengths, lengths, 1.0)
    return cosines


def border(values: NDArray[np.float64], untrained: Sequence[int], candidates: Sequence[int]) -> float | None:
    """The largest value of an indicator that is like those of the untrained rows. None: they are not unlike the others, and tell nothing.

    It is put where it parts the untrained rows, of which a twentieth may lie beyond, from the middle of the candidates:
    at their 95th percentile, but no further than half way from their median to that of the candidates. They tell nothing where these medians
    are no further apart than that of the candidates from their 90th percentile. Raises `EditError` where there are no candidates.

    >>> import numpy as np
    >>> border(np.array([0.0, 0.0, 0.05, 0.9, 1.0, 1.1]), [0, 1], [2, 3, 4, 5])
    0.095
    >>> border(np.array([1.0, 0.9, 0.9, 1.0, 1.1]), [0, 1], [2, 3, 4]) is None
    True
    """
    import numpy as np

    if not len(candidates):
        raise EditError("no token is left that is not said to be untrained; name fewer ids with untrained=")
    low, middle = float(np.median(values[list(untrained)])), float(np.median(values[list(candidates)]))
    if middle - low <= float(np.quantile(values[list(candidates)], 0.9)) - middle:
        return None
    found = min(float(np.quantile(values[list(untrained)], 0.95)), (low + middle) / 2)
    # Rows that were never touched differ by rounding, or by what they began with: a tenth of the way is allowed for that.
    return max(found, low + (middle - low) / 10)


def suspects(values: NDArray[np.float64], most: float, candidates: Sequence[int]) -> list[int]:
    """The candidates whose indicator is no larger than `most`, the most suspicious first.

    >>> import numpy as np
    >>> suspects(np.array([0.0, 0.3, 0.1]), 0.5, [1, 2])
    [2, 1]
    """
    return sorted((i for i in candidates if values[i] <= most), key=lambda i: float(values[i]))
