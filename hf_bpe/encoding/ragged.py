"""The arrays that encoding a corpus makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hf_bpe.engine.arrays import Ragged

__all__ = ["Ids", "Offsets", "Ragged"]

Ids = npt.NDArray[Any]
"""uint16 or uint32."""
Offsets = npt.NDArray[np.int64]
