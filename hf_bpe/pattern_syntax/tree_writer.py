"""What writing a tree as a pattern has in common, whatever the dialect."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hf_bpe.pattern_syntax.tree import Alternation, Atomic, Class, Edge, Look, Node, Repeat, Sequence, Span

__all__ = ["TreeWriter"]


class TreeWriter(ABC):
    """Writes trees. What a dialect cannot say raises `PatternError`."""

    def node(self, node: Node) -> str:
        """Any tree."""
        match node:
            case Class():
                return self.character_class(node)
            case Sequence(parts):
                return "".join(f"(?:{self.node(part)})" if isinstance(part, Alternation) else self.node(part) for part in parts)
            case Alternation(branches):
                return "|".join(map(self.node, branches))
            case Repeat():
                return self.repeat(node)
            case Look():
                return self.look(node)
            case Atomic():
                return self.atomic(node)
            case Edge():
                return self.edge(node)

    def repeat(self, node: Repeat) -> str:
        """A repeated part: lazy, or as the plain one is written."""
        body = self.node(node.body)
        body = body if isinstance(node.body, Class | Atomic) else f"(?:{body})"
        return body + bounds_of(node) + "?" * (node.mode == "lazy")

    def look(self, node: Look) -> str:
        """A look ahead or behind."""
        return f"(?{'' if node.ahead else '<'}{'!' if node.negated else '='}{self.node(node.body)})"

    def atomic(self, node: Atomic) -> str:
        """A part that gives nothing back."""
        return f"(?>{self.node(node.body)})"

    def span(self, span: Span) -> str:
        """A range inside a class."""
        first, last = self.character(span.first), self.character(span.last)
        return first if span.first == span.last else f"{first}-{last}"

    @abstractmethod
    def character(self, code_point: int) -> str:
        """One character, inside a class or outside."""

    @abstractmethod
    def character_class(self, node: Class) -> str:
        """A class."""

    @abstractmethod
    def edge(self, node: Edge) -> str:
        """The beginning or the end of the text."""


def bounds_of(node: Repeat) -> str:
    """How often, as it is written behind the part.

    >>> from hf_bpe.pattern_syntax.tree import ANYTHING
    >>> bounds_of(Repeat(ANYTHING, 1, None, "greedy")), bounds_of(Repeat(ANYTHING, 1, 3, "greedy"))
    ('+', '{1,3}')
    """
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.least, node.most))
    if short is not None:
        return short
    if node.least == node.most:
        return f"{{{node.least}}}"
    return f"{{{node.least},{'' if node.most is None else node.most}}}"
