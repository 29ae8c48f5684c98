"""Ids and sizes in config.json, generation_config.json and the like, rewritten for a new vocabulary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conversion.huggingface import deciding_file
from conversion.json_shapes import content_of, is_id, object_at
from conversion.json_text import read_json
from hf_bpe.editing.id_map import IdMap
from hf_bpe.errors import EditError
from hf_bpe.model_files.configuration import text_part
from hf_bpe.spec import TokenizerSpec

__all__ = ["CONFIGURATIONS", "Change", "Renumbering", "Roles", "roles_of"]

CONFIG = "config.json"
CONFIGURATIONS = (CONFIG, "generation_config.json", "processor_config.json", "preprocessor_config.json")
"""Files that name ids, in the order in which they are rewritten."""

_ROLES = ("bos", "eos", "pad", "unk", "sep", "cls", "mask")
_ONE_ID = re.compile(r"_(token_id|token_ids|token_index|token_idx|start_token|end_token)$")
_SIZE = re.compile(r"(^|_)(vocab_size|n_vocab|vocab_size_per_layer_input)$")
_LISTS = ("suppress_tokens", "begin_suppress_tokens", "bad_words_ids", "force_words_ids")
_PAIRS = "forced_decoder_ids"
_BIASES = "sequence_bias"
_BY_NAME = ("lang_to_id", "task_to_id")

Roles = Mapping[str, int]
"""bos, eos, pad, ... -> the id of the token that has that role."""


@dataclass(frozen=True)
class Change:
    """One value that is another now."""

    file: str
    key: str
    before: Any
    after: Any


@dataclass
class Renumbering:
    """What a new vocabulary changes in the files of a model's configuration, gathered file by file.

    old_roles, new_roles: of the tokenizers. A role that another token has now is followed; for the others the ids that the model
    says are translated, as what it was trained with decides.
    """

    id_map: IdMap
    rows_before: int
    rows_after: int
    old_roles: Roles
    new_roles: Roles
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def apply(self, file: str, data: Any) -> Any:
        """A copy of what a file says, with the new ids. Raises `EditError` for an id whose token is gone and is needed."""
        data = deepcopy(data)
        if not isinstance(data, dict):
            return data
        text = text_part(data) if file == CONFIG else data
        for where, part in ({"": data} | ({"text part: ": text} if text is not data else {})).items():
            for key, value in part.items():
                self._set(file, where, part, key, self._new_value(file, key, value))
        self._roles_that_changed(file, data, text)
        if file == CONFIG and self.rows_before != self.rows_after and "vocab_size" not in text:
            self._set(file, "", text, "vocab_size", self.rows_after)  # its class has a default, which is the old size
        return data

    def _set(self, file: str, where: str, part: dict[str, Any], key: str, value: Any) -> None:
        before = part.get(key)
        if before != value:
            self.changes.append(Change(file, where + key, before, value))
            part[key] = value

    def _new_value(self, file: str, key: str, value: Any) -> Any:
        if _SIZE.search(key):
            return self.rows_after if value == self.rows_before and type(value) is int else value
        if key in _LISTS:
            return self._new_list(file, key, value)
        if key == _PAIRS and isinstance(value, list):
            return [[at, self._needed(file, key, i)] for at, i in value if is_id(i)] if all(map(_is_pair, value)) else value
        if key == _BIASES and isinstance(value, list):
            pairs = [(self._new_list(file, key, pair[0]), pair) for pair in value if _is_pair(pair)]
            return [[ids, pair[1]] for ids, pair in pairs if len(ids) == len(pair[0])]
        if key in _BY_NAME and isinstance(value, dict):
            return {name: self._needed(file, f"{key}.{name}", i) for name, i in value.items()}
        if _ONE_ID.search(key):
            return self._new_list(file, key, value) if isinstance(value, list) else self._needed(file, key, value)
        return value

    def _new_list(self, file: str, key: str, value: Any) -> Any:
        """The list without ids that are gone, and without words that hold such an id."""
        if not isinstance(value, list):
            return value
        kept: list[Any] = []
        for item in value:
            if isinstance(item, list):
                inner = [self._new(i) for i in item]
                kept += [] if None in inner else [inner]
            elif (new := self._new(item)) is not None:
                kept.append(new)
        if len(kept) < len(value):
            self.notes.append(f"{file}: {key} had entries whose tokens are gone; they were left out")
        return kept

    def _needed(self, file: str, key: str, value: Any) -> Any:
        new = self._new(value)
        if new is not None or value is None:
            return new
        role = key.removesuffix("_token_id")
        if role in _ROLES:
            if role not in self.new_roles:
                self.notes.append(
                    f"{file}: the token of {key}, {value}, is gone, and the new tokenizer names no other; it is null now"
                )
            return self.new_roles.get(role)
        raise EditError(
            f"{file}: {key} is {value}, whose token the new tokenizer lacks, and the model needs it; keep that token"
        )

    def _new(self, value: Any) -> Any:
        """An id translated; what is none, or has no token, as it is."""
        if not is_id(value) or value not in self.id_map.old_ids:
            return value
        return self.id_map.new_id(value)

    def _roles_that_changed(self, file: str, data: dict[str, Any], text: dict[str, Any]) -> None:
        for role, new in self.new_roles.items() if file in CONFIGURATIONS[:2] else ():
            old = self.old_roles.get(role)
            if old is not None and self.id_map.new_id(old) == new:
                continue
            key = f"{role}_token_id"
            part = text if key in text and key not in data else data
            stated = part.get(key)
            if isinstance(stated, list):
                former = None if old is None else self.id_map.new_id(old)
                self._set(file, "", part, key, list(dict.fromkeys([i for i in stated if i != former] + [new])))
            elif role in ("bos", "eos", "pad") or key in part:
                self._set(file, "", part, key, new)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2


def roles_of(path: Path, spec: TokenizerSpec) -> dict[str, int]:
    """Role -> id of the tokens that have one: by tokenizer_config.json or special_tokens_map.json, else by a SentencePiece model."""
    found: dict[str, int] = {}
    for role in ("bos", "eos", "pad") if spec.sentencepiece is not None else ():
        own = getattr(spec.sentencepiece, f"{role}_id")
        found |= {} if own is None else {role: own}
    for name in ("special_tokens_map.json", "tokenizer_config.json") if deciding_file(path) is not None else ():
        said = object_at(read_json(path / name)) if (path / name).is_file() else {}
        for role in _ROLES:
            content = content_of(said.get(f"{role}_token"))
            token_id = None if content is None else spec.token_id(content.encode("utf-8", "surrogatepass"))
            if token_id is not None:
                found[role] = token_id
    return found
