"""What is shown for characters that are not seen: spaces, controls, marks without a letter, and bytes that are no text.

Nothing that is shown can move a cursor, turn the direction of writing round, or join with what stands before it. So text of anybody can be
put into a terminal or a page, and each token keeps to its own place.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Glyph", "glyphs", "glyphs_of_bytes", "shown"]

_PICTURES = {" ": "·", "\t": "→", "\n": "⏎", "\u00a0": "⍽", "\x7f": "␡"}
_NAMES = {"\n": "line feed", "\t": "tab", "\r": "carriage return", "\0": "null"}
_DOTTED_CIRCLE = "\u25cc"


class Glyph(NamedTuple):
    """What is shown for one or more characters, or for one byte.

    shown: the text to show. stands_for: what it is, where that is not the text itself: "space", "U+200D ZERO WIDTH JOINER",
    "byte F0"; a page can say it aloud. source: the characters, as many as there are of them; of a byte none.
    """

    shown: str
    stands_for: str | None
    source: str


def glyphs(text: str) -> list[Glyph]:
    r"""A text in runs: as it is where it is seen, one glyph for each character that is not.

    A combining mark is shown as it is behind a letter, and on a dotted circle at the start.

    >>> [glyph.shown for glyph in glyphs("a b\n")], glyphs("\u200d")[0]
    (['a', '·', 'b', '⏎'], Glyph(shown='[U+200D]', stands_for='U+200D ZERO WIDTH JOINER', source='\u200d'))
    """
    return list(_runs(text))


def glyphs_of_bytes(content: bytes) -> list[Glyph]:
    r"""The same for the bytes of a token: those that are text as text, the others one by one.

    >>> [glyph.shown for glyph in glyphs_of_bytes(b" \xf0\x9f")]
    ['·', '\\xF0', '\\x9F']
    """
    return glyphs(content.decode("utf-8", "surrogateescape"))


def shown(text: str | bytes) -> str:
    r"""The same as one string.

    >>> shown("\ta\u202e"), shown(b"\xe4b")
    ('→a[U+202E]', '\\xE4b')
    """
    return _shown(text if isinstance(text, str) else text.decode("utf-8", "surrogateescape"))


@lru_cache(1 << 16)  # the same tokens come again and again: a megabyte of them in a fifth of the time
def _shown(text: str) -> str:
    return "".join(glyph.shown for glyph in _runs(text))


def _runs(text: str) -> Iterator[Glyph]:
    run = ""
    for character in text:
        glyph = _unseen(character)
        if glyph is None and not run and _joins(character):
            yield Glyph(_DOTTED_CIRCLE + character, _name(character), character)
        elif glyph is None:
            run += character
        else:
            if run:
                yield Glyph(run, None, run)
                run = ""
            yield glyph
    if run:
        yield Glyph(run, None, run)


@lru_cache(1 << 12)
def _unseen(character: str) -> Glyph | None:
    """What stands for a character that is not seen; None for one that is."""
    code_point = ord(character)
    if 0xDC80 <= code_point <= 0xDCFF:
        byte = f"{code_point - 0xDC00:02X}"
        return Glyph(f"\\x{byte}", f"byte {byte}", "")
    if character in _PICTURES:
        return Glyph(_PICTURES[character], _name(character), character)
    if code_point < 0x20:
        return Glyph(chr(0x2400 + code_point), _name(character), character)
    # What Python calls printable are letters, marks, signs and the plain space: no controls, no other spaces, nothing unassigned.
    return None if character.isprintable() else Glyph(f"[U+{code_point:04X}]", _name(character), character)


def _joins(character: str) -> bool:
    """Whether it would be drawn onto what stands before it."""
    return unicodedata.category(character) in ("Mn", "Mc", "Me")


def _name(character: str) -> str:
    if character == " ":
        return "space"
    name = _NAMES.get(character) or unicodedata.name(character, "no character" if ord(character) > 0x9F else "control")
    return f"U+{ord(character):04X} {name}"
