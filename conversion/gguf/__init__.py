"""GGUF: the tokenizer of a llama.cpp model file."""

from conversion.gguf.file import FORMAT

__all__ = ["FORMAT"]
