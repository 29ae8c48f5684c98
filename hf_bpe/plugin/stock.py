"""The same tokenizer as the classes that other libraries know."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import tokenizers
from transformers import PreTrainedTokenizerFast

from hf_bpe.plugin import saving
from hf_bpe.plugin.loading import TOKENIZER_FILE

if TYPE_CHECKING:
    from hf_bpe.plugin.tokenization_hf_bpe import HfBpeTokenizer

__all__ = ["as_stock", "library_tokenizer"]


def library_tokenizer(record: saving.Record) -> tokenizers.Tokenizer:
    """A tokenizer as the `tokenizers` library runs it. Raises `ConversionRefused` where that would not be exact."""
    files = saving.render(record, auto="marker")
    saving.check(record, files)
    return tokenizers.Tokenizer.from_str(files[TOKENIZER_FILE].decode())


def as_stock(tokenizer: HfBpeTokenizer) -> PreTrainedTokenizerFast:
    """As transformers' own fast class runs it: saved and loaded. Raises `ConversionRefused` where that would not be exact."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder, auto="marker")
        loaded = PreTrainedTokenizerFast.from_pretrained(folder)
    loaded.name_or_path = tokenizer.name_or_path
    return loaded
