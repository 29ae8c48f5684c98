"""Reads what callers pass as text: one text or a batch, single or in pairs, whole or split into words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Batch", "Numbers", "Row", "Text", "number_texts", "read_inputs"]

Text = str | list[str]
"""A text, or the words of one."""

Row = tuple[Text, Text | None]
"""A text and the one that goes with it, if any."""

Numbers = tuple[range, range | None]
"""Of a row: which of all texts of a batch its texts are, each one or the words of one."""

_WHAT_IS_ACCEPTED = (
    "text input must be a `str`, a list of them (a batch), or a list of pairs of `str`; with `is_split_into_words=True` "
    "a list of words, a list of such lists (a batch), or a list of pairs of such lists"
)


@dataclass(frozen=True)
class Batch:
    """What is to be encoded, in one shape. `is_batched`: the caller passed a batch and is to be given one."""

    rows: list[Row]
    is_batched: bool


def number_texts(rows: Iterable[Row]) -> tuple[list[str], list[Numbers]]:
    """All texts of a batch, to be encoded in one call; and of each row, which of them its texts are.

    >>> number_texts([("ab", "c"), (["d", "ef"], None)])
    (['ab', 'c', 'd', 'ef'], [(range(0, 1), range(1, 2)), (range(2, 4), None)])
    """
    texts: list[str] = []

    def put(text: Text) -> range:
        begin = len(texts)
        texts.extend((text,) if isinstance(text, str) else text)
        return range(begin, len(texts))

    return texts, [(put(first), None if second is None else put(second)) for first, second in rows]


def read_inputs(text: Any, text_pair: Any, is_split_into_words: bool) -> Batch:
    """Bring what the caller passed into one shape.

    Raises `ValueError` or `TypeError` for anything but text, as the stock fast tokenizer does.

    >>> read_inputs(["a", ("b", "c")], None, False)
    Batch(rows=[('a', None), ('b', 'c')], is_batched=True)
    """
    if isinstance(text, str) and text_pair is None and not is_split_into_words:  # by far the most frequent call
        return Batch([(text, None)], False)
    for given in (text, text_pair):
        if (given is not None and not _looks_like_text(given)) or given is text is None:
            raise ValueError(_WHAT_IS_ACCEPTED)
    is_batched = isinstance(text, (list, tuple))
    if is_split_into_words:
        is_batched = is_batched and bool(text) and isinstance(text[0], (list, tuple))
    if is_batched:
        rows = [_row(item, is_split_into_words) for item in _paired(text, text_pair)]
    else:  # an empty second text means none, as in stock classes
        rows = [_row((text, text_pair) if text_pair else text, is_split_into_words)]
    return Batch(rows, is_batched)


def _looks_like_text(given: Any) -> bool:
    depth = 0
    while isinstance(given, (list, tuple)):
        if not given:
            return True
        given, depth = given[0], depth + 1
    return isinstance(given, str) and depth <= 3


def _paired(text: Any, text_pair: Any) -> Any:
    if text_pair is None:
        return text
    if isinstance(text_pair, str):
        raise TypeError("with a batch of texts, `text_pair` must be a list of the same length")
    if len(text) != len(text_pair):
        raise ValueError(f"batch length of `text` ({len(text)}) does not match batch length of `text_pair` ({len(text_pair)})")
    return zip(text, text_pair, strict=True)


def _row(item: Any, is_split_into_words: bool) -> Row:
    if _is_text(item, is_split_into_words):
        return _text(item), None
    if isinstance(item, (list, tuple)) and len(item) == 2 and all(_is_text(part, is_split_into_words) for part in item):
        return _text(item[0]), _text(item[1])
    raise TypeError(f"{_WHAT_IS_ACCEPTED}; not {item!r:.80}")


def _is_text(item: Any, is_split_into_words: bool) -> bool:
    if not is_split_into_words:
        return isinstance(item, str)
    return isinstance(item, (list, tuple)) and all(isinstance(word, str) for word in item)


def _text(item: Any) -> Text:
    return item if isinstance(item, str) else list(item)
