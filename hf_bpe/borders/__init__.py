"""What may happen where a text ends, and whether ids are those that encoding would give."""

from hf_bpe.borders.completions import Completions, StablePart, encode_with_completions, stable_part

__all__ = ["Completions", "StablePart", "encode_with_completions", "stable_part"]
