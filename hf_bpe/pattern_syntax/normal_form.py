"""Whether two patterns split every text alike, by proof: each has one smallest automaton, and theirs are the same.

A match depends on the text from its start on, so a pattern is a function from that text to the length of the first match.
Its normal form is the minimal automaton of the texts in which a mark stands where that match ends. Minimal automata are
unique up to the names of their states and letters, which are numbered here in the order they are met. So equal normal
forms mean the same function, and the same function has equal normal forms: `a|b` and `[ab]`, `x{1,}` and `x+`, a
possessive `+` that changes nothing, a branch no text reaches, are all one.

Alternative considered: rewriting the tree step by step until nothing changes. Each step needs its own proof, and there
is always one more spelling; here one construction covers all, and near misses differ because the functions do.

The automaton is built as one runs a backtracking engine on all texts at once. Its state is what is left to try, in order of
preference. What look-arounds, atomic groups and possessive repeats wait for is part of that state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TypeAlias

from hf_bpe.pattern_syntax.code_points import LAST, categories_of, category_runs, property_members, union
from hf_bpe.pattern_syntax.tree import (
    Alternation,
    Atomic,
    Class,
    Edge,
    Look,
    Node,
    Property,
    Repeat,
    Sequence,
    Span,
    classes_in,
    matches_empty,
)

__all__ = ["NormalForm", "normal_form"]

MOST_INSTRUCTIONS = 2000
MOST_STATES = 2000


@dataclass(frozen=True)
class NormalForm:
    """The minimal automaton of a pattern.

    `letters`: (first code point, letter) of each run of code points that the pattern does not tell apart.
    `table`: for each state, where each letter leads; the last column is the mark. State 0 is the start.
    `accepting`: the states in which the text may end, if the mark stood at the end of the match.
    """

    letters: tuple[tuple[int, int], ...]
    table: tuple[tuple[int, ...], ...]
    accepting: tuple[int, ...]

    @property
    def digest(self) -> str:
        """A short name of this form; two forms share one only by a collision of BLAKE2b in 80 bits."""
        return blake2b(repr((self.letters, self.table, self.accepting)).encode(), digest_size=10).hexdigest()


class _Unprovable(Exception):
    """The pattern looks behind itself, or is too large."""


@lru_cache(maxsize=64)
def normal_form(tree: Node) -> NormalForm | None:
    """The normal form, or None where there is none to be had: a pattern that looks at what precedes the match, that can match
    the empty string, or that is too large to be worth it.
    """
    if matches_empty(tree):
        return None
    try:
        alphabet = _Alphabet(tree)
        states = _Automaton(_Program(tree, alphabet.letters_of)).explore(alphabet.every)
    except _Unprovable:
        return None
    return _minimal(states, alphabet)


# ---------------------------------------------------------------------------------------------------------------------
# Letters: sets of code points that no class of the pattern tells apart. A set of letters is an int, one bit for each.


class _Alphabet:
    def __init__(self, tree: Node) -> None:
        classes = {node: 1 << index for index, node in enumerate(classes_in(tree))}
        negated = sum(bit for node, bit in classes.items() if node.negated)
        of_category = dict.fromkeys(categories_of("any"), 0)
        begins: dict[int, int] = {0: 0}
        ends: dict[int, int] = {}
        for node, bit in classes.items():
            for name in {name for item in node.items for name in _as_categories(item)}:
                of_category[name] |= bit
            for span in union(span for item in node.items for span in _as_spans(item)):
                begins[span.first] = begins.get(span.first, 0) | bit
                ends[span.last + 1] = ends.get(span.last + 1, 0) | bit

        # Within an interval no listed span begins or ends, so characters of one category are in the same classes.
        letter_of: dict[int, int] = {}
        self._runs: list[int] = []
        self._letters: list[int] = []
        starts = sorted((begins | ends).keys() - {LAST + 1})
        listed = 0
        for start, following in pairwise([*starts, LAST + 1]):
            listed = listed & ~ends.get(start, 0) | begins.get(start, 0)
            run_starts, names = category_runs(start, following - 1)
            letter_here = {
                name: letter_of.setdefault((of_category[name] | listed) ^ negated, len(letter_of)) for name in set(names)
            }
            self._runs += run_starts
            self._letters += [letter_here[name] for name in names]

        self.size = len(letter_of)
        self.every = (1 << self.size) - 1
        self.letters_of = {
            node: sum(1 << letter for members, letter in letter_of.items() if members & bit) for node, bit in classes.items()
        }

    def order(self, class_of: list[int]) -> list[int]:
        """The classes of letters as they first come in the order of code points."""
        return list(dict.fromkeys(class_of[letter] for letter in dict.fromkeys(self._letters)))

    def runs(self, number: dict[int, int]) -> tuple[tuple[int, int], ...]:
        """(first code point, number) of each run of code points whose letters have one number."""
        numbers = [number[letter] for letter in self._letters]
        return tuple(
            (start, here) for start, here, before in zip(self._runs, numbers, [-1, *numbers], strict=False) if here != before
        )


def _as_categories(item: Span | Property) -> list[str]:
    if isinstance(item, Span) or not (inside := categories_of(item.name)):
        return []
    return [name for name in categories_of("any") if name not in inside] if item.negated else inside


def _as_spans(item: Span | Property) -> list[Span]:
    if isinstance(item, Span):
        return [item]
    return [] if categories_of(item.name) else property_members(item)


# ---------------------------------------------------------------------------------------------------------------------
# The pattern as a program: a thread that has come to an instruction tries what it says, in order of preference.


@dataclass(frozen=True)
class _Take:
    """One character out of `letters`, then go on at `then`."""

    letters: int
    then: int


@dataclass(frozen=True)
class _Try:
    """The first of these that succeeds."""

    places: tuple[int, ...]


@dataclass(frozen=True)
class _AtEnd:
    """Succeeds where the text ends. Only ever the body of an `_Ahead`: so all that comes after it waits in one place."""


@dataclass(frozen=True)
class _Ahead:
    """Go on at `then` if the look-ahead at `body` succeeds (or, negated, does not)."""

    body: int
    negated: bool
    then: int


@dataclass(frozen=True)
class _Commit:
    """`body` runs to a `_Committed`; what comes after that is never given up for another way through `body`."""

    body: int


@dataclass(frozen=True)
class _Committed:
    then: int


_Instruction: TypeAlias = _Take | _Try | _AtEnd | _Ahead | _Commit | _Committed | None


class _Program:
    def __init__(self, tree: Node, letters_of: dict[Class, int]) -> None:
        self._letters_of = letters_of
        self.code: list[_Instruction] = [None]  # instruction 0: the match, or the look-ahead, ends here
        self.start = self._node(tree, 0)

    def _add(self, instruction: _Instruction) -> int:
        if len(self.code) >= MOST_INSTRUCTIONS:
            raise _Unprovable
        self.code.append(instruction)
        return len(self.code) - 1

    def _node(self, node: Node, then: int) -> int:
        """Where to start in order to match the node and go on at `then`."""
        match node:
            case Class():
                return self._add(_Take(self._letters_of[node], then))
            case Sequence(parts):
                for part in reversed(parts):
                    then = self._node(part, then)
                return then
            case Alternation(branches):
                return self._add(_Try(tuple(self._node(branch, then) for branch in branches)))
            case Repeat():
                return self._repeat(node, then)
            case Atomic(body):
                return self._add(_Commit(self._node(body, self._add(_Committed(then)))))
            case _:
                return self._guard(node, then)

    def _guard(self, node: Node, then: int) -> int:
        match node:
            case Look(body, True, negated):
                return self._add(_Ahead(self._node(body, 0), negated, then))
            case Edge(True):
                return self._add(_Ahead(self._add(_AtEnd()), False, then))
            case _:  # it looks at what precedes the match
                raise _Unprovable

    def _repeat(self, node: Repeat, then: int) -> int:
        if node.mode == "possessive":
            return self._node(Atomic(replace(node, mode="greedy")), then)
        if matches_empty(node.body) and node.most != 1:  # engines differ on when to stop repeating nothing
            raise _Unprovable

        def once_more_or(more: int, enough: int) -> tuple[int, int]:
            return (enough, more) if node.mode == "lazy" else (more, enough)

        if node.most is None:
            loop = self._add(None)
            self.code[loop] = _Try(once_more_or(self._node(node.body, loop), then))
            then = loop
        else:
            enough = then
            for _ in range(node.most - node.least):
                then = self._add(_Try(once_more_or(self._node(node.body, then), enough)))
        for _ in range(node.least):
            then = self._node(node.body, then)
        return then


# ---------------------------------------------------------------------------------------------------------------------
# States. What is left to try, in order of preference: a thread waiting at an instruction (an int), an outcome, or a tuple of
# tries that waits for something.

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


_Tries: TypeAlias = "tuple[int | _Outcome | _If | _Group | _Settled, ...]"
_LAST_RESORTS = (_HERE, _MARKED, _ELSEWHERE)


class _Automaton:
    def __init__(self, program: _Program) -> None:
        self._code = program.code
        self._start = program.start
        self._arrivals: dict[int, _Tries] = {}

    def explore(self, every: int) -> list[tuple[list[tuple[int, int]], int, bool]]:
        """For each state: (letters, next state) pairs, the state after the mark, whether the text may end here. State 0 goes
        nowhere, state 1 is the start.
        """
        dead: tuple[_Tries, bool] = ((), True)
        number = {dead: 0, (self._arrive(self._start), False): 1}
        found: list[tuple[list[tuple[int, int]], int, bool]] = []
        queue = list(number)
        for tries, marked in queue:
            follow = []
            if tries:
                for letters in self._told_apart(tries, every):
                    after = self._after(tries, letters & -letters)
                    target = (after, marked) if _MARKED in _flat(after) or (after and not marked) else dead
                    if target not in number:
                        if len(number) >= MOST_STATES:
                            raise _Unprovable
                        number[target] = len(number)
                        queue.append(target)
                    follow.append((letters, number[target]))
            mark = dead
            if not marked and _HERE in _flat(tries):
                mark = (_put_mark(tries), True)
                if mark not in number:
                    number[mark] = len(number)
                    queue.append(mark)
            found.append((follow, number[mark], marked and self._at_end(tries) == _MARKED))
        return found

    def _told_apart(self, tries: _Tries, every: int) -> list[int]:
        """The letters in groups that lead the same way."""
        groups = [every]
        for taken in {instruction.letters for i in _flat(tries) if isinstance(instruction := self._at(i), _Take)}:
            groups = [part for group in groups for part in (group & taken, group & ~taken) if part]
        return groups

    def _at(self, item: object) -> _Instruction:
        return self._code[item] if isinstance(item, int) else None

    def _arrive(self, place: int) -> _Tries:
        """The tries of a thread that comes to an instruction."""
        known = self._arrivals.get(place)
        if known is None:
            known = self._arrivals[place] = _tidy(self._waits(place))
        return known

    def _waits(self, place: int) -> list[int | _Outcome | _If | _Group | _Settled]:
        match instruction := self._code[place]:
            case None:
                return [_HERE]
            case _Take() | _AtEnd():
                return [place]
            case _Try(places):
                return [wait for each in places for wait in self._waits(each)]
            case _Ahead(body, negated, then):
                return [_If(self._arrive(body), negated, self._arrive(then))]
            case _Commit(body):
                return [_Group(self._arrive(body))]
            case _Committed(then):
                return [_Settled(self._arrive(then))]
        raise AssertionError(instruction)

    def _after(self, tries: _Tries, letter: int) -> _Tries:
        """What is left to try once a letter has been read."""
        left: list[int | _Outcome | _If | _Group | _Settled] = []
        for item in tries:
            if isinstance(item, int):
                instruction = self._code[item]
                if isinstance(instruction, _Take) and instruction.letters & letter:
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
                outcome = _HERE if isinstance(self._code[item], _AtEnd) else None
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


def _tidy(items: list[int | _Outcome | _If | _Group | _Settled]) -> _Tries:
    """The same tries without those that can make no difference: the impossible, the repeated, and all after a certain one."""
    tidy: dict[int | _Outcome | _If | _Group | _Settled, None] = {}

    def add(item: int | _Outcome | _If | _Group | _Settled) -> bool:
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
    marked: list[int | _Outcome | _If | _Group | _Settled] = []
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


# ---------------------------------------------------------------------------------------------------------------------
# The smallest automaton


def _minimal(states: list[tuple[list[tuple[int, int]], int, bool]], alphabet: _Alphabet) -> NormalForm:
    rows = []
    for follow, mark, _ in states:
        row = [0] * alphabet.size
        for letters, target in follow:
            while letters:
                row[(letters & -letters).bit_length() - 1] = target
                letters &= letters - 1
        rows.append([*row, mark])
    block = [int(accepting) for *_, accepting in states]
    count = 0
    while count != len(set(block)):
        count = len(set(block))
        number: dict[tuple[int, ...], int] = {}
        block = [number.setdefault((own, *(block[t] for t in row)), len(number)) for own, row in zip(block, rows, strict=True)]

    of_block = dict(zip(reversed(block), reversed(rows), strict=True))
    merged = {own: [block[target] for target in row] for own, row in of_block.items()}
    columns = list(zip(*merged.values(), strict=True))[:-1]
    first_like: dict[tuple[int, ...], int] = {}
    class_of = [first_like.setdefault(column, letter) for letter, column in enumerate(columns)]
    order = [*alphabet.order(class_of), alphabet.size]

    name = {block[1]: 0}
    queue = [block[1]]
    for own in queue:
        for letter in order:
            if merged[own][letter] not in name:
                name[merged[own][letter]] = len(name)
                queue.append(merged[own][letter])
    table = tuple(tuple(name[merged[own][letter]] for letter in order) for own in queue)
    accepting = {own for own, (*_, accepts) in zip(block, states, strict=True) if accepts}
    place = {letter_class: place for place, letter_class in enumerate(order)}
    runs = alphabet.runs({letter: place[letter_class] for letter, letter_class in enumerate(class_of)})
    return NormalForm(runs, table, tuple(sorted(name[own] for own in accepting if own in name)))
