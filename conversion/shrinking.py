"""Making a text that shows something as short as leaving out parts of it can make it."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["shrink"]


def shrink(text: str, still_shows: Callable[[str], bool], effort: int) -> str:
    """Leave out ever smaller parts for as long as the rest still shows it.

    effort: how many characters to try at most.

    >>> shrink("xxabyy", lambda text: "ab" in text, 1000)
    'ab'
    """
    size = max(1, len(text) // 2)
    while size and effort > 0:
        start, before = 0, len(text)
        while start < len(text) and effort > 0:
            rest = text[:start] + text[start + size :]
            effort -= len(rest)
            if still_shows(rest):
                text = rest
            else:
                start += size
        if size == 1 and len(text) < before:
            continue  # what could not be left out before may be now
        size = min(size // 2, len(text))
    return text
