"""Added tokens in text that goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex

from hf_bpe.engine.reference import Place, cut_at
from hf_bpe.spec import AddedToken

__all__ = ["AddedTokens", "Stretch"]


class Stretch(NamedTuple):
    """Start and end, in characters, of ordinary text or of an added token; whether more text can no longer change that."""

    start: int
    stop: int
    token: AddedToken | None
    is_certain: bool


class AddedTokens:
    """Finds added tokens, and says of which of them the end of the text could be the beginning.

    matched: what is cut out of the text. forbidden: what raises; of these only beginnings matter here.
    """

    def __init__(self, matched: Sequence[AddedToken], forbidden: Sequence[AddedToken]) -> None:
        # Those with `normalized` are looked for in what the others leave.
        self._passes = [_Finder([t for t in matched if t.normalized is kind]) for kind in (False, True)]
        contents = [token.content for token in (*matched, *forbidden)]
        self._beginnings = {content[:length] for content in contents for length in range(1, len(content))}
        self._longest = max(map(len, contents), default=1) - 1
        self._takes_space_before = any(token.lstrip for token in matched)

    def certain_until(self, text: str) -> int:
        """Where the part of the text begins that may yet become an added token, or be taken along by one."""
        start = max(0, len(text) - self._longest)
        certain = next((n for n in range(start, len(text)) if text[n:] in self._beginnings), len(text))
        if self._takes_space_before:
            certain = len(text[:certain].rstrip())
        return certain

    def stretches(self, text: str) -> Iterator[Stretch]:
        """The text cut at the tokens."""
        start = max(0, len(text) - self._longest)
        open_from = next((n for n in range(start, len(text)) if text[n:] in self._beginnings), len(text))
        written, normalised = self._passes
        for first, last, token in written.cut(text):
            if token is not None or not normalised:
                yield self._stretch(text, first, last, token, open_from)
                continue
            for inner, outer, found in normalised.cut(text[first:last]):
                yield self._stretch(text, first + inner, first + outer, found, open_from)

    def _stretch(self, text: str, start: int, stop: int, token: AddedToken | None, open_from: int) -> Stretch:
        if token is None:
            return Stretch(start, stop, None, False)
        begins = text.find(token.content, start)
        return Stretch(start, stop, token, begins < open_from and not (token.rstrip and stop == len(text)))


class _Finder:
    """Finds tokens, the longest at each place. One look at the first character rules most places out."""

    def __init__(self, tokens: Sequence[AddedToken]) -> None:
        self._tokens = {token.content: token for token in tokens}
        self._lengths = sorted({len(content) for content in self._tokens}, reverse=True)
        firsts = sorted({content[0] for content in self._tokens})
        self._first = regex.compile("[" + "".join(map(_escaped, firsts)) + "]") if firsts else None

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def cut(self, text: str) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Start, end and token of each stretch."""
        return cut_at(text, self._places(text))

    def _places(self, text: str) -> Iterator[Place]:
        done = 0
        for match in self._first.finditer(text) if self._first is not None else ():
            start = match.start()
            if start < done:
                continue
            content = next((text[start : start + n] for n in self._lengths if text[start : start + n] in self._tokens), None)
            if content is not None:
                done = start + len(content)
                yield start, done, self._tokens[content]


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08x}"
