"""A pattern as a program: a thread that has come to an instruction tries what it says, in order of preference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from hf_bpe.pattern_syntax.tree import Alternation, Atomic, Class, Edge, Look, Node, Repeat, Sequence, matches_empty

__all__ = ["Ahead", "AtEnd", "Commit", "Committed", "Instruction", "Program", "Take", "Try", "Unprovable"]

MOST_INSTRUCTIONS = 2000


class Unprovable(Exception):
    """The pattern looks behind itself, or is too large."""


@dataclass(frozen=True)
class Take:
    """One character out of `letters`, then go on at `then`."""

    letters: int
    then: int


@dataclass(frozen=True)
class Try:
    """The first of these that succeeds."""

    places: tuple[int, ...]


@dataclass(frozen=True)
class AtEnd:
    """Succeeds where the text ends. Only ever the body of an `Ahead`: so all that comes after it waits in one place."""


@dataclass(frozen=True)
class Ahead:
    """Go on at `then` if the look-ahead at `body` succeeds (or, negated, does not)."""

    body: int
    negated: bool
    then: int


@dataclass(frozen=True)
class Commit:
    """`body` runs to a `Committed`; what comes after that is never given up for another way through `body`."""

    body: int


@dataclass(frozen=True)
class Committed:
    """The end of the body of a `Commit`; go on at `then`."""

    then: int


Instruction: TypeAlias = Take | Try | AtEnd | Ahead | Commit | Committed | None


class Program:
    """The instructions of a pattern, and where to start."""

    def __init__(self, tree: Node, letters_of: dict[Class, int]) -> None:
        self._letters_of = letters_of
        self.code: list[Instruction] = [None]  # instruction 0: the match, or the look-ahead, ends here
        self.start = self._node(tree, 0)

    def _add(self, instruction: Instruction) -> int:
        if len(self.code) >= MOST_INSTRUCTIONS:
            raise Unprovable
        self.code.append(instruction)
        return len(self.code) - 1

    def _node(self, node: Node, then: int) -> int:
        """Where to start in order to match the node and go on at `then`."""
        match node:
            case Class():
                return self._add(Take(self._letters_of[node], then))
            case Sequence(parts):
                for part in reversed(parts):
                    then = self._node(part, then)
                return then
            case Alternation(branches):
                return self._add(Try(tuple(self._node(branch, then) for branch in branches)))
            case Repeat():
                return self._repeat(node, then)
            case Atomic(body):
                return self._add(Commit(self._node(body, self._add(Committed(then)))))
            case _:
                return self._guard(node, then)

    def _guard(self, node: Node, then: int) -> int:
        match node:
            case Look(body, True, negated):
                return self._add(Ahead(self._node(body, 0), negated, then))
            case Edge(True):
                return self._add(Ahead(self._add(AtEnd()), False, then))
            case _:  # it looks at what precedes the match
                raise Unprovable

    def _repeat(self, node: Repeat, then: int) -> int:
        if node.mode == "possessive":
            return self._node(Atomic(replace(node, mode="greedy")), then)
        if matches_empty(node.body) and node.most != 1:  # engines differ on when to stop repeating nothing
            raise Unprovable

        def once_more_or(more: int, enough: int) -> tuple[int, int]:
            return (enough, more) if node.mode == "lazy" else (more, enough)

        if node.most is None:
            loop = self._add(None)
            self.code[loop] = Try(once_more_or(self._node(node.body, loop), then))
            then = loop
        else:
            enough = then
            for _ in range(node.most - node.least):
                then = self._add(Try(once_more_or(self._node(node.body, then), enough)))
        for _ in range(node.least):
            then = self._node(node.body, then)
        return then
