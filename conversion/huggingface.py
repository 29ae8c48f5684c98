"""A Hugging Face tokenizer folder. tokenizer.json alone decides the ids; where there is none, tokenizer.model does.

Such folders are written by the plugin.
"""

from __future__ import annotations

from pathlib import Path

from conversion import sentencepiece, tokenizer_json
from conversion.format import Format, Given
from hf_bpe.spec import TokenizerSpec

__all__ = ["FORMAT", "TOKENIZER_FILE", "deciding_file"]

TOKENIZER_FILE = "tokenizer.json"
_READERS = {TOKENIZER_FILE: tokenizer_json.FORMAT, "tokenizer.model": sentencepiece.FORMATS[0]}


def deciding_file(folder: Path) -> Path | None:
    """The file of a folder that decides the ids; None where there is none, or no folder."""
    return next((folder / name for name in _READERS if (folder / name).is_file()), None)


def _recognises(path: Path, head: bytes) -> bool:
    return deciding_file(path) is not None


def _read(path: Path, given: Given) -> TokenizerSpec:
    file = deciding_file(path) or path / TOKENIZER_FILE
    return _READERS[file.name].read(file, given)


FORMAT = Format(
    name="huggingface",
    description="folder with a tokenizer.json or a tokenizer.model (to write one: HfBpeTokenizer.from_spec(spec).save_pretrained(folder))",
    is_folder=True,
    self_contained=True,
    recognises=_recognises,
    read=_read,
)
