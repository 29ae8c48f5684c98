"""Tokens in colour, for terminals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style

from hf_bpe.analysis import Token, shown

__all__ = ["Painter", "label"]

_BACKGROUNDS = ("#c7d2fe", "#bbf7d0", "#fde68a", "#fecaca", "#a5f3fc")
"""Pale, with black letters on them: read alike on a light and on a dark terminal."""
_SPECIAL = Style(color="#ffffff", bgcolor="#7e22ce", bold=True)
_SYSTEMS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}
_MARK = "\0"


def label(token: Token) -> str:
    r"""What is shown for a token: its text with what is not seen made visible, `\xE4` for bytes that are no text, `<unk>` as it is spelled.

    >>> label(Token(0, 1, b" a\n", "x", " a\n", "ordinary", 0, (0, 3), (0, 3), range(1)))
    '·a⏎'
    """
    return shown(token.spelled if token.kind == "unknown" else token.content)


class Painter:
    """Puts colours round tokens. Where there are none (NO_COLOR), bars between tokens.

    The codes are put together here: rich takes a second for each 20,000 pieces of coloured text.
    """

    def __init__(self, console: Console) -> None:
        self._system = None if console.legacy_windows else _SYSTEMS.get(console.color_system or "")
        self.has_colours = self._system is not None and not console.no_color
        self._codes = cache(self._make_codes)

    def text(self, tokens: Iterable[Token], marks: Iterable[bool]) -> Iterator[str]:
        """A text as its tokens. marks: which of them to underline. A line break is shown and made."""
        for token, is_marked in zip(tokens, marks, strict=True):
            before, after = self._codes(token.number % len(_BACKGROUNDS), token.kind == "special", is_marked)
            yield before + label(token).replace("⏎", f"⏎{after}\n{before}") + after

    def one(self, token: Token, content: str, *, is_marked: bool = False) -> str:
        """Something else about a token, in its colours."""
        before, after = self._codes(token.number % len(_BACKGROUNDS), token.kind == "special", is_marked)
        return before + content + after

    def _make_codes(self, number: int, is_special: bool, is_marked: bool) -> tuple[str, str]:
        if not self.has_colours:
            return ("[", "]") if is_marked else ("", "|")
        style = _SPECIAL if is_special else Style(color="#000000", bgcolor=_BACKGROUNDS[number])
        style += Style(underline=is_marked, bold=is_marked or is_special)
        before, after = style.render(_MARK, color_system=self._system).split(_MARK)
        return before, after
