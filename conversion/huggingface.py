"""A Hugging Face tokenizer folder, of which tokenizer.json alone decides the ids. Such folders are written by the plugin."""

from __future__ import annotations

from pathlib import Path

from conversion import tokenizer_json
from conversion.format import Format, Given
from hf_bpe.spec import TokenizerSpec

__all__ = ["FORMAT", "TOKENIZER_FILE"]

TOKENIZER_FILE = "tokenizer.json"


def _recognises(path: Path, head: bytes) -> bool:
    return (path / TOKENIZER_FILE).is_file()


def _read(path: Path, given: Given) -> TokenizerSpec:
    return tokenizer_json.FORMAT.read(path / TOKENIZER_FILE, given)


FORMAT = Format(
    name="huggingface",
    description="folder with a tokenizer.json (to write one: HfBpeTokenizer.from_spec(spec).save_pretrained(folder))",
    is_folder=True,
    self_contained=True,
    recognises=_recognises,
    read=_read,
)
