"""Counting: how often each piece of a corpus of any size occurs, exactly and within a budget of memory; files of such counts."""

from hf_bpe.training.counting.rules import CountRules
from hf_bpe.training.counting.word_counts import WordCounts

__all__ = ["CountRules", "WordCounts"]
