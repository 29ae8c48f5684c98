"""For libraries that find no special tokens in text: those are cut out of the text first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conversion.verification.side import AS_SPECIAL, AS_TEXT, Encode, Reading
from conversion.verification.stretches import splitter
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["stretch_by_stretch"]


def stretch_by_stretch(spec: TokenizerSpec, encode: Callable[[str], list[int]]) -> Mapping[Reading, Encode]:
    """The readings of a library that encodes one text at a time, whatever it spells."""
    split = splitter(spec.added_tokens)

    def as_special(text: str) -> list[int]:
        ids: list[int] = []
        for part in split(text):
            ids += [part.id] if isinstance(part, AddedToken) else encode(part)
        return ids

    return {
        AS_TEXT: lambda texts: [encode(text) for text in texts],
        AS_SPECIAL: lambda texts: [as_special(text) for text in texts],
    }
