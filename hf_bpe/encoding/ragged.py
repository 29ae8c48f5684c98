"""The arrays that encoding a corpus makes."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from hf_bpe.engine.arrays import Ragged

__all__ = ["Ids", "Ragged"]

Ids = npt.NDArray[Any]
"""uint16 or uint32."""
