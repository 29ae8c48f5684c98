"""The same tokenizer as the classes that other libraries know."""

from __future__ import annotations

import copy
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
    assigned = tokenizer._assigned  # loading would make special tokens of these, and change ids
    to_save = copy.copy(tokenizer)
    for name in assigned:
        setattr(to_save, name, None)
    with tempfile.TemporaryDirectory() as folder:
        to_save.save_pretrained(folder, auto="marker")
        loaded = PreTrainedTokenizerFast.from_pretrained(folder)
    for name in assigned:
        setattr(loaded, name, tokenizer._special_tokens_map.get(name, tokenizer.extra_special_tokens))
    loaded.name_or_path = tokenizer.name_or_path
    return loaded
