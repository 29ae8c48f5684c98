"""Conversations through a tokenizer's chat template, with who wrote what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hf_bpe.analysis import View
from hf_bpe.chat import TEMPLATES, with_template_tokens
from hf_bpe.errors import PlaygroundError
from hf_bpe.playground.asked import Asked
from hf_bpe.playground.shelf import Shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Conversed", "converse"]


@dataclass(frozen=True)
class Conversed:
    """A rendered conversation as tokens. trusted: of each token whether the template alone wrote it. notes: for the reader."""

    view: View
    trusted: NDArray[np.bool_]
    notes: tuple[str, ...]
