"""Serves a `TokenizerSpec` to Hugging Face transformers. Importing this package does not import transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hf_bpe.plugin.tokenization_hf_bpe import HfBpeTokenizer

__all__ = ["HfBpeTokenizer"]


def __getattr__(name: str) -> Any:
    if name == "HfBpeTokenizer":  # needs transformers, which takes seconds to import
        from hf_bpe.plugin.tokenization_hf_bpe import HfBpeTokenizer

        return HfBpeTokenizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
