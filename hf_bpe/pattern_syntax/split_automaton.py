"""The normal form of a split pattern at work on a text."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property, lru_cache

from hf_bpe.pattern_syntax.normal_form import NormalForm, normal_form
from hf_bpe.pattern_syntax.reader import parse

__all__ = ["SplitAutomaton", "split_automaton"]

_MOST_STATES = 5000


class SplitAutomaton:
    """Accepts the texts in which a mark stands where the first match of a pattern ends: see `hf_bpe.pattern_syntax.normal_form`.

    State 0 is the start. never: the state that accepts nothing that follows. always: the one behind the mark that accepts whatever
    does. Either is -1 where there is none.
    """

    def __init__(self, form: NormalForm) -> None:
        self._starts = [start for start, _ in form.letters]
        self._numbers = [number for _, number in form.letters]
        self.table = table = form.table
        self.accepting = frozenset(form.accepting)
        states = range(len(table))
        self.always = next((n for n in states if n in self.accepting and set(table[n][:-1]) == {n}), -1)
        self.never = next((n for n in states if n not in self.accepting and set(table[n]) == {n}), -1)
        self._letter_of: dict[str, int] = {}

    def letter(self, character: str) -> int:
        """The column of the table that a character stands for."""
        known = self._letter_of.get(character)
        if known is None:
            known = self._letter_of[character] = self._numbers[bisect_right(self._starts, ord(character)) - 1]
        return known

    def after(self, state: int, text: str) -> int:
        """The state once a text was read."""
        for character in text:
            state = self.table[state][self.letter(character)]
        return state

    def marked(self, state: int) -> int:
        """The state once the mark was read."""
        return self.table[state][-1]

    @cached_property
    def samples(self) -> list[str]:
        """A character for each letter that a text can hold."""
        found = dict(zip(reversed(self._numbers), reversed(self._starts), strict=True))
        return [chr(start) for _, start in sorted(found.items()) if not 0xD800 <= start <= 0xDFFF]

    @cached_property
    def is_total(self) -> bool:
        """Whether a match begins wherever the one before ended, in every text; False also where that is too much to find out."""
        start = (0, frozenset[int]())
        known = {start}
        queue = [start]
        for state, marked in queue:
            for character in self.samples:
                after = self.after(state, character)
                behind = frozenset(self.after(found, character) for found in marked) | {self.marked(after)}
                behind -= {self.never}
                if not behind & self.accepting:  # the text may end here, and nothing has matched
                    return False
                if self.always not in behind and (after, behind) not in known:
                    known.add((after, behind))
                    queue.append((after, behind))
            if len(known) > _MOST_STATES:
                return False
        return True


@lru_cache(maxsize=64)
def split_automaton(pattern: str) -> SplitAutomaton | None:
    """The automaton of a pattern; None where there is none to be had: it looks at what precedes a match, or is too large.

    >>> automaton = split_automaton(r"[a-z]+|.")
    >>> automaton.marked(automaton.after(0, "ab")) in automaton.accepting, split_automaton(r"(?<=a)b") is None
    (True, True)
    """
    form = normal_form(parse(pattern))
    return None if form is None else SplitAutomaton(form)
