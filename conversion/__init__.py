"""Moving BPE tokenizers between file formats, exactly or not at all.

>>> import conversion
>>> spec = conversion.load("cl100k_base.tiktoken", pattern="cl100k")  # doctest: +SKIP
>>> conversion.save(spec, "gpt2-files", format="gpt2")  # doctest: +SKIP
>>> print(conversion.verify("gpt2-files", spec, corpus="text.txt").summary())  # doctest: +SKIP
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from conversion.equality import first_difference
from conversion.format import Format, Given
from conversion.normalizers import caller_must_normalise
from conversion.registry import FORMATS, find_format, format_for_reading, format_for_writing
from conversion.sidecar import file_sidecar
from conversion.tiktoken import to_tiktoken_encoding
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import write_atomically
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    from conversion.verification.report import Difference, VerifyReport, verify

__all__ = ["Difference", "VerifyReport", "formats", "load", "save", "to_tiktoken_encoding", "verify"]


def __getattr__(name: str) -> Any:
    if name not in ("Difference", "VerifyReport", "verify"):  # the official libraries' side, which loading does not need
        raise AttributeError(f"module 'conversion' has no attribute {name!r}")
    from conversion import verification

    return getattr(verification, name)


def formats() -> dict[str, str]:
    """The formats and what each is.

    >>> sorted(formats())
    ['gguf', 'gpt2', 'huggingface', 'minbpe', 'sentencepiece', 'sentencepiece-vocab', 'tekken', 'tiktoken', 'tiktoken-plugin', \
'tokenizer.json', 'vocab-merges']
    """
    return {known.name: known.description for known in FORMATS.values()}


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    pattern: str | EllipsisType | None = ...,
    special_tokens: Mapping[str, int] | None = None,
) -> TokenizerSpec:
    """Read a tokenizer from a file or folder.

    format: one of `formats()`; found from the content if not given.
    pattern, special_tokens (text -> id): for formats that do not state them; they override what a sidecar says. A rank file
        without a sidecar needs `pattern`, which is never guessed; None means that the whole text is one piece.

    Raises `FormatError` for a damaged file, `ConversionRefused` for a sound one that is neither byte-level BPE nor a
    SentencePiece BPE model.
    """
    source = Path(path)
    chosen = format_for_reading(source) if format is None else find_format(format)
    return chosen.read(source, Given(pattern, special_tokens))


def save(
    spec: TokenizerSpec,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    allow_lossy: bool = False,
) -> list[Path]:
    """Write a tokenizer, and return the paths written. What was written is read back and compared before it takes its place.

    format: one of `formats()`; taken from the name if that ends in .tiktoken, .gguf, .model, .vocab or tokenizer.json, or is
        tekken.json. For "gpt2", "vocab-merges" and "tiktoken-plugin" the path is a folder, whose name names the plugin.
    allow_lossy: write the nearest file where the format cannot hold the tokenizer exactly, instead of raising
        `ConversionRefused`, and give the reason as a warning.
    """
    target = Path(path)
    chosen = format_for_writing(target) if format is None else find_format(format)
    if target.exists() and target.is_dir() != chosen.is_folder:
        wanted = "a folder" if chosen.is_folder else "a file"
        raise FormatError(f"{target}: {chosen.name} is written as {wanted}, and this is not one; give another path")
    try:
        contents = _checked_contents(spec, chosen, target.name, allow_lossy=False)
    except ConversionRefused as refusal:
        if not allow_lossy:
            raise
        contents = _checked_contents(spec, chosen, target.name, allow_lossy=True)
        warnings.warn(f"{target} is not exact. Without allow_lossy it would have been refused: {refusal}", stacklevel=2)
    paths = write_atomically(target if chosen.is_folder else target.parent, contents)
    if not chosen.is_folder and file_sidecar(target.name) not in contents:
        target.with_name(file_sidecar(target.name)).unlink(missing_ok=True)  # of what stood here before: it would be refused
    return paths


def _checked_contents(spec: TokenizerSpec, chosen: Format, name: str, *, allow_lossy: bool) -> dict[str, bytes]:
    """The files of a tokenizer, read back and compared."""
    if chosen.write is None:
        raise ConversionRefused(f"{chosen.name} is not written here: {chosen.description}")
    condition = caller_must_normalise(spec)
    if condition and not chosen.has_normalizer and not allow_lossy:
        raise ConversionRefused(
            f"{chosen.name} has no place for a normaliser, so for the same ids {condition}. Save it as tokenizer.json, or pass "
            "allow_lossy=True: then loading it here, with its sidecar, gives this tokenizer back"
        )
    if chosen.converted is not None:
        spec = chosen.converted(spec, allow_lossy)
    contents = chosen.write(spec, name, allow_lossy)
    # What is lost in a tokenizer.json of pieces is lost for our reader too.
    if not (allow_lossy and spec.dialect == "sentencepiece" and chosen.converted is None):
        _check_by_reading_back(spec, chosen, contents, name)
    return contents


def _check_by_reading_back(spec: TokenizerSpec, chosen: Format, contents: Mapping[str, bytes], name: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="hf-bpe-") as folder:
        write_atomically(folder, contents)
        found = chosen.read(Path(folder) if chosen.is_folder else Path(folder, name), Given())
    difference = first_difference(spec, found)
    if difference is not None:
        raise ConversionRefused(
            f"{chosen.name}: reading back what was written gives another tokenizer, so nothing was saved; this is a defect of the "
            f"writer or the reader: please report it. {difference}"
        )
