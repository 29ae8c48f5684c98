"""Reads the files of a saved tokenizer, with errors that name the file."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conversion import tokenizer_json
from conversion.tokenizer_json.post_processor import carried
from hf_bpe.errors import FormatError
from hf_bpe.files import read_text
from hf_bpe.pieces import PrependScheme
from hf_bpe.plugin.origin import Origin
from hf_bpe.plugin.template import PLAIN, SequenceTemplate, read_template
from hf_bpe.plugin.vocabulary import Vocabulary
from hf_bpe.spec import TokenizerSpec

__all__ = [
    "CONFIG_FILES",
    "MODEL_FILE",
    "TOKENIZER_FILE",
    "LoadedTokenizer",
    "check_config_files",
    "of_spec",
    "read_document",
    "read_files",
    "with_prefix_rule",
]

TOKENIZER_FILE = "tokenizer.json"
MODEL_FILE = "tokenizer.model"
CONFIG_FILES = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
"""What transformers reads beside it."""


@dataclass(frozen=True)
class LoadedTokenizer:
    """What is known of a tokenizer before tokenizer_config.json and the caller have their say.

    defaults: arguments of the tokenizer class, unless they say otherwise.
    is_complete: whether they have no say in what else decides ids: a tokenizer.json states it all.
    starts_with_bos: whether bos stands before every text unless they say otherwise.
    """

    vocabulary: Vocabulary
    template: SequenceTemplate
    defaults: Mapping[str, Any] = field(default_factory=dict)
    is_complete: bool = True
    starts_with_bos: bool = False


def read_files(
    tokenizer_file: str | os.PathLike[str] | None, model_file: str | os.PathLike[str] | None, origin: Origin
) -> LoadedTokenizer:
    """Read a tokenizer.json, or else a tokenizer.model, or else what other files of a tokenizer there are.

    tokenizer_file, model_file: where transformers found them.
    """
    if tokenizer_file is not None:
        origin.given.refuse(os.fspath(tokenizer_file))
        return read_tokenizer_file(tokenizer_file)
    return of_spec(origin.read(Path(model_file) if model_file is not None else origin.other_file()))


def of_spec(spec: TokenizerSpec) -> LoadedTokenizer:
    """What a spec says. A SentencePiece model names its special tokens, and by custom its bos stands before every text.

    A spec that was read from a tokenizer.json still has its post-processor, which then says what stands around every text.
    """
    rules = spec.sentencepiece
    template = read_template(carried(spec), "the post_processor of the spec")
    if rules is None:
        return LoadedTokenizer(Vocabulary(spec), template, is_complete=False)
    ids = {"unk": rules.unk_id, "bos": rules.bos_id, "eos": rules.eos_id, "pad": rules.pad_id}
    named = {f"{role}_token": rules.pieces[token_id].content for role, token_id in ids.items() if token_id is not None}
    by_custom = "bos_token" in named and template is PLAIN
    return LoadedTokenizer(Vocabulary(spec), template, named, is_complete=False, starts_with_bos=by_custom)


def with_prefix_rule(loaded: LoadedTokenizer, legacy: bool | None, add_prefix_space: bool | None) -> LoadedTokenizer:
    """The same with what tokenizer_config.json or the caller say about the space before texts; None: nothing.

    legacy: True puts it also behind every added token of a SentencePiece model, False only where the text begins. A model without
    it stays so.
    """
    spec = loaded.vocabulary.spec
    rules = spec.sentencepiece
    if rules is None:
        if add_prefix_space is None:
            return loaded
        return dataclasses.replace(loaded, vocabulary=loaded.vocabulary.with_prefix_space(bool(add_prefix_space)))
    if rules.prepend_scheme == "never":
        return loaded
    scheme: PrependScheme = rules.prepend_scheme
    if legacy is not None:
        scheme = "always" if legacy else "first"
    if add_prefix_space is False:
        scheme = "never"
    if scheme == rules.prepend_scheme:
        return loaded
    spec = spec.replace(sentencepiece=dataclasses.replace(rules, prepend_scheme=scheme))
    return dataclasses.replace(loaded, vocabulary=Vocabulary(spec))


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
