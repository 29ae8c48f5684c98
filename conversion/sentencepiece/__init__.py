"""SentencePiece models: `.model` and `.vocab` files, and their pieces as merges of bytes."""

from conversion.sentencepiece.model import FORMATS

__all__ = ["FORMATS"]
