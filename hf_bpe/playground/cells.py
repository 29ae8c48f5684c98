"""Tokens of a window of the text, ready to be drawn: what is shown for each, and what a screen reader says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from hf_bpe.analysis import Token, View
from hf_bpe.analysis.conversation import Conversation, Writer
from hf_bpe.analysis.pretokens import Alternative
from hf_bpe.analysis.visible import Glyph, glyphs_of_bytes
from hf_bpe.pieces import SPACE_SYMBOL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["COLOURS", "Cell", "Piece", "cells_of"]

COLOURS = 6
"""Of the style sheet: enough that neighbours, and the same token in two lines, hardly ever have the same."""
_SHOWN = 300
"""Bytes of one token that are drawn: an added token may take a megabyte of white space along."""
_WORD = 96
"""Tokens of a piece whose merges can be watched."""


@dataclass(frozen=True)
class Cell:
    """One token. more: how many of its bytes are not drawn. differs: whether others cut the text otherwise here. writer: who
    wrote it; None outside of conversations.
    """

    token: Token
    glyphs: tuple[Glyph, ...]
    more: int
    differs: bool
    writer: Writer | None

    @property
    def classes(self) -> str:
        """For the style sheet."""
        names = [f"c{self.token.number % COLOURS}", self.token.kind]
        names += ["part"] * (len(self.token.shares) > 1) + ["differs"] * self.differs
        names += [] if self.writer is None else ["trusted" if self.writer == "template" else "untrusted"]
        return " ".join(names)

    @property
    def begins_with_line_feed(self) -> bool:
        """Whether it should not stand on a line of its own."""
        return self.token.content.startswith(b"\n")

    @property
    def ends_line(self) -> bool:
        """Whether what stands behind it begins a line."""
        return self.token.content.endswith(b"\n") and not self.more

    @property
    def hexadecimal(self) -> str:
        """Its bytes, such as `48 65`."""
        return self.token.content[:_SHOWN].hex(" ").upper()

    @property
    def spoken(self) -> str:
        """The token in words.

        >>> from hf_bpe import TokenizerSpec
        >>> from hf_bpe.analysis import view
        >>> tokens = view(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()), "a b")
        >>> cells_of(tokens, 0, 3)[0].cells[1].spoken
        'space; id 32, bytes 1 to 2'
        """
        said = ", ".join(glyph.stands_for or glyph.shown for glyph in self.glyphs) or "nothing"
        parts = [f"{said}; id {self.token.id}, bytes {self.token.in_bytes[0]} to {self.token.in_bytes[1]}"]
        parts += [_KINDS[self.token.kind]] if self.token.kind in _KINDS else []
        parts += ["part of a character"] * (len(self.token.shares) > 1) + ["cut differently"] * self.differs
        parts += [] if self.writer is None else [_WRITERS[self.writer]]
        return ", ".join(parts)


_KINDS = {"special": "special token", "added": "added token", "unknown": "unknown to the vocabulary"}
_WRITERS: dict[Writer, str] = {
    "template": "trusted: from the template",
    "message": "untrusted: from a message",
    "both": "untrusted: in part from a message",
    "unknown": "untrusted: of unknown origin",
}


@dataclass(frozen=True)
class Piece:
    """A pre-token: what merging never crosses the borders of; of SentencePiece models a word of one. matched: the alternatives
    of the patterns that took it. word: its bytes in hexadecimal; empty where its merges cannot be watched.
    """

    number: int
    cells: Sequence[Cell]
    word: str
    matched: tuple[Alternative | None, ...] = ()


def cells_of(
    tokens: View,
    start: int,
    stop: int,
    marks: NDArray[np.bool_] | None = None,
    conversation: Conversation | None = None,
    *,
    by_word: bool = False,
) -> list[Piece]:
    """The tokens that begin between two characters, in their pieces. marks: whether each token of the view is cut differently
    elsewhere. by_word: cut the pieces of a SentencePiece model, which are whole texts, in front of spaces.
    """
    import numpy as np

    begins = np.maximum.accumulate(tokens.in_characters[:, 0]) if len(tokens) else tokens.ids
    first, last = begins.searchsorted([start, stop]).tolist()
    if stop >= len(tokens.text):
        last = len(tokens)  # what a model puts behind the text stands for none of it
    cells = [
        _cell(
            token, marks is not None and bool(marks[token.number]), None if conversation is None else conversation.writer(token)
        )
        for token in tokens[first:last]
    ]
    if tokens.vocabulary.encoder.spec.sentencepiece is None:
        groups = {number: list(group) for number, group in groupby(cells, key=lambda cell: cell.token.piece)}
        numbers = np.array(list(groups), tokens.pieces.dtype)  # of another type they would make a copy of all pieces
        firsts, lasts = (tokens.pieces.searchsorted(numbers, side).tolist() for side in ("left", "right"))
        words = [_word(tokens, *bounds) for bounds in zip(firsts, lasts, strict=True)]
        return [Piece(number, group, word) for (number, group), word in zip(groups.items(), words, strict=True)]
    starts = accumulate(by_word and cell.token.spelled.startswith(SPACE_SYMBOL) for cell in cells)
    pairs = groupby(zip(cells, starts, strict=True), key=lambda pair: (pair[0].token.piece, pair[1]))
    runs = [(number, [cell for cell, _ in run]) for (number, _), run in pairs]
    return [Piece(number, run, _word_of_model(run)) for number, run in runs]


def _cell(token: Token, differs: bool, writer: Writer | None) -> Cell:
    content = token.content[:_SHOWN]
    return Cell(token, tuple(glyphs_of_bytes(content)), len(token.content) - len(content), differs, writer)


def _word(tokens: View, first: int, last: int) -> str:
    """The bytes of a piece by its tokens, some of which may stand before the window."""
    if last - first > _WORD or tokens.added[first]:
        return ""
    return b"".join(each.content for each in tokens[first:last]).hex()


def _word_of_model(cells: Sequence[Cell]) -> str:
    """A word as a SentencePiece model merges it: normalised, with the sign for spaces."""
    if len(cells) > _WORD or any(cell.token.kind in ("special", "added", "unknown") for cell in cells):
        return ""
    parts = [cell.token.content if cell.token.kind == "byte" else cell.token.spelled.encode() for cell in cells]
    return b"".join(parts).hex()
