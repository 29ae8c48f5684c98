"""What lies at the path to be examined: every file that some tokenizer library reads, as raw as it is.

Nothing here demands that a file be sound. A file that cannot be parsed is noted in `damaged` and counts as missing elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import conversion.gpt2
from conversion import tokenizer_json
from conversion.format import Format, Given
from conversion.json_shapes import content_of, dicts_in, is_id, list_at, object_at
from conversion.json_text import parse_json
from conversion.registry import format_for_reading
from conversion.sidecar import file_sidecar
from hf_bpe.doctor.stock import StockTokenizer, load_stock
from hf_bpe.doctor.vocabularies import RawVocabulary, read_metadata, read_vocabulary
from hf_bpe.errors import ConversionRefused, FormatError, HfBpeError
from hf_bpe.files import read_text
from hf_bpe.spec import TokenizerSpec

__all__ = ["ROLES", "Folder"]

TOKENIZER, CONFIG, SPECIALS, ADDED = "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
MODEL_CONFIG, GENERATION, TEMPLATE = "config.json", "generation_config.json", "chat_template.jinja"
WEIGHTS = ".safetensors"
_OBJECTS = (TOKENIZER, CONFIG, SPECIALS, ADDED, MODEL_CONFIG, GENERATION, "processor_config.json", "preprocessor_config.json")
_PAIRS = ("gpt2", "vocab-merges")
_VOCABULARY_NAME = re.compile(r"\.(tiktoken|gguf|model(\.v\w+)?)$|^tekken.*(?<!\.hf_bpe)\.json$")

ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
"""The names that transformers gives special tokens."""


@dataclass(frozen=True)
class Reading:
    """The tokenizer that our reader finds in a file, or why it refuses. states_split: the file says how text is split."""

    file: str
    spec: TokenizerSpec | None
    refusal: FormatError | ConversionRefused | None
    states_split: bool


def _name_for_what_it_holds(file: Path) -> str:
    """The name of a file by itself; `TOKENIZER` where it holds one under a name of its own, such as gpt2.tokenizer.json."""
    if file.name in _OBJECTS or file.suffix == ".jinja":
        return file.name
    try:
        return TOKENIZER if format_for_reading(file) is tokenizer_json.FORMAT else file.name
    except FormatError:
        return file.name


class Folder:
    """A folder, or one file as if it lay alone in a folder.

    Raises `FormatError` where there is nothing, or nothing that a tokenizer could be read from.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            inside = sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]
            self.files = {file.name: file for file in inside if file.is_file()}
            if not self.path.is_dir():
                self.files = {_name_for_what_it_holds(self.path): file for file in self.files.values()}
        except OSError as error:
            raise FormatError(f"{path}: cannot be read: {error.strerror or error}") from error
        if not self.path.exists():
            raise FormatError(f"{path}: there is no such file or folder")
        self.damaged: dict[str, str] = {}  # place -> what is wrong there, and what to do
        self.repeated_keys: list[tuple[str, str]] = []  # (file, key)
        self._objects = {name: self._read_object(name) for name in _OBJECTS}
        self.template_files = self._read_templates()  # name -> text
        self.vocabularies: list[RawVocabulary] = []
        self.formats: dict[str, Format] = {}  # name of a vocabulary file -> its format
        for name in self._vocabulary_files():
            self._read_vocabulary(name)
        if not (self.formats or self.damaged or any(name in self.files for name in (CONFIG, SPECIALS, ADDED, TEMPLATE))):
            what = "holds no tokenizer" if self.path.is_dir() else "is no tokenizer"
            raise FormatError(f"{path}: {what} of a format known here; name the folder or file of one")

    @property
    def examined(self) -> list[str]:
        """The names of the files that were looked into."""
        parsed = [name for name, data in self._objects.items() if data is not None]
        weights = [name for name in self.files if name.endswith(WEIGHTS)]
        return list(dict.fromkeys([*self.formats, *parsed, *self.template_files, *weights]))

    def real_name(self, place: str) -> str:
        """A place in a file by the name that the file has, where it was looked at as one of another name."""
        name, colon, rest = place.partition(":")
        return f"{self.files[name].name}{colon}{rest}" if name in self.files and not self.path.is_dir() else place

    # -----------------------------------------------------------------------------------------------------------------
    # Raw files

    def text(self, name: str) -> str | None:
        """The text of a file; None where it is missing or no text, which is noted."""
        if name not in self.files:
            return None
        try:
            return read_text(self.files[name])
        except FormatError as error:
            self.damaged[name] = self.without_path(error)
            return None

    def json(self, name: str) -> dict[str, Any]:
        """The object that a JSON file holds; empty where it is missing or damaged."""
        return self._objects.get(name) or {}

    def _read_object(self, name: str) -> dict[str, Any] | None:
        text = self.text(name)
        if text is None:
            return None
        repeated: list[str] = []
        try:
            data = parse_json(text, name, repeated)
            if not isinstance(data, dict):
                raise FormatError(f"{name}: must hold a JSON object, not a {type(data).__name__}; fetch it again")
        except FormatError as error:
            self.damaged[name] = self.without_path(error)
            return None
        self.repeated_keys += [(name, key) for key in repeated]
        return data

    def without_path(self, error: Exception) -> str:
        """The message without the path that it begins with: a finding names the file already."""
        message = str(error)
        for prefix in (*map(str, self.files.values()), *self.files):
            message = message.removeprefix(f"{prefix}: ").removeprefix(f"{prefix}, ")
        return message

    # -----------------------------------------------------------------------------------------------------------------
    # Vocabularies

    def _vocabulary_files(self) -> Iterator[str]:
        """The names of the files that hold a vocabulary; of a pair only the one with the ids."""
        if not self.path.is_dir():
            yield from (name for name in self.files if name not in _OBJECTS[1:] and not name.endswith(".jinja"))
            return
        for name, file in self.files.items():
            pair = next((found for kind in _PAIRS if (found := conversion.gpt2.find_pair(file, kind))), None)
            if pair is not None:
                if file == pair[0]:
                    yield name
            elif name == TOKENIZER or _VOCABULARY_NAME.search(name):
                yield name

    def _read_vocabulary(self, name: str) -> None:
        if name == TOKENIZER and self._objects[TOKENIZER] is None:
            return  # noted already
        file = self.files[name]
        try:
            self.formats[name] = format_for_reading(file)
            vocabulary = read_vocabulary(file, self.formats[name].name, self._objects[TOKENIZER])
        except HfBpeError as error:
            self.damaged.setdefault(name, self.without_path(error))
            return
        if vocabulary is not None:
            self.vocabularies.append(vocabulary)

    @cached_property
    def readings(self) -> list[Reading]:
        """What the reader of its format makes of each vocabulary file."""
        found: list[Reading] = []
        for name, chosen in self.formats.items():
            path = self.files[name]
            # What a rank file does not say is no defect of it.
            lacks_pattern = chosen.name == "tiktoken" and not path.with_name(file_sidecar(path.name)).exists()
            try:
                spec = chosen.read(path, Given(pattern=None) if lacks_pattern else Given())
                found.append(Reading(name, spec, None, states_split=not lacks_pattern))
            except (FormatError, ConversionRefused) as error:
                found.append(Reading(name, None, type(error)(self.without_path(error)), states_split=False))
        return found

    @cached_property
    def gguf_metadata(self) -> dict[str, dict[str, Any]]:
        """Name -> keys and values of the GGUF files."""
        return {
            name: read_metadata(self.files[name])
            for name, chosen in self.formats.items()
            if chosen.name == "gguf" and name not in self.damaged
        }

    @cached_property
    def stock(self) -> StockTokenizer | None:
        """tokenizer.json as the `tokenizers` library loads it; None where there is none."""
        text = None if self._objects[TOKENIZER] is None else self.text(TOKENIZER)
        return None if text is None else load_stock(text)

    # -----------------------------------------------------------------------------------------------------------------
    # What several files say together

    @cached_property
    def token_ids(self) -> dict[str, int]:
        """Text -> id of all tokens, the added ones included, by the file that decides them; empty where none could be read.

        What the `tokenizers` library makes of a tokenizer.json counts, not what stands there.
        """
        stock = self.stock.tokenizer if self.stock is not None else None
        if stock is not None:
            ids: dict[str, int] = stock.get_vocab()
        else:
            deciding = next((v for v in self.vocabularies if v.file == TOKENIZER), None) or next(iter(self.vocabularies), None)
            ids = dict(deciding.entries) if deciding is not None else {}
        return {content: token_id for content, token_id, _ in self.added_tokens()} | ids if ids else {}

    def added_tokens(self) -> Iterator[tuple[str, int, str]]:
        """(text, id, place) of every added token, as often as it is written."""
        for number, token in enumerate(list_at(self.json(TOKENIZER), "added_tokens")):
            content = content_of(token)
            token_id = object_at(token).get("id")
            if content is not None and is_id(token_id):
                yield content, token_id, f"{TOKENIZER}: $.added_tokens[{number}]"
        for key, token in object_at(self.json(CONFIG), "added_tokens_decoder").items():
            content = content_of(token)
            if content is not None and key.isdecimal() and len(key) < 11 and is_id(int(key)):
                yield content, int(key), f"{CONFIG}: $.added_tokens_decoder[{key!r}]"
        for content, token_id in self.json(ADDED).items():
            if is_id(token_id):
                yield content, token_id, f"{ADDED}: $[{content!r}]"

    @cached_property
    def roles(self) -> dict[str, tuple[str, str]]:
        """Role -> (text, file) of the special tokens that have one. tokenizer_config.json has the last word, as in transformers."""
        found: dict[str, tuple[str, str]] = {}
        for name in (SPECIALS, CONFIG):
            for role in ROLES:
                content = content_of(self.json(name).get(role))
                if content is not None:
                    found[role] = content, name
        return found

    @property
    def flags(self) -> dict[str, dict[str, Any]]:
        """Text -> flags of the added tokens of tokenizer.json."""
        return {str(token.get("content")): token for token in dicts_in(self.json(TOKENIZER).get("added_tokens"))}

    @property
    def ids_needed(self) -> int:
        """The largest id + 1: the rows that an embedding needs."""
        return 1 + max((token_id for token_id in self.token_ids.values()), default=-1)

    def _read_templates(self) -> dict[str, str]:
        names = [TEMPLATE, *self._additional_templates()]
        return {name: text for name in names if (text := self.text(name)) is not None}

    def _additional_templates(self) -> list[str]:
        """The names of the templates in the folder for those that are not the default, entered among the files."""
        more = self.path / "additional_chat_templates"
        found = {f"{more.name}/{file.name}": file for file in sorted(more.glob("*.jinja")) if file.is_file()}
        self.files |= found
        return list(found)
