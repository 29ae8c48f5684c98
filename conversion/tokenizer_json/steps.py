"""The steps of a tokenizer.json's normalizer, pre_tokenizer, post_processor or decoder, sequences laid out flat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from conversion.json_shapes import list_at, object_at, text_at

__all__ = ["NAME", "kind", "regex_of", "steps_of"]

NAME = "tokenizer.json"
"""The format, and the name that its files have in a folder."""


def steps_of(part: object, place: str, inner: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, step) of each step. inner: the key under which a Sequence holds its steps.

    >>> list(steps_of({"type": "Sequence", "decoders": [{"type": "Fuse"}]}, "$", "decoders"))
    [('$.decoders[0]', {'type': 'Fuse'})]
    """
    waiting = [(place, part)]
    while waiting:
        where, step = waiting.pop()
        if not isinstance(step, dict):
            continue
        if step.get("type") != "Sequence":
            yield where, step
        else:
            waiting += [(f"{where}.{inner}[{number}]", each) for number, each in enumerate(list_at(step, inner))][::-1]


def regex_of(step: dict[str, Any]) -> str | None:
    """The regular expression of a Split or a Replace, or None."""
    return text_at(object_at(step, "pattern"), "Regex")


def kind(part: object) -> str:
    """What a part is, for messages.

    >>> kind({"type": "ByteLevel"}), kind(None)
    ('ByteLevel', 'null')
    """
    return str(part.get("type", "an object without a type")) if isinstance(part, dict) else json.dumps(part)[:60]
