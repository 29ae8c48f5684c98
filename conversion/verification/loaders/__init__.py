"""From a path to a `Side`: one module for each library that can run a tokenizer.

None of the libraries is imported before a side asks for it. Those above this package in the layers (transformers, our class for
it) are imported by name: the command line may ask for them, and nothing else here knows them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TypeAlias

from conversion import gguf, minbpe, sentencepiece, tekken, tiktoken
from conversion.format import Given
from conversion.verification.loaders import (
    hugging_face,
    huggingface_tokenizers,
    llama_cpp,
    minbpe_semantics,
    mistral,
    own,
    sentencepiece_models,
    tiktoken_ranks,
)
from conversion.verification.loaders.files import TokenizerFile, read_tokenizer
from conversion.verification.loaders.guarded import guarded, library_errors
from conversion.verification.side import Side
from hf_bpe.engine import Encoder
from hf_bpe.files import path_of
from hf_bpe.spec import TokenizerSpec

__all__ = ["LOADERS", "Source", "load_side", "split_prefix"]

Source: TypeAlias = str | os.PathLike[str] | TokenizerSpec | Encoder

OFFICIAL = "official"
_OWN = "own"

_OF_FILES: Mapping[str, Callable[[TokenizerFile], Side]] = {
    _OWN: own.load,
    "tokenizers": huggingface_tokenizers.load,
    "tiktoken": tiktoken_ranks.load,
    "sentencepiece": sentencepiece_models.load,
    "mistral-common": mistral.load,
    "minbpe": minbpe_semantics.load,
    "llama.cpp": llama_cpp.load,
}
_OF_FOLDERS: Mapping[str, Callable[[str], Side]] = {
    "plugin": hugging_face.load_plugin,
    "stock": hugging_face.load_stock,
    "fast": hugging_face.load_fast,
}

LOADERS: Mapping[str, str] = {
    _OWN: "this package's engine (the default)",
    "plugin": "HfBpeTokenizer, this package's class for transformers",
    "stock": "transformers' AutoTokenizer, without this package's class",
    "fast": "transformers' PreTrainedTokenizerFast",
    "tokenizers": "the tokenizers library, which runs tokenizer.json and GPT-2's files",
    "tiktoken": "tiktoken",
    "sentencepiece": "sentencepiece",
    "mistral-common": "mistral-common, which runs tekken.json",
    "minbpe": "minbpe's rules with the regex module",
    "llama.cpp": "llama.cpp, through llama-cpp-python",
    OFFICIAL: "the library that the file's format belongs to",
}
"""Name -> what it is."""

_OFFICIAL: Mapping[str, str] = {
    tiktoken.FORMAT.name: "tiktoken",
    tiktoken.PLUGIN_FORMAT.name: "tiktoken",
    tekken.FORMAT.name: "mistral-common",
    minbpe.FORMAT.name: "minbpe",
    gguf.FORMAT.name: "llama.cpp",
    **{known.name: "sentencepiece" for known in sentencepiece.FORMATS},
}
"""Format -> loader; all others are run by tokenizers."""


def split_prefix(given: str) -> tuple[str, str]:
    """`stock:folder` as ("stock", "folder"); what begins with no loader's name is a path for the default loader.

    >>> split_prefix("stock:folder"), split_prefix("C:folder")
    (('stock', 'folder'), ('own', 'C:folder'))
    """
    loader, colon, path = given.partition(":")
    return (loader, path) if colon and loader in LOADERS else (_OWN, given)


def load_side(source: Source, loader: str, given: Given) -> Side:
    """A side. Raises `LoaderError` for a library that is not installed or cannot run the file, `ValueError` for no loader."""
    if loader not in LOADERS:
        raise ValueError(f"loader {loader!r} is not known; it must be one of {', '.join(LOADERS)}")
    if isinstance(source, TokenizerSpec | Encoder):
        if loader != _OWN:
            raise ValueError(f"the {loader} loader reads files; save the spec first and pass the path")
        return own.of_encoder(source if isinstance(source, Encoder) else Encoder(source), "a TokenizerSpec")
    with library_errors(f"{os.fspath(source)}: the {loader} loader does not load it"):
        return guarded(_load(source, loader, given))


def _load(source: str | os.PathLike[str], loader: str, given: Given) -> Side:
    if loader in _OF_FOLDERS:
        return _OF_FOLDERS[loader](os.fspath(source))
    file = read_tokenizer(path_of(source), given)
    if loader == OFFICIAL:
        loader = _OFFICIAL.get(file.format.name, "tokenizers")
    return _OF_FILES[loader](file)
