"""How a token is built: a tree of merges from the bytes up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hf_bpe.engine.steps import MergeRules, MergeStep

__all__ = ["MergeNode", "merge_trees"]


class MergeNode(NamedTuple):
    """A part of a token. rank, score: of the merge that makes it of its two parts, see `MergeStep`; None of what merging begins with."""

    content: bytes
    rank: int | None = None
    score: float | None = None
    parts: tuple[MergeNode, ...] = ()

    def to_dict(self, spell: Callable[[bytes], str]) -> dict[str, Any]:
        """For JSON; ranks are counted from 1."""
        found: dict[str, Any] = {"token": spell(self.content)}
        if self.parts:
            found |= {"rank": None if self.rank is None else self.rank + 1, "score": self.score}
            found["parts"] = [part.to_dict(spell) for part in self.parts]
        return found


def merge_trees(rules: MergeRules, content: bytes) -> tuple[MergeNode, ...]:
    """The tree of a token; several, side by side, of one that merging does not make out of its own bytes: then no text has it.

    Raises `EncodingError` for a token of more than 2,000 bytes.

    >>> from hf_bpe.training import train
    >>> spec = train(["aaabdaaabac"], 259, pattern=None, progress=False)
    >>> [tree] = merge_trees(MergeRules(spec), b"aaab")
    >>> tree.rank, [part.content for part in tree.parts]
    (2, [b'aa', b'ab'])
    """
    first, *later = rules.steps(content, whole=False)
    nodes = [MergeNode(symbol) for symbol in first.tokens]
    for step in later:
        if step.pair is not None:  # else characters become byte pieces, which is no merge
            place = _place(nodes, step)
            nodes[place : place + 2] = [MergeNode(b"".join(step.pair), step.rank, step.score, (nodes[place], nodes[place + 1]))]
    return tuple(nodes)


def _place(nodes: Sequence[MergeNode], step: MergeStep) -> int:
    """Where a step merged: the first place at which that gives what is there after it."""
    tokens = tuple(node.content for node in nodes)
    for place in range(len(tokens) - 1):
        if (
            tokens[place : place + 2] == step.pair
            and (*tokens[:place], b"".join(step.pair), *tokens[place + 2 :]) == step.tokens
        ):
            return place
    raise RuntimeError("a step that is no merge of the one before")
