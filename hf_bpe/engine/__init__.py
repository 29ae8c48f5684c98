"""Runs a `TokenizerSpec`: `Encoder` over the native engine, or over the pure-Python one where that is not installed."""

from hf_bpe.engine.encoder import Encoder, native_available

__all__ = ["Encoder", "native_available"]
