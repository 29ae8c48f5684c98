"""Tokens of a window of the text, ready to be drawn: what is shown for each, and what a screen reader says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from hf_bpe.analysis import Token, View
from hf_bpe.analysis.visible import Glyph, glyphs_of_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Cell", "Piece", "cells_of"]

_COLOURS = 6
_SHOWN = 300
"""Bytes of one token that are drawn: an added token may take a megabyte of white space along."""
_WORD = 96
"""Tokens of a piece whose merges can be watched."""


@dataclass(frozen=True)
class Cell:
    """One token. more: how many of its bytes are not drawn. differs: whether others cut the text otherwise here. trusted: whether the
    template alone wrote it; None outside of conversations."""

    token: Token
    glyphs: tuple[Glyph, ...]
    more: int
    differs: bool
    trusted: bool | None

    @property
    def classes(self) -> str:
        """For the style sheet."""
        names = [f"c{self.token.number % _COLOURS}", self.token.kind]
        names += ["part"] * (len(self.token.shares) > 1) + ["differs"] * self.differs
        names += [] if self.trusted is None else ["trusted" if self.trusted else "untrusted"]
        return " ".join(names)

    @property
    def hexadecimal(self) -> str:
        """Its bytes, such as `48 65`."""
        return self.token.content[:_SHOWN].hex(" ").upper()

    @property
    def spoken(self) -> str:
        """The token in words.

        >>> from hf_bpe import train
        >>> from hf_bpe.analysis import view
        >>> tokens = view(train(["a b a b"], 257, pattern=None, progress=False), "a b")
        >>> cells_of(tokens, 0, 3)[0].cells[0].spoken
        'a, space; id 256, bytes 0 to 2'
        """
        said = ", ".join(glyph.stands_for or glyph.shown for glyph in self.glyphs) or "nothing"
        parts = [f"{said}; id {self.token.id}, bytes {self.token.in_bytes[0]} to {self.token.in_bytes[1]}"]
        parts += [_KINDS[self.token.kind]] * (self.token.kind in _KINDS)
        parts += ["part of a character"] * (len(self.token.shares) > 1) + ["cut differently"] * self.differs
        parts += [] if self.trusted is None else ["from the template" if self.trusted else "from a message"]
        return ", ".join(parts)


_KINDS = {"special": "special token", "added": "added token", "unknown": "unknown to the vocabulary"}


@dataclass(frozen=True)
class Piece:
    """A pre-token: what merging never crosses the borders of. word: its bytes in hexadecimal; empty where its merges cannot be watched."""

    number: int
    cells: Sequence[Cell]
    word: str
    alternative: int | None = None


def cells_of(
    tokens: View, start: int, stop: int, marks: NDArray[np.bool_] | None = None, trusted: NDArray[np.bool_] | None = None
) -> list[Piece]:
    """The tokens that begin between two characters, in their pieces. marks, trusted: of each token of the view."""
    import numpy as np

    begins = np.maximum.accumulate(tokens.in_characters[:, 0]) if len(tokens) else tokens.ids
    first, last = begins.searchsorted([start, stop]).tolist()
    if stop >= len(tokens.text):
        last = len(tokens)  # what a model puts behind the text stands for none of it
    cells = [
        _cell(token, marks is not None and bool(marks[token.number]), None if trusted is None else bool(trusted[token.number]))
        for token in tokens[first:last]
    ]
    groups = groupby(cells, key=lambda cell: cell.token.piece)
    return [Piece(number, inside, _word(tokens, number, inside[0].token)) for number, inside in _listed(groups)]


def _listed(groups: groupby[int, Cell]) -> list[tuple[int, list[Cell]]]:
    return [(number, list(cells)) for number, cells in groups]


def _cell(token: Token, differs: bool, trusted: bool | None) -> Cell:
    content = token.content[:_SHOWN]
    glyphs = glyphs_of_bytes(content)
    return Cell(token, tuple(glyphs), len(token.content) - len(content), differs, trusted)


def _word(tokens: View, piece: int, token: Token) -> str:
    """The bytes of a piece, which may begin before the window."""
    if token.kind in ("special", "added"):
        return ""
    first, last = tokens.pieces.searchsorted([piece, piece + 1]).tolist()
    if last - first > _WORD:
        return ""
    return b"".join(each.content for each in tokens[first:last]).hex()
