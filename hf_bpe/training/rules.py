"""What may not be learnt: pairs of tokens that are never merged, by name, by their text or by what is found in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from hf_bpe.engine.reference import compile_pattern
from hf_bpe.errors import PatternError, TrainingError
from hf_bpe.training.settings import ByteLevelSettings

__all__ = ["NAMED_RULES", "Forbids", "forbids", "forbids_in_second_stage", "resolve_rule"]

Forbids: TypeAlias = Callable[[bytes, bytes], bool]
"""Whether a pair of tokens must not be merged."""

NAMED_RULES: Mapping[str, str] = MappingProxyType(
    {
        "letters-with-digits": r"\p{L}[\s\S]*\p{N}|\p{N}[\s\S]*\p{L}",
        "emails": r"[\p{L}\p{N}_.+\-]@[\p{L}\p{N}]|@[\p{L}\p{N}\-]+\.\p{L}",
        "urls": r"[hH][tT][tT][pP][sS]?:/|[wW][wW][wW]\.",
        "beyond-ascii": r"[^\x00-\x7f]",
    }
)
"""Patterns for `forbidden_patterns` by name."""

_LOOKS_LIKE_A_NAME = re.compile(r"[a-z]+(-[a-z]+)+")


def resolve_rule(name_or_pattern: str) -> str:
    """A named rule's pattern, or the pattern itself.

    >>> resolve_rule("beyond-ascii")
    '[^\\\\x00-\\\\x7f]'
    """
    if name_or_pattern in NAMED_RULES:
        return NAMED_RULES[name_or_pattern]
    if _LOOKS_LIKE_A_NAME.fullmatch(name_or_pattern):
        raise TrainingError(
            f"no rule is named {name_or_pattern!r}; there are {', '.join(NAMED_RULES)}. As a regular expression, write it ({name_or_pattern})"
        )
    return name_or_pattern


def forbids(settings: ByteLevelSettings) -> Forbids:
    """What these settings forbid in every stage.

    Called once for each pair that comes up to be merged, not for each that occurs: with three named patterns 30 microseconds each, so a
    second for 32,000 merges. To say it again in Rust would save that second, and have two engines agree on patterns once more.
    Raises `PatternError`.

    >>> from hf_bpe.training.settings import ByteLevelSettings
    >>> forbids(ByteLevelSettings(forbidden_patterns=("letters-with-digits",)))(b"a", b"1")
    True
    """
    tokens = {text.encode() for text in settings.forbidden_tokens}
    pairs = {(left.encode(), right.encode()) for left, right in settings.forbidden_merges}
    patterns = [_compiled(pattern) for pattern in settings.forbidden_patterns]

    def forbidden(left: bytes, right: bytes) -> bool:
        token = left + right
        if token in tokens or (left, right) in pairs:
            return True
        text = token.decode("utf-8", "replace")
        return any(pattern.search(text) for pattern in patterns)

    return forbidden


_WORD = compile_pattern(r"[\p{L}\p{M}\u200c\u200d'\u2019]+")


def forbids_in_second_stage(settings: ByteLevelSettings) -> Forbids:
    """The same, and tokens of more words than `superword_max_words`."""
    everywhere, most = forbids(settings), settings.superword_max_words
    if most is None:
        return everywhere

    def forbidden(left: bytes, right: bytes) -> bool:
        return everywhere(left, right) or len(_WORD.findall((left + right).decode("utf-8", "replace"))) > most

    return forbidden


def _compiled(pattern: str) -> re.Pattern[str]:
    compiled = compile_pattern(resolve_rule(pattern))
    if compiled.search("") is not None:
        raise PatternError(f"forbidden pattern {pattern!r} is found in every text, even the empty one; nothing could be learnt")
    return compiled  # type: ignore[return-value]  # of the `regex` module, which has the same methods
