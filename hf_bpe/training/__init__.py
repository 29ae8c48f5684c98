"""Makes a `TokenizerSpec` from text: counting pieces, learning merges."""

from hf_bpe.training.trainer import train

__all__ = ["train"]
