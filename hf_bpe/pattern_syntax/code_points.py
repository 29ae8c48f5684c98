r"""Which code points a `\p{...}` or a `[...]` stands for, in the one version of Unicode that every engine here knows (16.0)."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from hf_bpe.pattern_syntax.tree import SCRIPTS, SPACE, Class, Property, Span

LAST = 0x10FFFF


@cache
def _tables() -> dict[str, list[list[int]]]:
    return json.loads(files("hf_bpe").joinpath("engine/unicode_tables.json").read_text("utf-8"))  # type: ignore[no-any-return]


@cache
def _categories() -> frozenset[str]:
    return frozenset(name for name in _tables() if len(name) == 2 and name not in SCRIPTS)


@cache
def categories_of(name: str) -> list[str]:
    """The two-letter general categories that a property is a union of; none where it is not one.

    >>> categories_of("N")
    ['Nd', 'Nl', 'No']
    """
    if name == "any":
        return sorted(_categories())
    if name == "LC":
        return ["Lu", "Ll", "Lt"]
    return sorted(c for c in _categories() if c == name or (len(name) == 1 and c[0] == name))


@cache
def property_members(item: Property) -> list[Span]:
    """The code points of a property, in ascending spans."""
    tables = _tables()
    if item.name == "space":
        spans = list(SPACE)
    elif item.name == "word":
        names = ["Alphabetic", "Mn", "Mc", "Me", "Nd", "Pc"]
        spans = [Span(a, b) for name in names for a, b in tables[name]] + [Span(0x200C, 0x200D)]
    else:
        spans = [Span(a, b) for name in categories_of(item.name) or [item.name] for a, b in tables[name]]
    return complement(union(spans)) if item.negated else union(spans)


def members(node: Class) -> list[Span]:
    """The code points of a class, in ascending spans."""
    spans = union(span for item in node.items for span in ([item] if isinstance(item, Span) else property_members(item)))
    return complement(spans) if node.negated else spans


def common(one: list[Span], other: list[Span]) -> list[Span]:
    """The code points of both, given and returned as `union` does."""
    return complement(union([*complement(one), *complement(other)]))


def union(spans: Iterable[Span]) -> list[Span]:
    """The same code points in ascending spans that neither overlap nor touch."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.first):
        if merged and span.first <= merged[-1].last + 1:
            merged[-1] = Span(merged[-1].first, max(span.last, merged[-1].last))
        else:
            merged.append(span)
    return merged


def complement(spans: list[Span]) -> list[Span]:
    """All other code points; `spans` as `union` gives them."""
    edges = [-1, *(edge for span in spans for edge in (span.first, span.last)), LAST + 1]
    return [Span(a + 1, b - 1) for a, b in zip(edges[::2], edges[1::2], strict=True) if a + 1 <= b - 1]


@cache
def _category_runs() -> tuple[list[int], list[str]]:
    """Where each run of code points of one category starts, and that category. Surrogates are no text and left out."""
    runs = sorted((first, name) for name in _categories() for first, _ in _tables()[name])
    return [first for first, _ in runs], [name for _, name in runs]


def category_runs(first: int, last: int) -> tuple[list[int], list[str]]:
    """The runs of one category within first..last: where each starts, and the categories."""
    starts, names = _category_runs()
    begin, end = bisect_left(starts, first + 1) - 1, bisect_left(starts, last + 1)
    return [max(first, starts[begin]), *starts[begin + 1 : end]], names[begin:end]
