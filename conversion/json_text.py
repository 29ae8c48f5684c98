"""JSON with the errors a person can act on: which file, which place, what is wrong."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, TypeVar

from conversion.json_shapes import quoted
from hf_bpe.errors import FormatError
from hf_bpe.files import read_text
from hf_bpe.spec import MAX_TOKEN_ID

__all__ = ["check_id", "field", "indented", "optional_field", "parse_json", "read_json"]

T = TypeVar("T")

_TOO_LONG = "a number of thousands of digits, which nothing in a tokenizer needs; the file is damaged: fetch it again"

_JSON_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
}


def read_json(path: Path) -> Any:
    """The value a JSON file holds. Raises `FormatError`, for a key that stands twice in one object too."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, where: str, repeated: list[str] | None = None) -> Any:
    """The value a JSON text holds.

    repeated: gets the keys that stand twice in one object, of which the last counts then; without it they are an error.

    >>> parse_json('{"a": 1, "a": 2}', "x.json")
    Traceback (most recent call last):
    ...
    hf_bpe.errors.FormatError: x.json: the key 'a' stands twice in one object; keep one of them
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            seen: set[str] = set()
            twice = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
            if repeated is None:
                raise FormatError(f"{where}: the key {twice[0]!r} stands twice in one object; keep one of them")
            repeated.extend(twice)
        return result

    if text.startswith("\ufeff"):
        raise FormatError(
            f"{where}: begins with a byte order mark, with which the tokenizers library does not load it either; save it as UTF-8 "
            "without one (BOM)"
        )
    if not text.strip():
        raise FormatError(f"{where}: the file is empty; it was truncated, or it is the wrong file")
    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{where}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}; the file may be truncated: fetch it again"
        ) from None
    except RecursionError:
        raise FormatError(f"{where}: nested too deeply to be a tokenizer file") from None
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"{where}{_place_of_huge_number(text)}: {_TOO_LONG if 'digits' in str(error) else error}") from None


def _place_of_huge_number(text: str) -> str:
    """Where an integer stands that has more digits than Python reads."""
    found = re.search(rf"[0-9]{{{sys.get_int_max_str_digits() + 1}}}", text)
    if found is None:
        return ""
    line_start = text.rfind("\n", 0, found.start()) + 1
    return f", line {text.count(chr(10), 0, found.start()) + 1}, column {found.start() - line_start + 1}"


def indented(value: Any, line: str = "\n") -> str:
    """`json.dumps(value, indent=2, ensure_ascii=False)` in a fifth of the time, as what holds no further parts is written in C.

    All keys have to be text.

    >>> print(indented({"vocab": {"a": 0, "b": 1}, "merges": []}))
    {
      "vocab": {
        "a": 0,
        "b": 1
      },
      "merges": []
    }
    """
    inner = line + "  "
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    if not parts:
        return json.dumps(value, ensure_ascii=False)
    if not any(isinstance(part, dict | list | tuple) for part in parts):
        flat = json.dumps(value, ensure_ascii=False, separators=(f",{inner}", ": "))
        return f"{flat[0]}{inner}{flat[1:-1]}{line}{flat[-1]}"
    if isinstance(value, dict):
        entries = [f"{json.dumps(key, ensure_ascii=False)}: {indented(part, inner)}" for key, part in value.items()]
        return f"{{{inner}{f',{inner}'.join(entries)}{line}}}"
    return f"[{inner}{f',{inner}'.join(indented(part, inner) for part in value)}{line}]"


def field(data: dict[str, Any], key: str, kind: type[T], where: str) -> T:
    """`data[key]`, which must be there and of that JSON type.

    >>> field({"id": True}, "id", int, "x.json: $.added_tokens[0]")
    Traceback (most recent call last):
    ...
    hf_bpe.errors.FormatError: x.json: $.added_tokens[0].id must be an integer, not True
    """
    if key not in data:
        raise FormatError(f"{where}.{key} is missing; it must be {_JSON_NAMES[kind]}")
    value = data[key]
    if type(value) is not kind:
        raise FormatError(f"{where}.{key} must be {_JSON_NAMES[kind]}, not {quoted(value)}")
    return value


def optional_field(data: dict[str, Any], key: str, kind: type[T], where: str) -> T | None:
    """The same where the field may be null or missing.

    >>> optional_field({"dropout": None}, "dropout", float, "x.json: $.model"), optional_field({}, "type", str, "x.json: $.model")
    (None, None)
    """
    if data.get(key) is None:
        return None
    if kind is float and type(data[key]) is int:  # JSON has one kind of number
        return data[key]  # type: ignore[no-any-return]
    return field(data, key, kind, where)


def check_id(value: object, where: str) -> int:
    """A token id. Raises `FormatError` for anything else, such as true, 1.0, -1 or 2**40."""
    if type(value) is not int or not 0 <= value <= MAX_TOKEN_ID:
        raise FormatError(f"{where}: the id must be an integer in 0..{MAX_TOKEN_ID}, not {quoted(value)}")
    return value
