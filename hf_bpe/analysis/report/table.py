"""A table of text, and how it is made and written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Table", "beside", "in_markdown", "markdown_text"]


@dataclass(frozen=True)
class Table:
    """Rows of text. headings: how many columns, from the left, say what a row is about."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    headings: int = 1


def beside(title: str, heading: str, columns: Mapping[str, Sequence[tuple[str, str]]]) -> Table:
    """Columns of the same rows, each row by its name."""
    labels = [label for label, _ in max(columns.values(), key=len)]
    rows = [
        [label, *(column[place][1] if place < len(column) else "-" for column in columns.values())]
        for place, label in enumerate(labels)
    ]
    return Table(title, [heading, *columns], rows)


def in_markdown(table: Table) -> str:
    """The table in Markdown.

    >>> print(in_markdown(Table("t", ["a", "b"], [["x|y", "1"]])), end="")
    | a | b |
    |---|---:|
    | x\\|y | 1 |
    """
    rule = "|".join("---" if place < table.headings else "---:" for place in range(len(table.columns)))
    rows = [table.columns, *table.rows]
    lines = [f"| {' | '.join(map(markdown_text, row))} |" for row in rows]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]]) + "\n"


def markdown_text(value: str) -> str:
    """Text on one line with nothing in it that Markdown would read as more than that."""
    return re.sub(r"([|\\`*_<\[])", r"\\\1", " ".join(value.split()))
