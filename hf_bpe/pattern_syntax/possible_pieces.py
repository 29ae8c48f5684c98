"""Whether splitting can ever give a text as a piece: decided for all texts at once, on the automata of the patterns.

A match depends on nothing before it. So a text can be a match exactly if the automaton, having read the text and then the
mark, can still come to accept. Where that is hard to tell, for text between matches and for stages, the answer errs on the
side of yes: who asks may leave out what is no piece.

Alternative considered: to split the text in a few surroundings. It missed pieces that need others: `x(?=七)`.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from hf_bpe.pattern_syntax.split_automaton import SplitAutomaton, split_automaton

__all__ = ["can_be_a_piece", "can_be_part_of_a_piece"]

Unmatched: TypeAlias = Literal["keep", "drop"]

_Tried: TypeAlias = tuple[int, frozenset[int]]
"""The state of a text without a mark, and those of the same text with a mark at each of its places."""

_START = 0
_MOST_TRIED = 2000
_FAR = 100
"""How far into a long text it is looked whether a match begins."""


def can_be_a_piece(text: str, pattern: str | None, unmatched: Unmatched, stages: tuple[str, ...] = ()) -> bool:
    r"""Whether some text has this one as a piece. No is certain; yes is, where one pattern matches everything.

    >>> can_be_a_piece("<s>", r"\p{L}+|\P{L}+", "keep"), can_be_a_piece("s", r"\p{L}+|\P{L}+", "keep")
    (False, True)
    """
    *outer, last = _rules(pattern, unmatched, stages)
    return all(rule.can_be_part(text) for rule in outer) and last.can_be(text)


def can_be_part_of_a_piece(text: str, pattern: str | None, unmatched: Unmatched, stages: tuple[str, ...] = ()) -> bool:
    r"""Whether some text has a piece that this one is a part of. No is certain.

    >>> can_be_part_of_a_piece("<s>", r"\p{L}+|\P{L}+", "keep"), can_be_part_of_a_piece("s", r"\p{L}+|\P{L}+", "keep")
    (False, True)
    """
    return all(rule.can_be_part(text) for rule in _rules(pattern, unmatched, stages))


@lru_cache(maxsize=64)
def _rules(pattern: str | None, unmatched: Unmatched, stages: tuple[str, ...]) -> list[_Rule]:
    """One for each time that text is split; what is not provable, or whole texts, can be anything."""
    if pattern is None:
        return [_Rule()]
    automata = [split_automaton(each) for each in (pattern, *stages)]
    kept = [unmatched == "keep", *(True for _ in stages)]
    return [_Rule() if found is None else _Split(found, keeps) for found, keeps in zip(automata, kept, strict=True)]


class _Rule:
    """What pieces can be: anything."""

    def can_be(self, text: str) -> bool:
        """Whether the text can be a piece."""
        return True

    def can_be_part(self, text: str) -> bool:
        """Whether it can be part of a piece."""
        return True


class _Split(_Rule):
    """What the matches of a pattern can be, and, if it is kept, the text between them."""

    def __init__(self, automaton: SplitAutomaton, keeps_unmatched: bool) -> None:
        self._automaton = automaton
        self._keeps_unmatched = keeps_unmatched
        self._within = self._unmarked()

    def can_be(self, text: str) -> bool:
        """Whether the text can be a piece."""
        automaton = self._automaton
        return automaton.marked(automaton.after(_START, text)) != automaton.never or self._can_be_unmatched(text)

    def can_be_part(self, text: str) -> bool:
        """Whether it can be part of a piece."""
        automaton = self._automaton
        return any(automaton.after(state, text) != automaton.never for state in self._within) or self._can_be_unmatched(text)

    def _can_be_unmatched(self, text: str) -> bool:
        """Whether it can be, or be part of, what is left between matches: at each of its places, taken alone, none need begin."""
        starts = range(min(len(text), _FAR))
        return self._keeps_unmatched and all(self._can_miss(text[start : start + _FAR]) for start in starts)

    def _can_miss(self, text: str) -> bool:
        """Whether some text that begins like this has no match at its start."""
        tried: _Tried = (_START, frozenset())
        for character in text:
            tried = self._after(tried, self._automaton.letter(character))
        return self._missing is None or tried in self._missing

    def _after(self, tried: _Tried, letter: int) -> _Tried:
        table = self._automaton.table
        state, ended = table[tried[0]][letter], tried[1]
        ends = {*(table[marked][letter] for marked in ended), self._automaton.marked(state)}
        return state, frozenset(ends - {self._automaton.never})

    @cached_property
    def _missing(self) -> set[_Tried] | None:
        """Where a text may stand of which some continuation has no match at its start; None if there is too much to look at."""
        comes_from: dict[_Tried, list[_Tried]] = {(_START, frozenset()): []}
        queue = list(comes_from)
        for tried in queue:
            for letter in range(len(self._automaton.table[0]) - 1):
                after = self._after(tried, letter)
                if after not in comes_from:
                    if len(comes_from) >= _MOST_TRIED:
                        return None
                    comes_from[after] = []
                    queue.append(after)
                comes_from[after].append(tried)
        found = {tried for tried in comes_from if tried[1].isdisjoint(self._automaton.accepting)}
        queue = list(found)
        for tried in queue:
            earlier = set(comes_from[tried]) - found
            found |= earlier
            queue += earlier
        return found

    def _unmarked(self) -> list[int]:
        """The states of a text without a mark."""
        found = [_START]
        for state in found:
            found += [target for target in dict.fromkeys(self._automaton.table[state][:-1]) if target not in found]
        return found
