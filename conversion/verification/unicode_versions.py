"""The code points on which the versions of Unicode that are at hand disagree."""

from __future__ import annotations

import unicodedata
from functools import cache

from hf_bpe.pattern_syntax.code_points import LAST, category_runs

__all__ = ["edges_of_categories", "versions_disagree"]

_SURROGATES = range(0xD800, 0xE000)


@cache
def edges_of_categories() -> tuple[str, ...]:
    """The first and the last character of each run of one category, and what newer versions assign in runs without any."""
    starts, names = category_runs(0, LAST)
    edges: list[int] = []
    for start, following, name in zip(starts, [*starts[1:], LAST + 1], names, strict=True):
        edges += [start, following - 1]
        if name == "Cn":
            edges += _assigned_since(start, following)
    return tuple(chr(code) for code in dict.fromkeys(edges) if code not in _SURROGATES)


def versions_disagree(text: str) -> bool:
    """Whether some character of the text has one category here and another in Python or in the `regex` module.

    >>> versions_disagree("abc")
    False
    """
    return any(not _same_everywhere(character) for character in set(text))


@cache
def _same_everywhere(character: str) -> bool:
    import regex

    _, names = category_runs(ord(character), ord(character))
    return unicodedata.category(character) == names[0] and regex.match(rf"\p{{{names[0]}}}", character) is not None


def _assigned_since(start: int, end: int) -> list[int]:
    """The first and the last of each run that `regex` knows a use for."""
    import regex

    text = "".join(map(chr, range(start, end)))
    return [code for run in regex.finditer(r"\P{Cn}+", text) for code in (start + run.start(), start + run.end() - 1)]
