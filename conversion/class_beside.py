"""Which class of transformers is said to run a vocabulary, by the files that transformers keeps beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conversion.json_text import parse_json
from hf_bpe.errors import FormatError
from hf_bpe.files import read_text

__all__ = ["CONFIG_FILES", "SPLITS_AS_GPT2", "class_beside", "puts_space_first"]

CONFIG_FILES = ("tokenizer_config.json", "config.json")

SPLITS_AS_GPT2 = ("GPT2Tokenizer", "GPT2TokenizerFast", "gpt2")
"""What `class_beside` may answer for files that mean what GPT-2's do."""

_ANY = ("PreTrainedTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend", "PythonBackend", "HfBpeTokenizer")
"""Classes that run whatever they are given."""


def class_beside(folder: Path) -> str | None:
    """The class that is named for a folder's vocabulary, else the model type that it is chosen by; None where nothing is said.

    A class has a way to split text, special tokens around it and spaces before it that are written in no file of a vocabulary.
    Raises `FormatError` for a damaged file.

    >>> class_beside(Path("qwen2"))  # doctest: +SKIP
    'Qwen2Tokenizer'
    """
    tokenizer, model = (_object(folder / name) for name in CONFIG_FILES)
    named = [tokenizer.get("tokenizer_class"), model.get("tokenizer_class"), model.get("model_type")]
    return next((name for name in named if isinstance(name, str) and name and name not in _ANY), None)


def puts_space_first(folder: Path) -> bool:
    """Whether tokenizer_config.json says that a space stands before every text."""
    return _object(folder / CONFIG_FILES[0]).get("add_prefix_space") is True


def _object(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    data = parse_json(read_text(path), str(path), [])
    if not isinstance(data, dict):
        raise FormatError(f"{path}: must hold a JSON object, not a {type(data).__name__}; fetch it again")
    return data
