"""The key in tokenizer_config.json by which a folder saved by this package is known."""

from __future__ import annotations

__all__ = ["MARKER"]

MARKER = "hf_bpe"
