r"""How a pattern groups digits, and the same pattern with another grouping.

What counts are the places where a pattern takes digits alone: `\p{N}`, `\d` or `[0-9]`, once or repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal, TypeAlias, get_args

from hf_bpe.errors import PatternError
from hf_bpe.pattern_syntax.code_points import members
from hf_bpe.pattern_syntax.reader import parse
from hf_bpe.pattern_syntax.tree import Alternation, Atomic, Class, Look, Node, Property, Repeat, Sequence, Span
from hf_bpe.pattern_syntax.writer import render

__all__ = ["DigitGroups", "digit_groups", "with_digit_groups"]

DigitGroups: TypeAlias = Literal["single", "up-to-three", "right-aligned"]

_DIGITS = (Class((Property("N"),)), Class((Property("Nd"),)), Class((Span(0x30, 0x39),)))
_GROUPS_SEEN = 33
"""Groups of three behind the place at hand that are looked at: without a limit, a run of 100,000 digits takes 14 seconds."""


def with_digit_groups(pattern: str, groups: DigitGroups) -> str:
    r"""The pattern with its digits one by one, in groups of up to three from the left, or of three from the right.

    Of a run of more than a hundred digits the last hundred are grouped from the right, the others from the left.

    Raises `PatternError` where the pattern takes digits nowhere by themselves.

    >>> with_digit_groups(r" ?\p{N}+|\P{N}+", "single")
    ' ?\\p{N}|\\P{N}+'
    """
    if groups not in get_args(DigitGroups):
        raise PatternError(f"digits cannot be grouped {groups!r}; there are {', '.join(map(repr, get_args(DigitGroups)))}")
    if digit_groups(pattern) == groups:
        return pattern
    tree = parse(pattern)
    if not any(True for _ in _runs(tree)):
        raise PatternError(
            rf"digits cannot be grouped {groups!r}: the split pattern {pattern!r} has no part that takes digits alone, such as \p{{N}}+; "
            "add one, or choose another pattern"
        )
    return render(_regrouped(tree, groups), "regex")


def digit_groups(pattern: str) -> DigitGroups | None:
    r"""How a pattern groups digits, if it is one of these ways and the same everywhere.

    >>> digit_groups(r"\p{N}{1,3}|\P{N}+"), digit_groups(r"\p{N}+|\P{N}+")
    ('up-to-three', None)
    """
    found = {(least, most) for _, least, most in _runs(parse(pattern))}
    if found == {(1, 1)}:
        return "single"
    if found == {(1, 3)}:
        return "up-to-three"
    return "right-aligned" if found == {(1, 3), (3, 3)} else None


@cache
def _is_digits(node: Class) -> bool:
    return any(members(node) == members(digits) for digits in _DIGITS)


def _runs(node: Node) -> Iterator[tuple[Class, int, int | None]]:
    """The places that take digits alone: which, and how many at least and at most. What is only looked at is none."""
    match node:
        case Class() if _is_digits(node):
            yield node, 1, 1
        case Repeat(Class() as body, least, most, _) if _is_digits(body):
            yield body, least, most
        case Sequence(parts) | Alternation(parts):
            for part in parts:
                yield from _runs(part)
        case Repeat(body) | Atomic(body):
            yield from _runs(body)


def _regrouped(node: Node, groups: DigitGroups) -> Node:
    match node:
        case Class() if _is_digits(node):
            return _group(node, groups)
        case Repeat(Class() as body, least, _, _) if _is_digits(body):
            group = _group(body, groups)
            return group if least else Repeat(group, 0, 1, "greedy")
        case Sequence(parts):
            return Sequence(tuple(_regrouped(part, groups) for part in parts))
        case Alternation(branches):
            return Alternation(tuple(_regrouped(branch, groups) for branch in branches))
        case Repeat(body, least, most, mode):
            return Repeat(_regrouped(body, groups), least, most, mode)
        case Atomic(body):
            return Atomic(_regrouped(body, groups))
    return node


def _group(digit: Class, groups: DigitGroups) -> Node:
    if groups == "single":
        return digit
    few = Repeat(digit, 1, 3, "greedy")
    if groups == "up-to-three":
        return few
    three = Repeat(digit, 3, 3, "greedy")
    behind = Sequence((Repeat(three, 0, _GROUPS_SEEN, "possessive"), Look(digit, ahead=True, negated=True)))
    return Alternation((Sequence((few, Look(behind, ahead=True, negated=False))), three))
