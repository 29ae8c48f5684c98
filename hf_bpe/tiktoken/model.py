"""Which model uses which encoding: tiktoken's tables."""

from __future__ import annotations

from tiktoken.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING, encoding_name_for_model

from hf_bpe.tiktoken.core import Encoding
from hf_bpe.tiktoken.registry import get_encoding

__all__ = ["MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING", "encoding_for_model", "encoding_name_for_model"]


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding of an OpenAI model. Raises `KeyError` for a name that tiktoken's tables do not know.

    >>> encoding_for_model("gpt-4o")  # doctest: +SKIP
    <Encoding 'o200k_base'>
    """
    return get_encoding(encoding_name_for_model(model_name))
