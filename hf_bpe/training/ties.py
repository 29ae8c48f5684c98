"""Which of equally frequent pairs is merged: our own rule, and those of other trainers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from hf_bpe.engine.reference import Ties

__all__ = ["TIE_BREAKS", "TieBreak", "TieRule"]

TieBreak = Literal["lowest-ids", "tokenizers", "rustbpe", "bpeasy", "first-seen"]


@dataclass(frozen=True)
class TieRule:
    """ties: the order of equally frequent pairs. below_limit: tokens stay shorter than `max_token_length`, but for those of two bytes."""

    ties: Ties
    below_limit: bool = False

    def longest(self, max_token_length: int | None) -> int | None:
        """The length of the longest token that is made.

        >>> TIE_BREAKS["tokenizers"].longest(16), TIE_BREAKS["rustbpe"].longest(16)
        (15, 16)
        """
        if max_token_length is None or not self.below_limit:
            return max_token_length
        return max(2, max_token_length - 1)


TIE_BREAKS: Mapping[TieBreak, TieRule] = MappingProxyType(
    {
        "lowest-ids": TieRule("lowest ids"),
        # Its ids of bytes follow the characters that stand for them.
        "tokenizers": TieRule("lowest characters", below_limit=True),
        "rustbpe": TieRule("lowest ids"),
        "bpeasy": TieRule("lowest ids", below_limit=True),
        "first-seen": TieRule("first seen"),
    }
)
