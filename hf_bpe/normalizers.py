"""What is done to a text before it is split: the steps of `TokenizerSpec.normalizer`, named as in the `tokenizers` library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

__all__ = ["NamedStep", "NormalizerStep", "Prepend", "Replace", "as_steps", "describe", "normalizer_defects"]

NamedStep: TypeAlias = Literal[
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Lowercase",
    "StripAccents",
    "Strip",
    "StripLeft",
    "StripRight",
]
"""A Unicode normal form (of Unicode 9, as in `tokenizers`); every character by itself in lower case; without combining marks;
without the white space at both ends or one."""


@dataclass(frozen=True)
class Prepend:
    """Puts a text before every stretch that is not empty."""

    content: str


@dataclass(frozen=True)
class Replace:
    """Puts a text in the place of every match of a pattern, which is in the syntax of the `regex` module."""

    pattern: str
    content: str


NormalizerStep: TypeAlias = NamedStep | Prepend | Replace
"""One change to a text."""


def as_steps(normalizer: NormalizerStep | Sequence[NormalizerStep]) -> tuple[NormalizerStep, ...]:
    """The steps of what is one step or several.

    >>> as_steps("NFC")
    ('NFC',)
    """
    return (normalizer,) if isinstance(normalizer, str | Prepend | Replace) else tuple(normalizer)


def normalizer_defects(normalizer: object) -> Iterator[str]:
    """What makes this no normalizer; patterns are not looked at."""
    if not isinstance(normalizer, tuple):
        yield f"normalizer must be a tuple of steps, such as ('NFC',), not {normalizer!r:.80}"
        return
    for step in normalizer:
        texts = () if isinstance(step, str) else tuple(vars(step).values()) if isinstance(step, Prepend | Replace) else (None,)
        if (isinstance(step, str) and step not in get_args(NamedStep)) or not all(isinstance(text, str) for text in texts):
            yield f"normalizer step {step!r:.80} is not known; there are {', '.join(get_args(NamedStep))}, Prepend and Replace"
        elif any("\ud800" <= character <= "\udfff" for text in texts for character in text):
            yield f"normalizer step {step!r} holds a lone surrogate, which no UTF-8 text does"


def describe(normalizer: Sequence[NormalizerStep], add_prefix_space: bool) -> str:
    """All that is done to a text, in words for a message; "" for nothing.

    >>> describe(("NFC", Prepend("_")), True)
    "NFC, Prepend(content='_'), a space before the text"
    """
    steps = [step if isinstance(step, str) else repr(step) for step in normalizer]
    return ", ".join([*steps, "a space before the text"] if add_prefix_space else steps)
