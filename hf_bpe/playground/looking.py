"""What is asked for, looked at: a column for each tokenizer, with the tokens of a window of the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hf_bpe.analysis import View, view
from hf_bpe.analysis.conversation import Conversation
from hf_bpe.analysis.differences import Differences, differences
from hf_bpe.analysis.pretokens import Alternative, pretokens
from hf_bpe.errors import HfBpeError
from hf_bpe.playground.asked import Asked
from hf_bpe.playground.cells import Cell, Piece, cells_of
from hf_bpe.playground.chatting import converse
from hf_bpe.playground.shelf import Shelf, Shown

__all__ = ["WINDOW", "Column", "Looked", "look"]

WINDOW = 4000
"""Characters on one page. Those of three tokenizers are up to 1 MB of HTML, which a browser draws in 0.3 s; of 250,000
characters it would be 68 MB, and 18 s to make.
"""


@dataclass(frozen=True)
class Column:
    """What one tokenizer makes of the text. problem: why it made nothing of it, as a sentence. notes: what to know about it.

    pieces: the tokens of the window.
    """

    shown: Shown
    view: View | None = None
    conversation: Conversation | None = None
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

    @cached_property
    def taken(self) -> list[tuple[Alternative, int]]:
        """The alternatives of the patterns that took pieces of the window, and how many."""
        counts = Counter(each for piece in self.pieces for each in piece.matched if each is not None)
        return sorted(counts.items())


@dataclass(frozen=True)
class Looked:
    """All columns. start, stop: the window. characters, size: of the text, or of the longest where templates made several; size
    in bytes. apart: where they cut it differently; None where there is nothing to compare.
    """

    asked: Asked
    columns: list[Column]
    start: int
    stop: int
    characters: int
    size: int
    apart: Differences | None = None

    @property
    def differing_share(self) -> float:
        """The share of the text that is not cut alike."""
        return 0.0 if self.apart is None else self.apart.differing_bytes / max(1, self.size)


def look(asked: Asked, shelf: Shelf) -> Looked:
    """What was asked for. A tokenizer that fails has its reason in its column; the others are shown all the same."""
    columns = [_column(shelf.find(key), asked) for key in asked.tokenizers]
    views = [column.view for column in columns if column.view is not None]
    text = max((each.text for each in views), key=len, default=asked.text)
    start = min(asked.start, max(0, len(text) - 1)) // WINDOW * WINDOW
    stop = min(start + WINDOW, len(text))
    apart = differences(views) if len(views) > 1 and len({each.text for each in views}) == 1 else None
    shown = [_with_pieces(column, asked, start, start + WINDOW, views, apart) for column in columns]
    return Looked(asked, shown, start, stop, len(text), len(text.encode("utf-8", "replace")), apart)


def _column(shown: Shown, asked: Asked) -> Column:
    try:
        if asked.messages is None:
            return Column(shown, view(shown.vocabulary, asked.text, allowed_special="all" if asked.specials else ()))
        conversation, notes = converse(shown, asked)
        return Column(shown, conversation.view, conversation, notes=notes)
    except HfBpeError as error:
        return Column(shown, problem=str(error))


def _with_pieces(
    column: Column, asked: Asked, start: int, stop: int, views: Sequence[View], apart: Differences | None
) -> Column:
    tokens = column.view
    if tokens is None:
        return column
    number = next(number for number, each in enumerate(views) if each is tokens)
    marks = None if apart is None else apart.marks(number)
    pieces = cells_of(tokens, start, stop, marks, column.conversation, by_word=asked.layout != "pieces")
    if asked.layout != "pieces":
        return replace(column, pieces=pieces)
    found = pretokens(tokens, range(pieces[0].number, pieces[-1].number + 1)) if pieces else []
    return replace(
        column,
        pieces=[replace(piece, matched=pretoken.matched) for piece, pretoken in zip(pieces, found, strict=True)],
        notes=(*column.notes, *_about_pieces(column.shown)),
    )


def _about_pieces(shown: Shown) -> list[str]:
    if shown.spec.sentencepiece is not None:
        return ["A SentencePiece model splits nothing before it merges: only added and user-defined tokens set borders."]
    return (
        []
        if shown.spec.pattern is not None
        else ["This tokenizer has no split pattern: the text between special tokens is one piece."]
    )
