"""How the end of a text can be split into pieces, whatever follows."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import NamedTuple

from hf_bpe.errors import BorderError
from hf_bpe.pattern_syntax.split_automaton import SplitAutomaton, split_automaton

__all__ = ["OpenPiece", "Splits", "splits_of"]

_MOST_WAYS = 10_000


class OpenPiece(NamedTuple):
    """One way in which a text may be split: pieces up to `begin`, and one that may go on after the text.

    borders: where the pieces before it end. state: that of the automaton behind the open piece. owed: its states behind the pieces
    before, each read on to the end of the text; only what leads all of them to acceptance can follow.
    """

    begin: int
    borders: tuple[int, ...]
    state: int
    owed: frozenset[int]


class Splits:
    """The ways of one pattern. `automaton`: None for no pattern, where a text is one piece.

    >>> from hf_bpe.pattern_syntax.split_automaton import split_automaton
    >>> ways = Splits(split_automaton(r"\\s+(?!\\S)|\\s|\\w+")).ways("  ")
    >>> [(way.begin, way.borders) for way in ways]
    [(1, (1,)), (0, ())]
    """

    def __init__(self, automaton: SplitAutomaton | None) -> None:
        self._automaton = automaton
        self._samples = automaton.samples if automaton is not None else []
        self._endings: dict[tuple[int, frozenset[int]], bool] = {}

    def ways(self, text: str) -> list[OpenPiece]:
        """All ways. Raises `BorderError` where there are more than 10,000."""
        automaton = self._automaton
        if automaton is None:
            return [OpenPiece(0, (), 0, frozenset())]
        found = []
        waiting: list[tuple[int, tuple[int, ...], frozenset[int]]] = [(0, (), frozenset())]
        while waiting:
            begin, borders, owed = waiting.pop()
            state = 0
            ends: dict[int, int] = {}  # where the piece may end -> the state behind it, read on to where we are
            for place in range(begin, len(text)):
                if place > begin:
                    ends[place] = automaton.marked(state)
                state = automaton.after(state, text[place])
                ends = {
                    end: after
                    for end, before in ends.items()
                    if (after := automaton.after(before, text[place])) != automaton.never
                }
                if state == automaton.never and not ends:
                    break
            waiting += [(end, (*borders, end), owed | {after}) for end, after in ends.items()]
            way = OpenPiece(begin, borders, state, owed)
            if state != automaton.never and self._can_end(way):
                found.append(way)
            if len(found) + len(waiting) > _MOST_WAYS:
                raise BorderError(
                    f"the end of the text can be split in more than {_MOST_WAYS:,} ways; cut the text before {text!r:.80}"
                )
        return found[::-1]

    def _read(self, states: frozenset[int], text: str) -> frozenset[int]:
        automaton = self._automaton
        return frozenset(automaton.after(state, text) for state in states) if automaton is not None else states

    def go_on(self, way: OpenPiece, text: str) -> OpenPiece | None:
        """The way once the open piece has taken a text; None if it cannot."""
        automaton = self._automaton
        if automaton is None or not text:
            return way
        state, owed = automaton.after(way.state, text), self._read(way.owed, text)
        if state == automaton.never or automaton.never in owed:
            return None
        gone_on = way._replace(state=state, owed=owed)
        return gone_on if self._can_end(gone_on) else None

    def _can_end(self, way: OpenPiece) -> bool:
        """Whether the open piece can end here or later, and all that is owed be met."""
        automaton = self._automaton
        if automaton is None:
            return True
        known = self._endings.get((way.state, way.owed))
        if known is not None:
            return known
        seen = {(way.state, way.owed)}
        queue = deque([way])
        can_end = False
        while queue and not can_end:
            here = queue.popleft()
            can_end = self.text_behind(here) is not None
            for character in self._samples:
                state, owed = automaton.after(here.state, character), self._read(here.owed, character)
                if state != automaton.never and automaton.never not in owed and (state, owed) not in seen:
                    seen.add((state, owed))
                    queue.append(here._replace(state=state, owed=owed))
        self._endings[way.state, way.owed] = can_end
        return can_end

    def text_behind(self, way: OpenPiece) -> str | None:
        """A shortest text with which the open piece ends where it is, "" if none is needed; None if no text does it."""
        automaton = self._automaton
        if automaton is None:
            return ""
        start = way.owed | {automaton.marked(way.state)}
        known = {start: ""}
        queue = deque([start])
        while queue:
            states = queue.popleft()
            if states <= automaton.accepting:
                return known[states]
            for character in self._samples:
                after = self._read(states, character)
                if automaton.never not in after and after not in known:
                    known[after] = known[states] + character
                    queue.append(after)
        return None

    @property
    def is_total(self) -> bool:
        """Whether no text is left between matches; False also where that is too much to find out."""
        return self._automaton is None or self._automaton.is_total


@lru_cache(maxsize=64)
def splits_of(pattern: str | None) -> Splits | None:
    """The splits of a pattern; None where nothing can be proved.

    >>> splits_of(r"(?<=a)b") is None
    True
    """
    if pattern is None:
        return Splits(None)
    automaton = split_automaton(pattern)
    return None if automaton is None else Splits(automaton)
