"""`Dropping`: the stated, off-by-default rule that leaves out rare words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hf_bpe.errors import TrainingError
from hf_bpe.training.counting.merging import dropped_below, exact_sum
from hf_bpe.training.words import Words

__all__ = ["Dropping"]


@dataclass
class Dropping:
    """Leaves out words that occur less often than `below`, and knows how many these were. Raises `TrainingError` below 2."""

    below: int | None
    words: int = 0
    occurrences: int = 0

    def __post_init__(self) -> None:
        if self.below is not None and (type(self.below) is not int or self.below < 2):
            raise TrainingError(
                f"drop_words_below must be a whole number above 1, or None to keep all words, not {self.below!r}"
            )

    def kept(self, blocks: Iterator[Words]) -> Iterator[Words]:
        """What is left of the words."""
        for block in blocks:
            kept = block if self.below is None else dropped_below(block, self.below)
            self.words += block.size - kept.size
            self.occurrences += exact_sum(block.counts) - exact_sum(kept.counts)
            yield kept

    def to_json(self) -> list[dict[str, int]]:
        """As the metadata of counts hold it, once all words went by."""
        if self.below is None:
            return []
        return [{"below": self.below, "words": self.words, "occurrences": self.occurrences}]
