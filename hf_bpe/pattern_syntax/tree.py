"""The tree a pattern is read into: one meaning, whatever the dialect it was written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice
from typing import TypeAlias

Dialect: TypeAlias = Choice["regex", "tiktoken", "oniguruma", "pcre2"]
"""`regex`: Python's module of that name, and the dialect of `TokenizerSpec.pattern`. `tiktoken`: the fancy-regex crate,
also our native engine's. `oniguruma`: Ruby syntax, what tokenizer.json holds. `pcre2`: with the options UTF and UCP."""


@dataclass(frozen=True)
class Span:
    """Code points first..last, both included."""

    first: int
    last: int


@dataclass(frozen=True)
class Property:
    """A named set: a general category (`L`, `Lu`), a script (`Han`), or one of the shorthands `space`, `word`."""

    name: str
    negated: bool = False


@dataclass(frozen=True)
class Class:
    """One character out of a union of spans and properties (or out of everything else)."""

    items: tuple[Span | Property, ...]
    negated: bool = False


@dataclass(frozen=True)
class Sequence:
    """One part after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alternation:
    """The first branch that matches."""

    branches: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """The body `least` to `most` times (None: no limit)."""

    body: Node
    least: int
    most: int | None
    mode: Choice["greedy", "lazy", "possessive"]


@dataclass(frozen=True)
class Look:
    """Whether the body matches here (`ahead`) or up to here, taking nothing."""

    body: Node
    ahead: bool
    negated: bool


@dataclass(frozen=True)
class Atomic:
    """The body's first match, never given back."""

    body: Node


@dataclass(frozen=True)
class Edge:
    """The very start or the very end of the text."""

    end: bool


Node: TypeAlias = Class | Sequence | Alternation | Repeat | Look | Atomic | Edge

ANYTHING = Class((Span(0, 0x10FFFF),))
NEWLINE = Class((Span(10, 10),))
WORD = Class((Property("word"),))

# White_Space never changes between Unicode versions in practice; these 25 are \s to tiktoken, regex and Oniguruma alike.
SPACE = (
    Span(0x09, 0x0D), Span(0x20, 0x20), Span(0x85, 0x85), Span(0xA0, 0xA0), Span(0x1680, 0x1680), Span(0x2000, 0x200A),
    Span(0x2028, 0x2029), Span(0x202F, 0x202F), Span(0x205F, 0x205F), Span(0x3000, 0x3000),
)  # fmt: skip

# The scripts a pattern may name: those whose members are pinned in hf_bpe/engine/unicode_tables.json.
SCRIPTS = frozenset(
    "Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada "
    "Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic Cherokee Khmer Mongolian Hiragana Katakana Bopomofo "
    "Han Yi Javanese Balinese Common Inherited".split()
)


def oniguruma_word(*, negated: bool) -> str:
    """The `\\w` of the other engines for Oniguruma, whose own leaves out other alphabetic characters and the two joiners."""
    return f"[{'^' * negated}\\p{{Alphabetic}}\\p{{M}}\\p{{Nd}}\\p{{Pc}}\\x{{200c}}\\x{{200d}}]"


def matches_empty(node: Node) -> bool:
    """True unless every match is at least one character long (judged by shape: `a*` is True whatever surrounds it)."""
    match node:
        case Class():
            return False
        case Sequence(parts):
            return all(map(matches_empty, parts))
        case Alternation(branches):
            return any(map(matches_empty, branches))
        case Repeat(body, least, _, _):
            return least == 0 or matches_empty(body)
        case Look() | Edge():
            return True
        case Atomic(body):
            return matches_empty(body)


def classes_in(node: Node) -> list[Class]:
    """The different classes of a tree, in the order of their first place in it."""
    found: dict[Class, None] = {}
    waiting = [node]
    while waiting:
        match here := waiting.pop():
            case Class():
                found[here] = None
            case Sequence(parts):
                waiting += reversed(parts)
            case Alternation(branches):
                waiting += reversed(branches)
            case Repeat(body) | Look(body) | Atomic(body):
                waiting.append(body)
            case Edge():
                pass
    return list(found)
