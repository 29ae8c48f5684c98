"""A split rule of another library, in the syntax of its regular expressions, as a pattern of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hf_bpe.errors import ConversionRefused, PatternError
from hf_bpe.pattern_syntax import Dialect, Node, parse, render
from hf_bpe.patterns import NAMED_PATTERNS, check_pattern, find_named_pattern

__all__ = ["from_oniguruma", "from_tiktoken", "means_the_same", "read_stages"]

_WHOLE_TEXT = r"[\s\S]+"
"""How "the whole text is one piece" is written where a pattern is needed."""


def read_stages(splits: Sequence[tuple[str, str]], where: str) -> tuple[str | None, Literal["keep"]]:
    """Several Splits one after the other: a pattern only where a published one is just that."""
    stages = [_parse(text, where) for text, _ in splits]
    for named in NAMED_PATTERNS.values():
        published = [parse(stage, "oniguruma") for stage in named.stages]
        if published == stages and all(unmatched == "keep" for _, unmatched in splits):
            return named.pattern, "keep"
    known = ", ".join(named.name for named in NAMED_PATTERNS.values() if named.stages)
    raise ConversionRefused(
        f"{where}: {len(stages)} Splits in a row that are not a published sequence ({known}) are no one pattern"
    )


def from_oniguruma(text: str, where: str) -> str:
    """The published pattern where it splits every text as this one does, else this one translated."""
    return _named_or_own(_parse(text, where))


def from_tiktoken(text: str, where: str) -> tuple[str | None, Literal["keep", "drop"]]:
    """The same for a `pat_str`, and what tiktoken does with the text between its matches."""
    if text == _WHOLE_TEXT:
        return None, "keep"
    pattern = _named_or_own(_parse(text, where, "tiktoken"))
    return pattern, "keep" if find_named_pattern(pattern) else "drop"


def _named_or_own(tree: Node) -> str:
    pattern = render(tree, "regex")
    named = find_named_pattern(pattern)
    return named.pattern if named and named.pattern else pattern


def means_the_same(pattern: str) -> bool:
    """Whether Oniguruma reads this text as the `regex` module does."""
    return parse(pattern, "oniguruma") == parse(pattern, "regex")


def _parse(text: str, where: str, dialect: Dialect = "oniguruma") -> Node:
    try:
        tree = parse(text, dialect)
        check_pattern(render(tree, "regex"))
    except PatternError as error:
        raise ConversionRefused(f"{where}: {error}") from None
    return tree
