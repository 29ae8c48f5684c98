"""A Split of a tokenizer.json, whose regular expressions Oniguruma runs, as a pattern of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hf_bpe.errors import ConversionRefused, PatternError
from hf_bpe.pattern_syntax import Node, parse, render
from hf_bpe.patterns import NAMED_PATTERNS, check_pattern, find_named_pattern

__all__ = ["from_oniguruma", "means_the_same", "read_stages"]


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
    pattern = render(_parse(text, where), "regex")
    named = find_named_pattern(pattern)
    return named.pattern if named and named.pattern else pattern


def means_the_same(pattern: str) -> bool:
    """Whether Oniguruma reads this text as the `regex` module does."""
    return parse(pattern, "oniguruma") == parse(pattern, "regex")


def _parse(text: str, where: str) -> Node:
    try:
        tree = parse(text, "oniguruma")
        check_pattern(render(tree, "regex"))
    except PatternError as error:
        raise ConversionRefused(f"{where}: {error}") from None
    return tree
