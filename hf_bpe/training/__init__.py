"""Makes a `TokenizerSpec` from text: counting pieces and learning merges, or with the sentencepiece package."""

from hf_bpe.training.dialects import setting_names, train

__all__ = ["setting_names", "train"]
