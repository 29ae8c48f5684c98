"""Normalising for the reference, by the `tokenizers` library: its tables of Unicode are the definition here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hf_bpe.errors import HfBpeError
from hf_bpe.normalizers import NormalizerStep, Prepend, Replace
from hf_bpe.patterns import pattern_for
from hf_bpe.spec import AddedToken

__all__ = ["NormalizerReference"]


@dataclass(frozen=True)
class NormalizerReference:
    """What is done to a stretch of text before it is split."""

    steps: tuple[NormalizerStep, ...] = ()
    add_prefix_space: bool = False

    def apply(self, text: str) -> str:
        """The changed text."""
        return str(self._library.normalize_str(text)) if self.steps and text else text

    def origins(self, text: str, normalised: str) -> list[tuple[int, int]]:
        """For each character of the changed text, first and last + 1 character of those that it was made of."""
        if not self.steps:
            return [(at, at + 1) for at in range(len(text))]
        import tokenizers

        tracked = tokenizers.PreTokenizedString(text)
        tracked.normalize(self._library.normalize)
        # The library tells only where parts of a text come from; so each character is made one.
        tracked.split(lambda _, whole: [whole.slice(slice(at, at + 1)) for at in range(len(normalised))])
        return [origin for _, origin, _ in tracked.get_splits("original", "char")]

    def prefixed(self, text: str) -> str:
        """The text with a space before it, if it is to have one and has none. Comes after all other changes."""
        return f" {text}" if self.add_prefix_space and text and not text.startswith(" ") else text

    def as_sought(self, tokens: Sequence[AddedToken]) -> dict[str, AddedToken]:
        """How added tokens stand in normalised text -> the token. Raises `HfBpeError` where that does not tell them apart."""
        sought: dict[str, AddedToken] = {}
        for token in tokens:
            spelling = self.apply(token.content)
            if not spelling:
                raise HfBpeError(
                    f"nothing is left of the added token {token.content!r} once it is normalised; set normalized to false"
                )
            if sought.setdefault(spelling, token) is not token:
                raise HfBpeError(
                    f"the added tokens {sought[spelling].content!r} and {token.content!r} are both {spelling!r} once they are "
                    "normalised; set normalized to false in one of them"
                )
        return sought

    @cached_property
    def _library(self) -> Any:
        from tokenizers import normalizers

        return normalizers.Sequence([_library_step(step) for step in self.steps])


def _library_step(step: NormalizerStep) -> Any:
    from tokenizers import Regex, normalizers

    if isinstance(step, Prepend):
        return normalizers.Prepend(step.content)
    if isinstance(step, Replace):
        return normalizers.Replace(Regex(pattern_for(step.pattern, "oniguruma")), step.content)
    if step in ("Strip", "StripLeft", "StripRight"):
        return normalizers.Strip(left=step != "StripRight", right=step != "StripLeft")
    return getattr(normalizers, step)()
