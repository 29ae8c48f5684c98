"""A Hugging Face tokenizer folder. tokenizer.json alone decides the ids; where there is none, tokenizer.model does.

What else is in such a folder (which tokens begin and end a text, the chat template, ...) is the plugin's to read and write.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from conversion import sentencepiece, tiktoken, tokenizer_json
from conversion.format import Format, Given
from hf_bpe.errors import LoaderError
from hf_bpe.files import read_bytes
from hf_bpe.spec import TokenizerSpec

__all__ = ["CONFIGURATION", "FORMAT", "TOKENIZER_FILE", "as_loaded", "deciding_file", "write_folder"]

TOKENIZER_FILE = "tokenizer.json"
_MODEL_FILE = "tokenizer.model"
_NAMES = (TOKENIZER_FILE, _MODEL_FILE)
_BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja")

CONFIGURATION = "configuration"
"""The key of `provenance` under which the files stand that say more than the ids."""


def deciding_file(folder: Path) -> Path | None:
    """The file of a folder that decides the ids; None where there is none, or no folder."""
    return next((folder / name for name in _NAMES if (folder / name).is_file()), None)


def _recognises(path: Path, head: bytes) -> bool:
    return deciding_file(path) is not None


def _read(path: Path, given: Given) -> TokenizerSpec:
    file = deciding_file(path) or path / TOKENIZER_FILE
    spec = _reader(file).read(file, given)
    beside = ", ".join(name for name in _BESIDE if (path / name).is_file())
    return spec.replace(provenance={**spec.provenance, CONFIGURATION: beside}) if beside else spec


def _reader(file: Path) -> Format:
    """A tokenizer.model is a SentencePiece model, or, of Llama 3 and its like, a rank file."""
    if file.name == TOKENIZER_FILE:
        return tokenizer_json.FORMAT
    is_rank_file = file.is_file() and tiktoken.FORMAT.recognises(file, read_bytes(file))
    return tiktoken.FORMAT if is_rank_file else sentencepiece.FORMATS[0]


# ---------------------------------------------------------------------------------------------------------------------
# By the plugin, which is above this package in the layers, and so imported by its name


def as_loaded(folder: Path) -> Any:
    """What transformers is given of a folder: our tokenizer of it, with its roles, template and settings."""
    return _plugin().from_pretrained(folder)


def write_folder(tokenizer: Any, folder: Path) -> list[Path]:
    """Save what `as_loaded` gave, or a spec alone."""
    if isinstance(tokenizer, TokenizerSpec):
        tokenizer = _plugin().from_spec(tokenizer)
    return [Path(path) for path in tokenizer.save_pretrained(folder)]


def _plugin() -> Any:
    try:
        return import_module("hf_bpe.plugin").HfBpeTokenizer
    except ImportError as error:
        raise LoaderError(
            f"a Hugging Face folder needs transformers, which cannot be imported ({error}): pip install transformers, or write "
            f"a {TOKENIZER_FILE} alone"
        ) from None


FORMAT = Format(
    name="huggingface",
    description="folder with a tokenizer.json or a tokenizer.model, and what transformers keeps beside it",
    is_folder=True,
    self_contained=True,
    recognises=_recognises,
    in_folder=_NAMES,
    read=_read,
)
