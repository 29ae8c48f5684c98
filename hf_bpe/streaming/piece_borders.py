"""Which pieces of a text more text can no longer change: read off the automaton of the split pattern.

The normal form of a pattern (`hf_bpe.pattern_syntax.normal_form`) accepts exactly the texts in which a mark stands where the first
match ends. Put the mark behind a piece and read on: once the automaton is in the state that accepts whatever follows, the
piece ends there in every text that begins so. The published patterns get there within a letter or two, but for white space.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from hf_bpe.pattern_syntax import normal_form, parse

__all__ = ["PieceBorders", "piece_borders"]

_PIECES_KEPT = 1 << 16


class PieceBorders:
    """Proves where pieces of a pattern end."""

    def __init__(self, letters: tuple[tuple[int, int], ...], table: tuple[tuple[int, ...], ...], accepting: frozenset[int]) -> None:
        self._starts = [start for start, _ in letters]
        self._numbers = [number for _, number in letters]
        self._table = table
        states = range(len(table))
        self._always = next((n for n in states if n in accepting and set(table[n][:-1]) == {n}), -1)
        self._never = next((n for n in states if n not in accepting and set(table[n]) == {n}), -1)
        self._letter_of: dict[str, int] = {}
        self._after_piece: dict[str, int] = {}

    def is_piece(self, text: str, start: int, stop: int) -> bool:
        """Whether the first match from `start` on ends at `stop`, whatever follows the text."""
        table, always, never = self._table, self._always, self._never
        state = self._behind(text[start:stop])
        for place in range(stop, len(text)):
            if state in (always, never):
                break
            state = table[state][self._letter(text[place])]
        return state == always

    def is_gap(self, text: str, start: int, stop: int) -> bool:
        """Whether no match begins at any place from `start` to before `stop`, whatever follows the text."""
        return all(self._has_no_match(text, place) for place in range(start, stop))

    def _has_no_match(self, text: str, start: int) -> bool:
        table, never = self._table, self._never
        state, marked = 0, set[int]()
        for place in range(start, len(text)):
            marked.add(table[state][-1])
            letter = self._letter(text[place])
            state, marked = table[state][letter], {table[found][letter] for found in marked} - {never}
            if self._always in marked:
                return False
            if state == never and not marked:
                return True
        return False

    def _behind(self, piece: str) -> int:
        """The state behind a piece with a mark at its end."""
        known = self._after_piece.get(piece)
        if known is None:
            state = 0
            for character in piece:
                state = self._table[state][self._letter(character)]
            known = self._table[state][-1]
            if len(self._after_piece) < _PIECES_KEPT and len(piece) < 32:
                self._after_piece[piece] = known
        return known

    def _letter(self, character: str) -> int:
        known = self._letter_of.get(character)
        if known is None:
            known = self._letter_of[character] = self._numbers[bisect_right(self._starts, ord(character)) - 1]
        return known


@lru_cache(maxsize=64)
def piece_borders(pattern: str) -> PieceBorders | None:
    """The borders of a pattern; None where nothing can be proved: it looks at what precedes a match, or is too large.

    >>> borders = piece_borders(r"[a-z]+|.")
    >>> borders.is_piece("ab c", 0, 2), borders.is_piece("ab", 0, 2)
    (True, False)
    """
    form = normal_form(parse(pattern))
    return None if form is None else PieceBorders(form.letters, form.table, frozenset(form.accepting))
