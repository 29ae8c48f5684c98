"""A split rule of another library, in the syntax of its regular expressions, as a pattern of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from conversion.tokenizer_json.pre_tokenizers import Split
from hf_bpe.errors import ConversionRefused, PatternError
from hf_bpe.pattern_syntax import Node, parse, render
from hf_bpe.pattern_syntax.fusion import fused
from hf_bpe.patterns import NAMED_PATTERNS, NamedPattern, check_pattern, find_named_pattern

__all__ = ["SplitRule", "from_tiktoken", "means_the_same", "read_stages"]

SplitRule: TypeAlias = tuple[str | None, Literal["keep", "drop"], tuple[str, ...]]
"""A pattern, what becomes of the text between its matches, and further stages."""

_WHOLE_TEXT = r"[\s\S]+"
"""How "the whole text is one piece" is written where a pattern is needed."""


def read_stages(splits: Sequence[Split], where: str) -> SplitRule:
    """Splits one after the other as a pattern and further stages: as few of them as are known to be exact."""
    if not all(split.unmatched == "keep" for split in splits[1:]):
        raise ConversionRefused(f"{where}: text is dropped by a step that is not the first one, which is not read")
    trees = [split.tree for split in splits]
    named = _published(trees) if splits[0].unmatched == "keep" else None
    if named is not None:
        return named.pattern, "keep", ()
    for at in reversed(range(len(trees) - 1)):
        both = fused(trees[at], trees[at + 1]) if splits[at].unmatched == "keep" else None
        if both is not None:
            trees[at : at + 2] = [both]
    first, *others = [_named_or_own(_checked(tree, where)) for tree in trees]
    return first, splits[0].unmatched, tuple(others)


def _published(trees: Sequence[Node]) -> NamedPattern | None:
    """The published sequence of splits that these are."""
    for named in NAMED_PATTERNS.values():
        if named.stages and [parse(stage, "oniguruma") for stage in named.stages] == list(trees):
            return named
    return None


def from_tiktoken(text: str, where: str) -> tuple[str | None, Literal["keep", "drop"]]:
    """For a `pat_str` the published pattern where it splits every text as that does, else that one translated; and what tiktoken
    does with the text between its matches.
    """
    if text == _WHOLE_TEXT:
        return None, "keep"
    pattern = _named_or_own(_parse(text, where))
    return pattern, "keep" if find_named_pattern(pattern) else "drop"


def _named_or_own(tree: Node) -> str:
    pattern = render(tree, "regex")
    named = find_named_pattern(pattern)
    return named.pattern if named and named.pattern else pattern


def means_the_same(pattern: str) -> bool:
    """Whether Oniguruma reads this text as the `regex` module does."""
    return parse(pattern, "oniguruma") == parse(pattern, "regex")


def _parse(text: str, where: str) -> Node:
    try:
        return _checked(parse(text, "tiktoken"), where)
    except PatternError as error:
        raise ConversionRefused(f"{where}: {error}") from None


def _checked(tree: Node, where: str) -> Node:
    try:
        check_pattern(render(tree, "regex"))
    except PatternError as error:
        raise ConversionRefused(f"{where}: {error}") from None
    return tree
