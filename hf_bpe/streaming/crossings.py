"""Borders between characters that no token crosses: where text without a pattern may be cut."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Crossings"]


class Crossings:
    """The borders that some token crosses.

    Whatever merging makes is a token. So where no token holds the end of one character followed by the beginning of the next, no
    merge ever crosses the border between them, and what stands on either side is merged as if it were alone. The native
    engine cuts long pieces by the same rule.

    >>> crossings = Crossings([b"ab", b"bc"])
    >>> crossings.cross("a", "b"), crossings.cross("a", "c")
    (True, False)
    """

    def __init__(self, tokens: Iterable[bytes]) -> None:
        # Bytes that are part of a character become lone surrogates, one each.
        written = (token.decode("utf-8", "surrogateescape") for token in tokens if len(token) > 1)
        self._pairs = {text[place : place + 2] for text in written for place in range(len(text) - 1)}

    def cross(self, left: str, right: str) -> bool:
        """Whether a token may hold the end of `left` and the beginning of `right`, which are characters."""
        lefts, rights = {left}, {right}
        if not left.isascii():
            lefts.add(_as_part(left.encode()[-1]))
        if not right.isascii():
            rights.add(_as_part(right.encode()[0]))
        return any(before + after in self._pairs for before in lefts for after in rights)

    def last_uncrossed(self, text: str, start: int, end: int) -> int:
        """The last border from `start + 1` to `end - 1` that no token crosses; `start` if there is none."""
        return next((place for place in range(end - 1, start, -1) if not self.cross(text[place - 1], text[place])), start)


def _as_part(byte: int) -> str:
    return bytes([byte]).decode("utf-8", "surrogateescape")
