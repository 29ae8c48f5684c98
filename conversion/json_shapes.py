"""Looking into JSON of which nothing is known: a value of the wrong type counts as one that is not there.

Wrong types themselves are reported by the readers, which every file goes through.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from hf_bpe.spec import MAX_TOKEN_ID

__all__ = ["content_of", "dicts_in", "is_id", "list_at", "object_at", "quoted", "text_at"]

_SHOWN = 60


def object_at(data: object, *keys: str) -> dict[str, Any]:
    """The object at the end of a path of keys, or an empty one.

    >>> object_at({"model": {"vocab": {"a": 0}}}, "model", "vocab"), object_at({"model": []}, "model", "vocab")
    ({'a': 0}, {})
    """
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def list_at(data: object, key: str) -> list[Any]:
    """The list of that key, or an empty one."""
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, list) else []


def text_at(data: object, key: str) -> str | None:
    """The text of that key, or None."""
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, str) else None


def dicts_in(data: object) -> Iterator[dict[str, Any]]:
    """The objects of a list; nothing of anything else."""
    return (item for item in data if isinstance(item, dict)) if isinstance(data, list) else iter(())


def content_of(token: object) -> str | None:
    """The text of a token, which transformers writes as text or as an object.

    >>> content_of("<s>"), content_of({"content": "<s>", "lstrip": False}), content_of(None)
    ('<s>', '<s>', None)
    """
    return token if isinstance(token, str) else text_at(token, "content")


def is_id(value: object) -> TypeGuard[int]:
    """Whether a value is a token id."""
    return type(value) is int and 0 <= value <= MAX_TOKEN_ID


def quoted(value: object) -> str:
    """A value for messages, cut to a length that leaves room for the rest.

    >>> quoted("Hello"), len(quoted("x" * 1000))
    ("'Hello'", 60)
    """
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
