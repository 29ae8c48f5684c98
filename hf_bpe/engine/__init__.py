"""Runs a `TokenizerSpec`: `Encoder` over the native engine, or over the pure-Python one where that is not installed."""

from hf_bpe.engine.arrays import CacheInfo, Ragged
from hf_bpe.engine.backends import native_available
from hf_bpe.engine.encoder import Encoder, SpecialTokens

__all__ = ["CacheInfo", "Encoder", "Ragged", "SpecialTokens", "native_available"]
