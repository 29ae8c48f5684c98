"""What is asked for, looked at: a column for each tokenizer, with the tokens of a window of the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hf_bpe.analysis import View, view
from hf_bpe.analysis.differences import Differences, differences
from hf_bpe.chat import TEMPLATES
from hf_bpe.errors import HfBpeError
from hf_bpe.playground.asked import Asked
from hf_bpe.playground.cells import Cell, Piece, cells_of
from hf_bpe.playground.chatting import Conversed, converse
from hf_bpe.playground.shelf import Shelf, Shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["WINDOW", "Column", "Looked", "look"]

WINDOW = 4000
"""Characters on one page. A browser takes 0.1 s for the tokens of three tokenizers; for those of a megabyte it would take 20 s."""


@dataclass(frozen=True)
class Column:
    """What one tokenizer makes of the text. problem: why it made nothing of it, as a sentence. notes: what to know about it."""

    shown: Shown
    view: View | None = None
    problem: str | None = None
    notes: tuple[str, ...] = ()
    pieces: Sequence[Piece] = ()

    @property
    def cells(self) -> list[Cell]:
        """The tokens of the window."""
        return [cell for piece in self.pieces for cell in piece.cells]

    @property
    def tokens(self) -> int:
        """How many tokens the whole text has."""
        return 0 if self.view is None else len(self.view)

    @property
    def bytes_per_token(self) -> float | None:
        """Of the whole text; None where there is nothing to divide by."""
        return len(self.view.text.encode()) / len(self.view) if self.view else None

    @property
    def characters_per_token(self) -> float | None:
        """The same in characters."""
        return len(self.view.text) / len(self.view) if self.view else None


@dataclass(frozen=True)
class Looked:
    """All columns. start, stop, characters: the window, and how long the longest text is. differing: stretches cut differently;
    None where there is nothing to compare."""

    asked: Asked
    columns: list[Column]
    start: int
    stop: int
    characters: int
    size: int
    differing: int | None = None
    differing_share: float = 0.0
    alternatives: Counter[int] = field(default_factory=Counter)

    @property
    def is_empty(self) -> bool:
        """Whether there is no text to look at."""
        return self.characters == 0


def look(asked: Asked, shelf: Shelf) -> Looked:
    """What was asked for. A tokenizer that fails has its reason in its column; the others are shown all the same."""
    found = [_one(shelf, key, asked) for key in asked.tokenizers]
    views = [column.view for column, _ in found if column.view is not None]
    longest = max(views, key=lambda each: len(each.text), default=None)
    text = asked.text if longest is None else longest.text
    start = min(asked.start, max(0, len(text) - 1)) // WINDOW * WINDOW
    stop = min(start + WINDOW, len(text))
    apart = differences(views) if len(views) > 1 and len({each.text for each in views}) == 1 else None
    columns = []
    for column, conversed in found:
        if column.view is None:
            columns.append(column)
            continue
        marks = None if apart is None else apart.marks(len([c for c in columns if c.view is not None]))
        trusted = None if conversed is None else conversed.trusted
        columns.append(_with_cells(column, start, stop, marks, trusted))
    size = len(text.encode("utf-8", "replace"))
    return Looked(asked, columns, start, stop, len(text), size, *_apart(apart, size))


def _one(shelf: Shelf, key: str, asked: Asked) -> tuple[Column, Conversed | None]:
    shown = shelf.find(key)
    try:
        if asked.messages is not None:
            conversed = converse(shown, asked)
            return Column(shown, conversed.view, notes=conversed.notes), conversed
        return Column(shown, view(shown.vocabulary, asked.text, allowed_special="all" if asked.specials else ())), None
    except HfBpeError as error:
        return Column(shown, problem=str(error)), None


def _with_cells(
    column: Column, start: int, stop: int, marks: NDArray[np.bool_] | None, trusted: NDArray[np.bool_] | None
) -> Column:
    return column if column.view is None else Column(
        column.shown, column.view, None, column.notes, cells_of(column.view, start, stop, marks, trusted)
    )


def _apart(apart: Differences | None, size: int) -> tuple[int | None, float]:
    return (None, 0.0) if apart is None else (len(apart), apart.differing_bytes / max(1, size))
