"""Where config.json speaks of the part of a model that reads text."""

from __future__ import annotations

from typing import Any

from conversion.json_shapes import object_at

__all__ = ["text_part"]

_TEXT_PARTS = ("text_config", "llm_config", "language_config")


def text_part(config: dict[str, Any]) -> dict[str, Any]:
    """The part of its own that a model of several kinds of input has for text, else all of it.

    >>> text_part({"text_config": {"vocab_size": 8}, "vision_config": {}}), text_part({"vocab_size": 8})
    ({'vocab_size': 8}, {'vocab_size': 8})
    """
    return next((inner for key in _TEXT_PARTS if (inner := object_at(config, key))), config)
