r"""Two splits in a row as one pattern, where that can be said exactly.

The second split sees the pieces of the first, and only within their borders. Where the first cuts out runs of one class of
characters, `C`, `C+` or `C{1,n}`, what stands between them holds no character of `C`, and ends where one begins. So the second
pattern, all its classes without `C` and the ends of the text where `C` begins as well, does there what it did to the piece.
The runs themselves must be left whole by the second, or be single characters. Plain alternation of the two is wrong: in two
spaces before a digit `\s+(?!\S)` takes one of them, though it saw the end of its piece.
"""

from __future__ import annotations

from hf_bpe.pattern_syntax.code_points import common, members
from hf_bpe.pattern_syntax.normal_form import normal_form
from hf_bpe.pattern_syntax.tree import Alternation, Atomic, Class, Edge, Look, Node, Property, Repeat, Sequence

__all__ = ["class_of_run", "fused", "inverse"]

_NOTHING = Sequence(())


def fused(first: Node, second: Node) -> Node | None:
    r"""One pattern that splits every text as the first and then the second do, text between matches kept; None: not known.

    >>> from hf_bpe.pattern_syntax import parse, render
    >>> render(fused(parse(r"\d"), parse(r"\S+|\s+(?!\S)|\s+")), "regex")
    '\\d|[^\\s\\d]+|\\s+(?![^\\s\\d])|\\s+'
    """
    run = class_of_run(first)
    if run is None:
        return None
    if not isinstance(first, Class) and not _takes_whole(second, run):
        return None
    between = _within(second, inverse(run))
    branches = (first,) if between is None else (first, *(between.branches if isinstance(between, Alternation) else (between,)))
    return branches[0] if len(branches) == 1 else Alternation(branches)


def class_of_run(node: Node) -> Class | None:
    """`C`, where a pattern is `C`, `C+` or `C{1,n}` for a class of characters: then it matches wherever one of them stands."""
    if isinstance(node, Repeat) and node.least == 1 and node.mode != "lazy":
        node = node.body
    return _plain(node) if isinstance(node, Class) else None


def _plain(node: Class) -> Class:
    r"""`\S` as what it is: all but `\s`."""
    match node.items:
        case (Property(name, True),):
            return Class((Property(name),), not node.negated)
    return node


def inverse(node: Class) -> Class:
    """All other characters."""
    return Class(node.items, not node.negated)


def _takes_whole(pattern: Node, of: Class) -> bool:
    """Whether a pattern makes one piece of every text of nothing but these characters."""
    inside = _within(pattern, of)
    form = normal_form(inside) if inside is not None else None
    return form is not None and form == normal_form(Repeat(of, 1, None, "greedy"))


def _within(node: Node, zone: Class) -> Node | None:
    """The pattern as it is in a stretch of characters of `zone` that ends where another stands; None: it never matches."""
    match node:
        case Class():
            return _both(node, zone)
        case Sequence(parts):
            inside = [_within(part, zone) for part in parts]
            return None if None in inside else Sequence(tuple(part for part in inside if part is not None))
        case Alternation(branches):
            possible = tuple(found for branch in branches if (found := _within(branch, zone)) is not None)
            return Alternation(possible) if len(possible) > 1 else possible[0] if possible else None
        case Repeat(body, least, most, mode):
            found = _within(body, zone)
            if found is None:
                return None if least else _NOTHING
            return Repeat(found, least, most, mode)
        case Look(body, ahead, negated):
            found = _within(body, zone)
            if found is None:
                return _NOTHING if negated else None
            return Look(found, ahead, negated)
        case Atomic(body):
            found = _within(body, zone)
            return None if found is None else Atomic(found)
        case Edge(end):
            return Look(zone, ahead=end, negated=True)


def _both(node: Class, zone: Class) -> Class | None:
    """The characters of both classes, in few words where that is possible."""
    own = members(node)
    left = common(own, members(zone))
    if left == own:
        return node
    node = _plain(node)
    if not left:
        return None
    if left == members(zone):
        return zone
    if node.negated and not (without := inverse(zone)).negated:
        return Class((*node.items, *without.items), negated=True)
    return Class(tuple(left))
