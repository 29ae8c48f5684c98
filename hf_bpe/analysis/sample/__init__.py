"""Texts that stand in where no corpus is given, all written for this project: short, so that what they say is rough."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["CODE", "code", "published_counts", "records", "sentences", "texts"]

CODE = "Python code"
"""What the program among the samples is called."""


def sentences() -> dict[str, list[str]]:
    """Language -> the same sentences in it, one for one.

    >>> len(sentences()), sentences()["English"][0]
    (12, 'Nobody in the village could say how old the bridge was.')
    """
    return dict(_read("sentences.json"))


def code() -> str:
    """A short program."""
    return _text("program.txt")


def texts() -> dict[str, list[str]]:
    """All of them: the sentences by their language, and the program."""
    return {**sentences(), CODE: [code()]}


def records() -> list[dict[str, Any]]:
    """Rows with named fields, some empty."""
    return list(_read("records.json"))


def published_counts() -> dict[str, dict[str, int]]:
    """Vocabulary -> how many tokens each of `texts` has in it, so that nobody needs these vocabularies."""
    return dict(_read("published.json"))


@cache
def _text(name: str) -> str:
    return files("hf_bpe").joinpath(f"analysis/sample/{name}").read_text("utf-8")


def _read(name: str) -> Any:
    return json.loads(_text(name))
