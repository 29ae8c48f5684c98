"""Writing a tree as a pattern in the dialect of one engine."""

from __future__ import annotations

from collections.abc import Callable

from hf_bpe.pattern_syntax.code_points import property_members
from hf_bpe.pattern_syntax.tree import (
    ANYTHING,
    SCRIPTS,
    Class,
    Dialect,
    Edge,
    Node,
    Property,
    Repeat,
    Span,
    oniguruma_word,
)
from hf_bpe.pattern_syntax.tree_writer import TreeWriter

_SPECIAL = frozenset("\\.^$|?*+()[]{}-&~#/ ") - {" ", "/"}


class _Renderer(TreeWriter):
    def __init__(self, dialect: Dialect, members: Callable[[Property], list[Span]] | None) -> None:
        self.dialect = dialect
        self.members = members

    def character(self, code_point: int) -> str:
        character = chr(code_point)
        if character in _SPECIAL:
            return "\\" + character
        if character in "\n\r\t":
            return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
        if character.isprintable():
            return character
        if self.dialect == "pcre2":  # one of its options takes \x{...} for the letter x
            return f"\\x{code_point:02x}" if code_point < 0x80 else character
        if self.dialect in ("regex", "tiktoken"):  # tiktoken's users, and tiktoken itself, read `_pat_str` by `regex` too
            return f"\\x{code_point:02x}" if code_point < 256 else f"\\U{code_point:08x}"
        return f"\\x{{{code_point:x}}}"

    def item(self, item: Span | Property) -> str:
        if isinstance(item, Span):
            return self.span(item)
        if self.members is not None:
            return "".join(map(self.span, self.members(item)))
        if self.is_spelled_out(item):
            return "".join(map(self.span, property_members(item)))
        letter = "P" if item.negated else "p"
        if item.name == "space":
            return "\\S" if item.negated else "\\s"
        if item.name == "word":
            if self.dialect == "oniguruma":
                return oniguruma_word(negated=item.negated)
            return "\\W" if item.negated else "\\w"
        if item.name in SCRIPTS and self.dialect != "regex" and self.dialect != "oniguruma":
            return f"\\{letter}{{{'Script=' if self.dialect == 'tiktoken' else 'sc:'}{item.name}}}"
        return f"\\{letter}{{{item.name}}}"

    def is_spelled_out(self, item: Property) -> bool:
        r"""Whether PCRE2 has other members: U+180E is `\s` there, and `\w` leaves out some alphabetic characters."""
        return self.dialect == "pcre2" and item.name in ("space", "word")

    def character_class(self, node: Class) -> str:
        if node == ANYTHING:
            return "[\\s\\S]"
        if len(node.items) == 1 and not node.negated:
            only = node.items[0]
            is_short = isinstance(only, Property) and self.members is None and not self.is_spelled_out(only)
            if is_short or (isinstance(only, Span) and only.first == only.last):
                return self.item(only)
        return f"[{'^' * node.negated}{''.join(map(self.item, node.items))}]"

    def repeat(self, node: Repeat) -> str:
        plain = super().repeat(node)
        if node.mode != "possessive":
            return plain
        # Oniguruma reads X{1,3}+ as a repeated group, so the braces case is spelled as the atomic group it means.
        return f"(?>{plain})" if plain.endswith("}") and self.dialect == "oniguruma" else plain + "+"

    def edge(self, node: Edge) -> str:
        if not node.end:
            return "\\A"
        return "\\Z" if self.dialect == "regex" else "\\z"


def render(tree: Node, dialect: Dialect, members: Callable[[Property], list[Span]] | None = None) -> str:
    """Write a tree in an engine's dialect.

    `members` replaces every property by the spans it returns, for an engine whose own Unicode tables are of another
    version than ours.
    """
    return _Renderer(dialect, members).node(tree)
