"""Makes a `TokenizerSpec` from text: counting pieces and learning merges, or with the sentencepiece package."""

from hf_bpe.training.counting import WordCounts
from hf_bpe.training.dialects import setting_names, train
from hf_bpe.training.mixture import Mixture

__all__ = ["Mixture", "WordCounts", "setting_names", "train"]
