"""Moving BPE tokenizers between file formats, exactly or not at all.

>>> import conversion
>>> spec = conversion.load("cl100k_base.tiktoken", pattern="cl100k")  # doctest: +SKIP
>>> conversion.save(spec, "gpt2-files", format="gpt2")  # doctest: +SKIP
>>> print(conversion.verify("gpt2-files", spec, corpus="text.txt").summary())  # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import EllipsisType
from typing import TYPE_CHECKING

from hf_bpe.files import path_of
from hf_bpe.lazy_names import lazy_names
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    from conversion.converting import Converted, check, convert, save
    from conversion.tiktoken import to_tiktoken_encoding
    from conversion.verdict import Verdict
    from conversion.verification.report import Difference, VerifyReport, verify

__all__ = [
    "Converted",
    "Difference",
    "Verdict",
    "VerifyReport",
    "check",
    "convert",
    "formats",
    "load",
    "save",
    "to_tiktoken_encoding",
    "verify",
]


# Imported when first asked for: who loads a tokenizer.json, as the class for transformers does, needs none of them.
__getattr__ = lazy_names(
    __name__,
    {
        "conversion.converting": ("Converted", "check", "convert", "save"),
        "conversion.tiktoken": ("to_tiktoken_encoding",),
        "conversion.verdict": ("Verdict",),
        "conversion.verification": ("Difference", "VerifyReport", "verify"),
    },
)


def formats() -> dict[str, str]:
    """The formats and what each is.

    >>> sorted(formats())
    ['gguf', 'gpt2', 'huggingface', 'minbpe', 'sentencepiece', 'sentencepiece-vocab', 'tekken', 'tiktoken', 'tiktoken-plugin', \
'tokenizer.json', 'vocab-merges']
    """
    from conversion.registry import FORMATS

    return {known.name: known.description for known in FORMATS.values()}


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    pattern: str | EllipsisType | None = ...,
    special_tokens: Mapping[str, int] | None = None,
) -> TokenizerSpec:
    """Read a tokenizer from a file or folder. A folder may also hold one file of a format, such as a tekken.json.

    format: one of `formats()`; found from the content if not given.
    pattern, special_tokens (text -> id): for formats that do not state them; they override what a sidecar says. A rank file
        without a sidecar needs `pattern`, which is never guessed; None means that the whole text is one piece.

    Raises `FormatError` for a damaged file, `ConversionRefused` for a sound one that is neither byte-level BPE nor a
    SentencePiece BPE model.
    """
    from conversion.format import Given
    from conversion.registry import locate

    given = Given(pattern, special_tokens)
    source, chosen = locate(path_of(path), format)
    return chosen.read(source, given)
