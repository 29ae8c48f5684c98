r"""Writing a tree for llama.cpp, or saying which part of it cannot be written.

llama.cpp runs patterns with C++'s std::regex, which knows bytes or wide characters and no Unicode. So before it splits a text
it replaces each character beyond ASCII by one byte for its kind: white space (as U+000B), letter, number, mark, punctuation,
symbol, or anything else; and `\p{L}` in the pattern by the byte for letters and the letters of ASCII. What tells characters of
one kind apart is lost: `\p{Lu}` means `\p{L}` there. A pattern without `\p{...}` runs on the characters themselves, but for
white space. std::regex has no look-behind, no atomic groups and no possessive repeats.

llama.cpp cannot be given a pattern: this is what would have to be written into its program.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from hf_bpe.errors import PatternError
from hf_bpe.pattern_syntax.code_points import LAST, common, complement, members, property_members, union
from hf_bpe.pattern_syntax.normal_form import normal_form
from hf_bpe.pattern_syntax.tree import (
    ANYTHING,
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
)
from hf_bpe.pattern_syntax.tree_writer import TreeWriter

__all__ = ["render_llama_cpp"]

_BEYOND_ASCII = [Span(0x80, LAST)]
_ASCII_BROUGHT = [Span(0, 0x7D)]  # a property brings its ASCII members with it, but for ~, which its table of symbols lacks
_NAMED = ("L", "N", "M", "P", "S")
_ESCAPES = {9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_SPECIAL = frozenset("\\^$.|?*+()[]{}-")
_ONE_ITEM = re.compile(r"[^\\]|\\[^px]|\\x..|\\p\{.\}", re.DOTALL)


def render_llama_cpp(tree: Node) -> str:
    r"""The pattern as llama.cpp would have to be given it. Raises `PatternError` naming what std::regex cannot do.

    >>> from hf_bpe.pattern_syntax.reader import parse
    >>> render_llama_cpp(parse(r" ?[^\s\p{L}]++|\p{N}+$", "tiktoken"))
    ' ?[^\\s\\p{L}]+|\\p{N}+(?![^])'
    """
    tree = _without_commitment(tree)
    try:
        return _Writer(by_kind=True).node(tree)
    except PatternError as by_kind:
        names = {item.name for found in classes_in(tree) for item in found.items if isinstance(item, Property)}
        if names - {"space"}:  # a class of hundreds of ranges is not what anybody would put there
            raise
        try:
            return _Writer(by_kind=False).node(tree)
        except PatternError:
            raise by_kind from None


def _without_commitment(tree: Node) -> Node:
    """The tree without possessive and atomic parts, if they are known to make no difference."""
    plain = _plain(tree)
    if plain == tree:
        return tree
    form = normal_form(tree)
    if form is None or form != normal_form(plain):
        raise PatternError(
            "std::regex has no atomic groups and no possessive repeats, and plain ones are not known to match the same"
        )
    return plain


def _plain(node: Node) -> Node:
    match node:
        case Atomic(body):
            return _plain(body)
        case Repeat(body, _, _, mode):
            return replace(node, body=_plain(body), mode="greedy" if mode == "possessive" else mode)
        case Sequence(parts):
            return Sequence(tuple(map(_plain, parts)))
        case Alternation(branches):
            return Alternation(tuple(map(_plain, branches)))
        case Look(body, ahead, negated):
            return Look(_plain(body), ahead, negated)
    return node


@cache
def _kinds() -> dict[str, list[Span]]:
    """The characters beyond ASCII that become one byte each."""
    space = common(property_members(Property("space")), _BEYOND_ASCII)
    kinds = {name: common(property_members(Property(name)), _BEYOND_ASCII) for name in _NAMED}
    known = union(span for spans in (space, *kinds.values()) for span in spans)
    return {"space": space, **kinds, "other": common(complement(known), _BEYOND_ASCII)}


class _Writer(TreeWriter):
    def __init__(self, *, by_kind: bool) -> None:
        self.by_kind = by_kind

    def look(self, node: Look) -> str:
        if not node.ahead:
            raise PatternError("std::regex has no look-behind")
        return super().look(node)

    def edge(self, node: Edge) -> str:
        if not node.end:
            raise PatternError("the start of the text is another place in each std::regex")
        return "(?![^])"

    def character_class(self, node: Class) -> str:
        if node == ANYTHING:
            return "[^]"
        spans = members(node)
        return self.of_kinds(spans) if self.by_kind else self.of_characters(spans)

    def of_kinds(self, spans: list[Span]) -> str:
        """A class as ASCII characters and kinds. With all other characters in it, by what is not."""
        inside = {kind: common(spans, of_kind) == of_kind for kind, of_kind in _kinds().items()}
        for kind, of_kind in _kinds().items():
            if not inside[kind] and common(spans, of_kind):
                self.refuse_kind(kind, spans, of_kind)
        negated = inside["other"]
        listed = complement(spans) if negated else spans
        wanted = {kind for kind, is_in in inside.items() if is_in != negated}
        return self.written(self.ascii_and(listed, wanted), negated=negated)

    def refuse_kind(self, kind: str, spans: list[Span], of_kind: list[Span]) -> None:
        one, other = common(spans, of_kind)[0].first, common(complement(spans), of_kind)[0].first
        name = {"space": "white space", "other": "no letter, number, mark, punctuation or symbol"}.get(kind, f"\\p{{{kind}}}")
        raise PatternError(f"llama.cpp makes no difference between U+{one:04X} and U+{other:04X}, which are both {name}")

    def ascii_and(self, spans: list[Span], kinds: set[str]) -> str:
        ascii_only = common(spans, [Span(0, 0x7F)])
        text = ""
        space = common(property_members(Property("space")), [Span(0, 0x7F)])
        has_tab = bool(common(ascii_only, [Span(11, 11)]))
        if has_tab != ("space" in kinds):
            raise PatternError("llama.cpp makes no difference between U+000B and white space beyond ASCII")
        if common(ascii_only, space) == space:
            text += "\\s"
            ascii_only = common(ascii_only, complement(space))
        for kind in _NAMED:
            if kind in kinds:
                own = common(property_members(Property(kind)), _ASCII_BROUGHT)
                if common(ascii_only, own) != own:
                    missing = common(own, complement(ascii_only))[0].first
                    raise PatternError(
                        f"in llama.cpp \\p{{{kind}}} brings {chr(missing)!r} with it, which does not belong to the class"
                    )
                text += f"\\p{{{kind}}}"
                ascii_only = common(ascii_only, complement(own))
        return text + "".join(map(self.span, ascii_only))

    def of_characters(self, spans: list[Span]) -> str:
        """A class as the characters it holds, for a pattern without `\\p{...}`."""
        space = _kinds()["space"]
        found = common(spans, space)
        if found != (space if common(spans, [Span(11, 11)]) else []):
            raise PatternError("llama.cpp makes no difference between U+000B and white space beyond ASCII")
        negated = spans[-1:] != [] and spans[-1].last == LAST
        listed = common(complement(spans) if negated else spans, complement(space))
        return self.written("".join(map(self.span, listed)), negated=negated)

    def written(self, content: str, *, negated: bool) -> str:
        if not content:
            raise PatternError("a class that no character belongs to, or every one")
        if not negated and _ONE_ITEM.fullmatch(content):
            return content
        return f"[{'^' * negated}{content}]"

    def character(self, code_point: int) -> str:
        if code_point in _ESCAPES:
            return _ESCAPES[code_point]
        if chr(code_point) in _SPECIAL:
            return "\\" + chr(code_point)
        if code_point < 0x20 or code_point == 0x7F:
            return f"\\x{code_point:02x}"
        return chr(code_point)
