"""The automaton of the texts in which a mark stands where the first match of a program ends.

It is built as one runs a backtracking engine on all texts at once. Its state is what is left to try, in order of preference:
a thread waiting at an instruction (an int), an outcome, or a tuple of tries that waits for something, as look-arounds, atomic
groups and possessive repeats do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from hf_bpe.pattern_syntax.program import Ahead, AtEnd, Commit, Committed, Instruction, Program, Take, Try, Unprovable

__all__ = ["Automaton", "State"]

MOST_STATES = 2000

_Outcome: TypeAlias = str
_HERE, _MARKED, _ELSEWHERE, _GIVEN_UP = "the match ends here", "it ended at the mark", "it ended elsewhere", "given up"


@dataclass(frozen=True)
class _If:
    """`tries`, if `condition` will have succeeded (or, negated, failed)."""

    condition: _Tries
    negated: bool
    tries: _Tries


@dataclass(frozen=True)
class _Group:
    """An atomic group under way."""

    tries: _Tries


@dataclass(frozen=True)
class _Settled:
    """Within an atomic group: it has ended, and these tries follow it."""

    tries: _Tries


_Item: TypeAlias = "int | _Outcome | _If | _Group | _Settled"
_Tries: TypeAlias = "tuple[_Item, ...]"
_LAST_RESORTS = (_HERE, _MARKED, _ELSEWHERE)


class State(NamedTuple):
    """Where each set of letters leads, where the mark does, and whether the text may end here."""

    follow: list[tuple[int, int]]
    mark: int
    accepting: bool


class Automaton:
    """The automaton of a program, not yet minimal."""

    def __init__(self, program: Program) -> None:
        self._code = program.code
        self._start = program.start
        self._arrivals: dict[int, _Tries] = {}

    def explore(self, every: int) -> list[State]:
        """All states, `every` being all letters. State 0 goes nowhere, state 1 is the start."""
        dead: tuple[_Tries, bool] = ((), True)
        number = {dead: 0, (self._arrive(self._start), False): 1}
        found: list[State] = []
        queue = list(number)
        for tries, marked in queue:
            follow = []
            if tries:
                for letters in self._told_apart(tries, every):
                    after = self._after(tries, letters & -letters)
                    target = (after, marked) if _MARKED in _flat(after) or (after and not marked) else dead
                    if target not in number:
                        if len(number) >= MOST_STATES:
                            raise Unprovable
                        number[target] = len(number)
                        queue.append(target)
                    follow.append((letters, number[target]))
            mark = dead
            if not marked and _HERE in _flat(tries):
                mark = (_put_mark(tries), True)
                if mark not in number:
                    number[mark] = len(number)
                    queue.append(mark)
            found.append(State(follow, number[mark], marked and self._at_end(tries) == _MARKED))
        return found

    def _told_apart(self, tries: _Tries, every: int) -> list[int]:
        """The letters in groups that lead the same way."""
        groups = [every]
        for taken in {instruction.letters for i in _flat(tries) if isinstance(instruction := self._at(i), Take)}:
            groups = [part for group in groups for part in (group & taken, group & ~taken) if part]
        return groups

    def _at(self, item: object) -> Instruction:
        return self._code[item] if isinstance(item, int) else None

    def _arrive(self, place: int) -> _Tries:
        """The tries of a thread that comes to an instruction."""
        known = self._arrivals.get(place)
        if known is None:
            known = self._arrivals[place] = _tidy(self._waits(place))
        return known

    def _waits(self, place: int) -> list[_Item]:
        match instruction := self._code[place]:
            case None:
                return [_HERE]
            case Take() | AtEnd():
                return [place]
            case Try(places):
                return [wait for each in places for wait in self._waits(each)]
            case Ahead(body, negated, then):
                return [_If(self._arrive(body), negated, self._arrive(then))]
            case Commit(body):
                return [_Group(self._arrive(body))]
            case Committed(then):
                return [_Settled(self._arrive(then))]
        raise AssertionError(instruction)

    def _after(self, tries: _Tries, letter: int) -> _Tries:
        """What is left to try once a letter has been read."""
        left: list[_Item] = []
        for item in tries:
            if isinstance(item, int):
                instruction = self._code[item]
                if isinstance(instruction, Take) and instruction.letters & letter:
                    left += self._arrive(instruction.then)
            elif isinstance(item, _If):
                left.append(_If(self._after(item.condition, letter), item.negated, self._after(item.tries, letter)))
            elif isinstance(item, _Group):
                left.append(_Group(self._after(item.tries, letter)))
            elif isinstance(item, _Settled):
                left.append(_Settled(self._after(item.tries, letter)))
            else:
                left.append(_ELSEWHERE if item == _HERE else item)
        return _tidy(left)

    def _at_end(self, tries: _Tries) -> _Outcome | None:
        """The outcome if the text ends here: that of the first try that has one."""
        for item in tries:
            outcome: _Outcome | None = None
            if isinstance(item, int):
                outcome = _HERE if isinstance(self._code[item], AtEnd) else None
            elif isinstance(item, _If):
                if (self._at_end(item.condition) is not None) != item.negated:
                    outcome = self._at_end(item.tries)
            elif isinstance(item, _Group):
                outcome = self._at_end(item.tries)
                if outcome == _GIVEN_UP:
                    outcome = None
            elif isinstance(item, _Settled):
                outcome = self._at_end(item.tries) or _GIVEN_UP
            else:
                outcome = item
            if outcome is not None:
                return outcome
        return None


def _flat(tries: _Tries) -> list[int | _Outcome]:
    """Every thread and outcome in the tries, however deep."""
    flat: list[int | _Outcome] = []
    for item in tries:
        if isinstance(item, _If):
            flat += _flat(item.condition)
            flat += _flat(item.tries)
        elif isinstance(item, _Group | _Settled):
            flat += _flat(item.tries)
        else:
            flat.append(item)
    return flat


def _tidy(items: list[_Item]) -> _Tries:
    """The same tries without those that can make no difference: the impossible, the repeated, and all after a certain one."""
    tidy: dict[_Item, None] = {}

    def add(item: _Item) -> bool:
        """Whether what follows can still matter."""
        if isinstance(item, _If):
            if not item.tries:
                return True
            certain = True if _HERE in item.condition or _ELSEWHERE in item.condition else None if item.condition else False
            if certain is not None:
                return all(map(add, item.tries)) if certain != item.negated else True
        elif isinstance(item, _Group):
            if not item.tries:
                return True
            if isinstance(item.tries[0], _Settled):
                return all(map(add, item.tries[0].tries))
        tidy[item] = None
        return not (item in _LAST_RESORTS or isinstance(item, _Settled))

    for item in items:
        if not add(item):
            break
    return tuple(tidy)


def _put_mark(tries: _Tries) -> _Tries:
    marked: list[_Item] = []
    for item in tries:
        if isinstance(item, _If):
            marked.append(_If(item.condition, item.negated, _put_mark(item.tries)))
        elif isinstance(item, _Group):
            marked.append(_Group(_put_mark(item.tries)))
        elif isinstance(item, _Settled):
            marked.append(_Settled(_put_mark(item.tries)))
        else:
            marked.append(_MARKED if item == _HERE else item)
    return tuple(marked)
