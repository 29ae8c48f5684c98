"""Numbers of the dtypes of checkpoints, for the rows that are made. All others are moved as bytes.

Made rows are computed in 64-bit floats and then rounded twice, to 32 bits and to the dtype, each time to the nearest and to even
where two are equally near.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

__all__ = ["FLOATS", "from_bytes", "to_bytes"]

FLOATS: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
}
"""The dtypes in which rows can be made."""

_LARGEST = {
    "F64": 1.7976931348623157e308,
    "F32": 3.4028234663852886e38,
    "F16": 65504.0,
    "BF16": 3.3895313892515355e38,
    "F8_E4M3": 448.0,
    "F8_E5M2": 57344.0,
}


def from_bytes(rows: NDArray[np.uint8], dtype: str) -> NDArray[np.float64]:
    """Rows of bytes as numbers.

    >>> from_bytes(np.array([[0x80, 0x3F]], dtype=np.uint8), "BF16")
    array([[1.]])
    """
    return rows.view(FLOATS[dtype]).astype(np.float64)


def to_bytes(rows: NDArray[np.float64], dtype: str) -> NDArray[np.uint8]:
    """Numbers as rows of bytes; what is too large for the dtype becomes the largest it has.

    >>> to_bytes(np.array([[1.0, 1e9]]), "F8_E4M3")
    array([[ 56, 126]], dtype=uint8)
    """
    largest = _LARGEST[dtype]
    limited = np.clip(rows, -largest, largest)
    if dtype != "F64":
        limited = limited.astype(np.float32)
    return np.ascontiguousarray(limited.astype(FLOATS[dtype])).view(np.uint8)
