"""Changing a tokenizer that is there, and saying what of it stays as it was."""

from hf_bpe.editing.prune import Pruned, prune

__all__ = ["Pruned", "prune"]
