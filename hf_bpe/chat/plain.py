"""What callers pass, as templates see it: plain values, whose methods can do no harm."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from hf_bpe.chat.origins import UNKNOWN, Traced, origins_of

__all__ = ["plain"]


def plain(value: Any, origin: int | None) -> Any:
    """A value out of dicts, lists, tuples, str, numbers, bool and None; anything else is named by its type.

    origin: of the strings that are not traced already; None: nothing is traced.

    >>> plain({"image": object()}, None)
    {'image': '<object>'}
    """
    if isinstance(value, str):
        return _text(value, origin)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, Mapping):
        return {plain(key, origin): plain(item, origin) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [plain(item, origin) for item in value]
        return items if isinstance(value, list) else tuple(items)
    opened = _opened(value)
    return _text(f"<{type(value).__name__}>", origin) if opened is value else plain(opened, origin)


def _text(text: str, origin: int | None) -> str:
    if origin is None:
        return text if type(text) is str else "".join(str.__iter__(text))
    if not isinstance(text, Traced):
        return Traced(text, origin)
    return Traced(text, origins_of(text).replace(bytes([UNKNOWN]), bytes([origin])))


def _opened(value: Any) -> Any:
    """The fields of a dataclass or of a pydantic model, or the number of numpy; anything else as it is."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump()
    if callable(getattr(value, "item", None)) and getattr(value, "shape", None) == ():
        return value.item()
    return value
