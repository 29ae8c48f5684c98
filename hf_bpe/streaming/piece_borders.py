"""Which pieces of a text more text can no longer change: read off the automaton of the split pattern.

Put the mark behind a piece and read on: once the automaton is in the state that accepts whatever follows, the piece ends there in
every text that begins so. The published patterns get there within a letter or two, but for white space.
"""

from __future__ import annotations

from hf_bpe.pattern_syntax.split_automaton import SplitAutomaton

__all__ = ["PieceBorders"]

_PIECES_KEPT = 1 << 16
_LONGEST_KEPT = 32


class PieceBorders:
    """Proves where pieces of a pattern end.

    >>> from hf_bpe.pattern_syntax.split_automaton import split_automaton
    >>> borders = PieceBorders(split_automaton(r"[a-z]+|."))
    >>> borders.is_piece("ab c", 0, 2), borders.is_piece("ab", 0, 2)
    (True, False)
    """

    def __init__(self, automaton: SplitAutomaton) -> None:
        self._automaton = automaton
        self._after_piece: dict[str, int] = {}

    def is_piece(self, text: str, start: int, stop: int) -> bool:
        """Whether the first match from `start` on ends at `stop`, whatever follows the text."""
        table, letter = self._automaton.table, self._automaton.letter
        always, never = self._automaton.always, self._automaton.never
        state = self._behind(text[start:stop])
        for place in range(stop, len(text)):
            if state in (always, never):
                break
            state = table[state][letter(text[place])]
        return state == always

    def is_gap(self, text: str, start: int, stop: int) -> bool:
        """Whether no match begins at any place from `start` to before `stop`, whatever follows the text."""
        return not self._automaton.is_total and all(self._has_no_match(text, place) for place in range(start, stop))

    def _has_no_match(self, text: str, start: int) -> bool:
        automaton = self._automaton
        table, never = automaton.table, automaton.never
        state, marked = 0, set[int]()
        for place in range(start, len(text)):
            marked.add(automaton.marked(state))
            letter = automaton.letter(text[place])
            state, marked = table[state][letter], {table[found][letter] for found in marked} - {never}
            if automaton.always in marked:
                return False
            if state == never and not marked:
                return True
        return False

    def _behind(self, piece: str) -> int:
        """The state behind a piece with a mark at its end."""
        known = self._after_piece.get(piece)
        if known is None:
            known = self._automaton.marked(self._automaton.after(0, piece))
            if len(self._after_piece) < _PIECES_KEPT and len(piece) < _LONGEST_KEPT:
                self._after_piece[piece] = known
        return known
