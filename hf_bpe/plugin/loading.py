"""Reads the files of a saved tokenizer, with errors that name the file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conversion import tokenizer_json
from hf_bpe.errors import FormatError
from hf_bpe.files import read_text
from hf_bpe.plugin.template import SequenceTemplate, read_template
from hf_bpe.plugin.vocabulary import Vocabulary

__all__ = ["CONFIG_FILES", "TOKENIZER_FILE", "LoadedTokenizer", "check_config_files", "read_document", "read_tokenizer_file"]

TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILES = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
"""What transformers reads beside it."""


@dataclass(frozen=True)
class LoadedTokenizer:
    """What a tokenizer.json says.

    defaults: arguments of the tokenizer class that follow from it, unless the caller or tokenizer_config.json say otherwise.
    """

    vocabulary: Vocabulary
    template: SequenceTemplate
    defaults: Mapping[str, Any] = field(default_factory=dict)


def read_tokenizer_file(path: str | os.PathLike[str]) -> LoadedTokenizer:
    """Read a tokenizer.json. Raises `FormatError` for a damaged one, `ConversionRefused` for one that cannot be run exactly."""
    return read_document(_read_object(path), os.fspath(path))


def read_document(data: Mapping[str, Any], where: str) -> LoadedTokenizer:
    """The same for what a tokenizer.json holds. `where` names it in errors."""
    spec = tokenizer_json.from_dict({**data, "post_processor": None}, where)
    listed = [token.content for token in spec.added_tokens if token.content in data["model"]["vocab"]]
    template = read_template(data.get("post_processor"), where)
    return LoadedTokenizer(Vocabulary(spec, counted=listed), template, _defaults(data, where))


def _defaults(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    padding, truncation = data.get("padding") or {}, data.get("truncation") or {}
    if not isinstance(padding, Mapping) or not isinstance(truncation, Mapping):
        raise FormatError(f"{where}: padding and truncation must be objects or null")
    found = {
        "pad_token": padding.get("pad_token"),
        "padding_side": str(padding.get("direction", "")).lower(),
        "truncation_side": str(truncation.get("direction", "")).lower(),
    }
    return {name: value for name, value in found.items() if value}


def check_config_files(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise `FormatError` naming the first of these files that is no JSON object. Files that are missing are passed over."""
    for path in paths:
        if Path(path).is_file():
            _read_object(path)


def _read_object(path: str | os.PathLike[str]) -> dict[str, Any]:
    text = read_text(path)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        cut = " (the file is cut off)" if cut_off else ""
        raise FormatError(
            f"{os.fspath(path)}: not JSON: {error.msg} at line {error.lineno} column {error.colno}{cut}; "
            "copy or download the file again"
        ) from None
    if not isinstance(data, dict):
        raise FormatError(f"{os.fspath(path)}: must hold a JSON object, not a {type(data).__name__}")
    return data
