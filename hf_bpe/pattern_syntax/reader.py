"""Reading a pattern of one dialect into a tree, or saying what in it cannot be read the same way by every engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Literal as Choice

from hf_bpe.errors import PatternError
from hf_bpe.pattern_syntax.code_points import common, members
from hf_bpe.pattern_syntax.tree import (
    ANYTHING,
    NEWLINE,
    SCRIPTS,
    WORD,
    Alternation,
    Atomic,
    Class,
    Dialect,
    Edge,
    Look,
    Node,
    Property,
    Repeat,
    Sequence,
    Span,
    oniguruma_word,
)

GENERAL_CATEGORIES = frozenset(
    "L Lu Ll Lt Lm Lo LC M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn".split()
)
# Sets that (?i) makes larger: in every engine, and in those that fold sets of characters as they fold characters. Case ties
# U+0345, a mark of script Inherited, to the Greek letter iota, and the micro sign, of script Common, to mu.
_FOLDED = frozenset({"Lu", "Ll", "Lt"})
_FOLDED_BY_SOME = frozenset({"L", "LC", "M", "Mn", "Common", "Greek", "Inherited"})
LONG_NAMES = {"Letter": "L", "Mark": "M", "Number": "N", "Punctuation": "P", "Symbol": "S", "Separator": "Z", "Other": "C"}

# Simple case folding of the ASCII letters, all there is to it: two of them have a third form.
CASE_FORMS: dict[str, tuple[str, ...]] = {chr(c): (chr(c), chr(c - 32)) for c in range(ord("a"), ord("z") + 1)}
CASE_FORMS["s"] += ("\u017f",)
CASE_FORMS["k"] += ("\u212a",)
CASE_OF = {form: forms for forms in CASE_FORMS.values() for form in forms}

# Letters that Oniguruma also finds, under (?i), in one character that folds to both: ß, the ligatures ff fi fl st.
ONIGURUMA_JOINS = (("s", "s"), ("f", "f"), ("f", "i"), ("f", "l"), ("s", "t"))

# Engines whose \w has members of its own, and what they are called.
_OWN_WORDS: dict[Dialect, str] = {"oniguruma": "Oniguruma", "pcre2": "PCRE2"}

PCRE2_SPACE = Class((Property("space"), Span(0x180E, 0x180E)))
"""What `\\s` is in PCRE2: U+180E has been no white space for Unicode since 6.3."""

_LEADING_FLAGS: dict[Dialect, str] = {"regex": "is", "tiktoken": "is", "pcre2": "is", "oniguruma": "im"}
_LIKE_A_COUNT = re.compile(r"\{[ \t]*\d*[ \t]*,?[ \t]*\d*[ \t]*\}")
_FUZZY = re.compile(r"\{[^}]*[eids<=>][^}]*\}")
_SIMPLE_ESCAPES = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7, "e": 27}
_SET_OPERATORS = ("--", "&&", "||", "~~")


@dataclass(frozen=True)
class _Flags:
    ignore_case: bool = False
    dot_all: bool = False


class _Parser:
    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.text = pattern
        self.at = 0
        self.dialect = dialect
        self.nests_sets = dialect in ("tiktoken", "oniguruma")

    def fail(self, what: str) -> PatternError:
        return PatternError(f"split pattern {self.text!r}, character {self.at}: {what}")

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def take(self, expected: str) -> bool:
        if self.text.startswith(expected, self.at):
            self.at += len(expected)
            return True
        return False

    def demand(self, expected: str) -> None:
        if not self.take(expected):
            raise self.fail(f"expected {expected!r}, found {self.peek() or 'the end'!r}")

    def pattern(self) -> Node:
        tree = self.alternation(self.leading_flags())
        if self.at < len(self.text):
            raise self.fail("unbalanced ')'; write '\\)' for a literal one")
        return tree

    def leading_flags(self) -> _Flags:
        """Those that hold for the whole pattern, as `(?i)(?s)` or `(?is)`."""
        flags = _Flags()
        while (found := re.compile(rf"\(\?([{_LEADING_FLAGS[self.dialect]}]+)\)").match(self.text, self.at)) is not None:
            flags = _Flags(flags.ignore_case or "i" in found[1], flags.dot_all or found[1].strip("i") != "")
            self.at = found.end()
        return flags

    def alternation(self, flags: _Flags) -> Node:
        branches = [self.sequence(flags)]
        while self.take("|"):
            branches.append(self.sequence(flags))
        return branches[0] if len(branches) == 1 else Alternation(tuple(branches))

    def sequence(self, flags: _Flags) -> Node:
        parts: list[Node] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.quantified(flags))
        if self.dialect == "oniguruma" and flags.ignore_case:
            self.refuse_joined_letters(parts)
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def refuse_joined_letters(self, parts: list[Node]) -> None:
        letters = [part for outer in parts for part in (outer.parts if isinstance(outer, Sequence) else (outer,))]
        for pair in pairwise(letters):
            for first, second in ONIGURUMA_JOINS:
                if pair == (self.one(ord(first), _Flags(ignore_case=True)), self.one(ord(second), _Flags(ignore_case=True))):
                    raise self.fail(
                        f"{first + second!r} under (?i) also matches a single character to Oniguruma; write its forms out"
                    )

    def quantified(self, flags: _Flags) -> Node:
        node = self.atom(flags)
        repeated = False
        while (bounds := self.quantifier()) is not None:
            least, most, braces = bounds
            mode: Choice["greedy", "lazy", "possessive"] = "greedy"
            if not (least == most and self.dialect == "oniguruma") and self.take("?"):  # there X{2}? is (X{2})?
                mode = "greedy" if least == most else "lazy"
            elif self.peek() == "+" and not (braces and self.dialect == "oniguruma"):  # there X{1,3}+ is (X{1,3})+
                self.at += 1
                mode = "possessive"
            if isinstance(node, Look | Edge):
                raise self.fail("a quantifier after a zero-width item")
            if repeated and self.dialect != "oniguruma":
                raise self.fail("a quantifier after a quantifier; put what is repeated in (?:...)")
            repeated = True
            if (least, most) != (1, 1) or mode == "possessive":
                node = Repeat(node, least, most, mode)
        return node

    def quantifier(self) -> tuple[int, int | None, bool] | None:
        for symbol, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.take(symbol):
                return least, most, False
        if self.peek() != "{":
            return None
        closing = self.text.find("}", self.at)
        low, comma, high = self.text[self.at + 1 : closing].partition(",")
        digits = (low + high).isascii() and (low + high).isdigit()
        if closing < 0 or not digits:
            self.refuse_like_a_count()
            return None
        self.at = closing + 1
        least, most = int(low or 0), int(high) if high else None if comma else int(low)
        if most is not None and most < least:
            raise self.fail(f"{{{low},{high}}} asks for at least {least} and at most {most}")
        return least, most, True

    def refuse_like_a_count(self) -> None:
        """Braces that are literal to most engines: `{,}` repeats in `regex`, `{1, 2}` in PCRE2, and `{e<=1}` allows errors in `regex`."""
        found = _LIKE_A_COUNT.match(self.text, self.at)
        if found is not None and found[0].strip("{} \t"):
            raise self.fail(
                f"{found[0]} is a count to some engines and text to others; write '\\{{' for a brace, {{0,}} for any number"
            )
        fuzzy = _FUZZY.match(self.text, self.at) if self.dialect == "regex" and self.at else None
        if fuzzy is not None:
            raise self.fail(f"{fuzzy[0]} allows errors in a match to `regex` and is text to others; write '\\{{' for a brace")

    def atom(self, flags: _Flags) -> Node:
        if self.take("("):
            return self.group(flags)
        if (word := self.spelled_out_word()) is not None:
            return Class((word,))
        if self.take("["):
            return self.character_class(flags)
        if self.take("."):
            return ANYTHING if flags.dot_all else replace(NEWLINE, negated=True)
        if self.take("^"):
            return self.line_edge(end=False)
        if self.take("$"):
            return self.line_edge(end=True)
        if self.take("\\"):
            return self.escape(flags)
        if self.peek() in ("*", "+", "?"):
            raise self.fail("nothing to repeat")
        character = self.peek()
        self.at += 1
        return self.one(ord(character), flags)

    def line_edge(self, *, end: bool) -> Node:
        if self.dialect == "oniguruma":  # Ruby: always per line, but no line begins where the text ends
            edge = Look(NEWLINE, ahead=end, negated=False)
            inside = edge if end else Sequence((edge, Look(Edge(end=True), ahead=True, negated=True)))
            return Alternation((Edge(end), inside))
        if end and self.dialect in ("regex", "pcre2"):
            return Look(Sequence((Repeat(NEWLINE, 0, 1, "greedy"), Edge(end=True))), ahead=True, negated=False)
        return Edge(end)

    def one(self, code_point: int, flags: _Flags) -> Class:
        if flags.ignore_case:
            character = chr(code_point)
            if self.dialect == "regex" and character in "iI":
                raise self.fail(f"{character!r} under (?i) is also U+0130 to the `regex` module; write [iI]")
            if character in CASE_OF:
                return Class(tuple(Span(ord(form), ord(form)) for form in CASE_OF[character]))
            if character.lower() != character or character.upper() != character:
                raise self.fail(f"{character!r} under (?i): engines fold letters beyond ASCII differently; write its forms out")
        return Class((Span(code_point, code_point),))

    def group(self, flags: _Flags) -> Node:
        wrap: Callable[[Node], Node] = lambda body: body  # noqa: E731
        if self.take("?"):
            if self.take(":"):
                pass
            elif self.take(">"):
                wrap = Atomic
            elif self.peek() in ("=", "!"):
                wrap = self.look(ahead=True)
            elif self.peek(2) in ("<=", "<!"):
                self.at += 1
                wrap = self.look(ahead=False)
            elif self.take("P<") or self.take("<"):
                self.at = self.text.find(">", self.at) + 1 or len(self.text)
            else:
                flags = self.inline_flags(flags)
        body = self.alternation(flags)
        self.demand(")")
        return wrap(body)

    def look(self, *, ahead: bool) -> Callable[[Node], Node]:
        negated = self.peek() == "!"
        self.at += 1
        return lambda body: Look(body, ahead, negated)

    def inline_flags(self, flags: _Flags) -> _Flags:
        dot_all = "m" if self.dialect == "oniguruma" else "s"  # Ruby calls dot-all "m"
        while not self.take(":"):
            flag = self.peek()
            self.at += 1
            if flag == "i":
                flags = replace(flags, ignore_case=True)
            elif flag == dot_all:
                flags = replace(flags, dot_all=True)
            else:
                raise self.fail(f"(?{flag or ''}...) is not one of (?:, (?i:, (?{dot_all}:, (?>, (?=, (?!, (?<=, (?<!")
        return flags

    def escape(self, flags: _Flags) -> Node:
        letter = self.peek()
        if self.dialect in _OWN_WORDS and letter in ("b", "B"):
            raise self.fail(
                f"\\{letter} goes by \\w, and {_OWN_WORDS[self.dialect]}'s is not that of other engines; spell it with look-arounds"
            )
        if self.dialect == "tiktoken" and (letter in ("<", ">") or self.peek(2) in ("b{", "B{")):
            raise self.fail(
                f"\\{self.peek(2)} is an edge of a word to tiktoken; write < and > as they are, and \\b without braces"
            )
        if letter in ("A", "z", "Z", "b", "B"):
            self.at += 1
            return self.edge_escape(letter)
        if (letter.isdigit() and letter != "0") or letter in ("g", "k", "K", "G", "X", "R"):
            raise self.fail(f"\\{letter} is not supported: engines disagree on it, or it needs memory of the match")
        item = self.escaped_item()
        if isinstance(item, Span):
            return self.one(item.first, flags)
        if self.dialect != "oniguruma":  # which folds sets in brackets only
            self.refuse_folded(item, flags)
        if self.dialect == "pcre2" and item.name == "space":
            return replace(PCRE2_SPACE, negated=item.negated)
        return Class((item,))

    def refuse_folded(self, item: Property, flags: _Flags) -> None:
        folds_sets = self.dialect in ("tiktoken", "oniguruma")
        if flags.ignore_case and item.name in (_FOLDED | _FOLDED_BY_SOME if folds_sets else _FOLDED):
            raise self.fail(
                f"\\p{{{item.name}}} under (?i): engines add what differs from it in case, each in its own way; put it outside of (?i:...)"
            )

    def edge_escape(self, letter: str) -> Node:
        if letter == "A":
            return Edge(end=False)
        if letter == "z" or (letter == "Z" and self.dialect == "regex"):
            return Edge(end=True)
        if letter == "Z":
            return Look(Sequence((Repeat(NEWLINE, 0, 1, "greedy"), Edge(end=True))), ahead=True, negated=False)
        inside, outside = Look(WORD, ahead=False, negated=False), Look(WORD, ahead=False, negated=True)
        before, not_before = Look(WORD, ahead=True, negated=False), Look(WORD, ahead=True, negated=True)
        pairs = ((inside, not_before), (outside, before)) if letter == "b" else ((inside, before), (outside, not_before))
        return Alternation(tuple(Sequence(pair) for pair in pairs))

    def escaped_item(self) -> Span | Property:
        letter = self.peek()
        if not letter:
            raise self.fail("a lone backslash at the end")
        self.at += 1
        if letter in ("w", "W") and self.dialect in _OWN_WORDS:
            raise self.fail(
                f"{_OWN_WORDS[self.dialect]}'s \\w is not the \\w of other engines; spell it [\\p{{L}}\\p{{M}}\\p{{Nd}}\\p{{Pc}}]"
            )
        if letter in ("p", "P"):
            return self.property(negated=letter == "P")
        shorthand = {"s": "space", "d": "Nd", "w": "word"}.get(letter.lower())
        if shorthand:
            return Property(shorthand, negated=letter.isupper())
        code_point = self.escaped_code_point(letter)
        return Span(code_point, code_point)

    def escaped_code_point(self, letter: str) -> int:
        if (letter in ("u", "U", "v") and self.dialect == "pcre2") or (letter == "U" and self.dialect == "oniguruma"):
            raise self.fail(f"\\{letter} is not a character to {_OWN_WORDS[self.dialect]}; write the character itself")
        if letter in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[letter]
        if letter in ("x", "u", "U"):
            return self.hexadecimal({"x": 2, "u": 4, "U": 8}[letter])
        if letter == "0":
            if self.peek().isdigit():
                raise self.fail(f"\\0{self.peek()} is an octal number to some engines; write \\x and two hexadecimal digits")
            return 0
        if letter.isascii() and letter.isalnum():
            raise self.fail(f"\\{letter} is not an escape that every engine reads alike; name the characters instead")
        return ord(letter)

    def hexadecimal(self, width: int) -> int:
        if self.dialect == "pcre2" and self.peek() == "{":
            raise self.fail("\\x{...} is a character to PCRE2 or the letter x, as its options say; write the character itself")
        if self.take("{"):
            end = self.text.find("}", self.at)
            digits, self.at = self.text[self.at : end], end + 1
        else:
            digits = self.peek(width)
            self.at += width
            if len(digits) < width:
                raise self.fail(f"{digits!r} is cut off: {width} hexadecimal digits are needed")
        if not digits or set(digits) - set("0123456789abcdefABCDEF"):  # int() would also read signs and underscores
            raise self.fail(f"{digits!r} is not a hexadecimal code point")
        code_point = int(digits, 16)
        if code_point > 0x10FFFF or 0xD800 <= code_point <= 0xDFFF:
            raise self.fail(f"U+{code_point:X} is not a character")
        return code_point

    def property(self, *, negated: bool) -> Property:
        if self.take("{"):
            end = self.text.find("}", self.at)
            if end < 0:
                raise self.fail("\\p{ without its closing brace")
            name, self.at = self.text[self.at : end], end + 1
        elif self.dialect == "oniguruma":
            raise self.fail("\\p without braces is the letter p to Oniguruma; write \\p{...}")
        else:
            name = self.peek()
            self.at += 1
        if name.startswith("^"):
            name, negated = name[1:], not negated
        if self.dialect == "pcre2" and name in SCRIPTS:
            raise self.fail(f"\\p{{{name}}} goes by script extensions in PCRE2; write \\p{{sc:{name}}} for the script itself")
        for prefix in ("Script=", "sc:", "sc=", "General_Category=", "gc="):
            name = name.removeprefix(prefix)
        name = LONG_NAMES.get(name, name)
        if name not in GENERAL_CATEGORIES and name not in SCRIPTS:
            raise self.fail(
                f"\\p{{{name}}} is not a property whose members are pinned here; use a general category "
                f"({', '.join(sorted(GENERAL_CATEGORIES))}) or a script ({', '.join(sorted(SCRIPTS))})"
            )
        return Property(name, negated)

    def character_class(self, flags: _Flags) -> Class:
        """The rest of a class, its [ taken. Nested sets are joined, and those that `&&` joins met, as three engines do alike."""
        negated = self.take("^")
        operands = [self.class_items(flags)]
        while self.nests_sets and self.take("&&"):
            operands.append(self.class_items(flags))
        self.demand("]")
        if len(operands) == 1:
            return Class(tuple(dict.fromkeys(operands[0])), negated)
        if not all(operands):
            raise self.fail("'&&' with nothing on one side")
        shared = reduce(common, (members(Class(tuple(items))) for items in operands))
        if not shared:
            raise self.fail("'&&' of sets that share no character")
        return Class(tuple(shared), negated)

    def class_items(self, flags: _Flags) -> list[Span | Property]:
        items: list[Span | Property] = []
        first = True
        while first or not (self.peek() == "]" or (self.nests_sets and self.peek(2) == "&&")):
            if not self.peek():
                raise self.fail("[ without its closing ]; write '\\[' for a literal one")
            found = self.class_item(flags)
            for item in found:
                if isinstance(item, Property):
                    self.refuse_folded(item, flags)
            items += found
            first = False
        return items

    def spelled_out_word(self) -> Property | None:
        """`\\w` as it is written out for Oniguruma, whose own leaves some characters out."""
        if self.dialect == "oniguruma":
            for negated in (False, True):
                if self.take(oniguruma_word(negated=negated)):
                    return Property("word", negated)
        return None

    def class_item(self, flags: _Flags) -> list[Span | Property]:
        if (word := self.spelled_out_word()) is not None:
            return [word]
        if self.peek() == "[":
            return self.nested_set(flags)
        start = None if self.peek(2) in _SET_OPERATORS else self.class_atom()
        joins_sets = self.peek(2) in _SET_OPERATORS and not (self.nests_sets and self.peek(2) == "&&")
        if start is None or joins_sets:
            raise self.fail(
                f"{self.peek(2)!r} inside a class is a set operation to some engines; escape it or write the set out"
            )
        if self.dialect == "pcre2" and isinstance(start, Property) and start.name == "space":
            return list(members(replace(PCRE2_SPACE, negated=start.negated)))
        if isinstance(start, Property):
            return [start]
        if self.peek() == "-" and self.peek(2)[1:] not in ("]", ""):
            self.at += 1
            end = self.class_atom()
            if isinstance(end, Property) or end.last < start.first:
                raise self.fail("a range must run from a lower to a higher character")
            if flags.ignore_case:
                raise self.fail("a range under (?i): write the letters' forms out")
            return [Span(start.first, end.last)]
        return list(self.one(start.first, flags).items)

    def nested_set(self, flags: _Flags) -> list[Span | Property]:
        if not self.nests_sets or self.peek(2) == "[:":
            raise self.fail("'[' inside a class: a literal to some engines, a nested set to others; write '\\['")
        self.at += 1
        inner = self.character_class(flags)
        return list(members(inner)) if inner.negated else list(inner.items)

    def class_atom(self) -> Span | Property:
        if self.take("\\"):
            if self.peek() == "b":
                self.at += 1
                return Span(8, 8)
            return self.escaped_item()
        character = self.peek()
        if not character:
            raise self.fail("[ without its closing ]")
        self.at += 1
        return Span(ord(character), ord(character))


def parse(pattern: str, dialect: Dialect = "regex") -> Node:
    """Read a pattern. Raises `PatternError` with the position and what to write instead."""
    try:
        return _Parser(pattern, dialect).pattern()
    except RecursionError:
        raise PatternError(f"split pattern {pattern[:60]!r}... nests its groups too deeply") from None


def alternatives(pattern: str, dialect: Dialect = "regex") -> list[tuple[str, Node]]:
    r"""The branches that a pattern tries one after the other, each as it is written and as it is read. Raises as `parse`.

    >>> [source for source, _ in alternatives(r"(?:a|b)|[|]+|\s")]
    ['(?:a|b)', '[|]+', '\\s']
    """
    parser = _Parser(pattern, dialect)
    parser.pattern()  # raises for what is no pattern, so that what follows need not
    parser.at = 0
    flags = parser.leading_flags()
    found: list[tuple[str, Node]] = []
    while not found or parser.take("|"):
        start = parser.at
        branch = parser.sequence(flags)
        found.append((pattern[start : parser.at], branch))
    return found
