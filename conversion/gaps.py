"""Formats with an entry for every id: how many unused ones they are padded with at most."""

from __future__ import annotations

from hf_bpe.errors import ConversionRefused
from hf_bpe.spec import TokenizerSpec

__all__ = ["refuse_wide_gaps"]

_MOST_FILLERS = 1 << 20


def refuse_wide_gaps(spec: TokenizerSpec, target: str) -> None:
    """Raise `ConversionRefused` where one id far from the others, in a file of a few bytes, would ask for millions of entries.

    >>> refuse_wide_gaps(TokenizerSpec({bytes([byte]): byte for byte in range(256)}, ()), "a GGUF file")
    """
    gaps = spec.n_vocab - spec.vocab_size
    if gaps > _MOST_FILLERS:
        raise ConversionRefused(
            f"{target} has an entry for every id up to the largest, {spec.n_vocab - 1}, and {gaps} of them are not in use here. "
            "Renumber the tokenizer first"
        )
