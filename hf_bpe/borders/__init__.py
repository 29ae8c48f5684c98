"""What may happen where a text ends, and whether ids are those that encoding would give."""

from hf_bpe.borders.canonical import Drift, canonical_drift, canonicalise, is_canonical
from hf_bpe.borders.completions import Completions, encode_with_completions
from hf_bpe.borders.healing import Healed, allowed_mask, allowed_next, heal, warn_trailing_space
from hf_bpe.borders.spans import Spans, spans_of_ids, spans_of_text
from hf_bpe.borders.stable import StablePart, stable_part

__all__ = [
    "Completions",
    "Drift",
    "Healed",
    "Spans",
    "StablePart",
    "allowed_mask",
    "allowed_next",
    "canonical_drift",
    "canonicalise",
    "encode_with_completions",
    "heal",
    "is_canonical",
    "spans_of_ids",
    "spans_of_text",
    "stable_part",
    "warn_trailing_space",
]
