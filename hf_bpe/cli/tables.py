"""Tables on a terminal of any width."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from hf_bpe.cli.console import out

if TYPE_CHECKING:
    from hf_bpe.analysis.report.table import Table

__all__ = ["print_table"]

_GAP = 2
_NARROW = 12
"""Headings of columns are cut into lines of about so much."""


def print_table(table: Table) -> Sequence[str]:
    """Print the columns that there is room for, from the left; give the names of the others. A pipe has room for all."""
    cells = [max((cell_len(row[place]) for row in table.rows), default=0) for place in range(len(table.columns))]
    if out.is_terminal:  # long names take several lines, and leave room for figures
        cells[: table.headings] = [min(cell, max(_NARROW, out.width // 4)) for cell in cells[: table.headings]]
    headings = [wrap(column, max(cell, _NARROW)) for column, cell in zip(table.columns, cells, strict=True)]
    widths = [max(cell, *map(cell_len, lines)) for cell, lines in zip(cells, headings, strict=True)]
    room = out.width if out.is_terminal else sum(widths) + _GAP * len(widths)
    fitting = len(widths)
    while fitting > table.headings + 1 and sum(widths[:fitting]) + _GAP * (fitting - 1) > room:
        fitting -= 1
    shown = Shown(
        box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", title=table.title, title_justify="left"
    )
    for place, lines in enumerate(headings[:fitting]):
        justify: Literal["left", "right"] = "left" if place < table.headings else "right"
        shown.add_column(Text("\n".join(lines)), justify=justify, width=widths[place], overflow="fold")
    for row in table.rows:
        shown.add_row(*map(Text, row[:fitting]))
    console = out if out.is_terminal else Console(width=room, highlight=False)
    console.print(shown)
    console.print()
    return table.columns[fitting:]
