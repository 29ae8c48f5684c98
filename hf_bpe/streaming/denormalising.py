"""Replacing parts of a text that comes bit by bit."""

from __future__ import annotations

from codecs import utf_8_decode

from hf_bpe.charsmap import Charsmap
from hf_bpe.engine.pieces_reference import replacements

__all__ = ["Denormalising"]


class Denormalising:
    """A denormaliser at work. Holds text back for as long as more of it could make a longer key of the charsmap.

    Bytes that are no text come and go as lone surrogates ("surrogateescape") unless `errors` is "replace".
    """

    __slots__ = ("_charsmap", "_errors", "_held", "_made")

    def __init__(self, charsmap: Charsmap, errors: str) -> None:
        self._charsmap = charsmap
        self._errors = errors
        self._held = b""
        self._made = b""

    def feed(self, text: str, *, final: bool) -> str:
        """What the text becomes, as far as it is certain. `final`: no more will come."""
        held = self._held + text.encode("utf-8", "surrogateescape")
        stop, bits = len(held), []
        for start, content in replacements(held, self._charsmap, _no_user_defined, None):
            if not final and (self._charsmap.may_go_on(held, start) or _is_cut_off(held, start)):
                stop = start
                break
            bits.append(content)
        made = self._made + b"".join(bits)
        decoded, used = utf_8_decode(made, self._errors, final)
        self._held, self._made = held[stop:], made[used:]
        return decoded

    def copy(self) -> Denormalising:
        """Another that stands where this one does."""
        other = Denormalising(self._charsmap, self._errors)
        other._held, other._made = self._held, self._made
        return other


def _is_cut_off(text: bytes, start: int) -> bool:
    """Whether more bytes could make a character of those at the end of the text."""
    return len(text) - start < 4 and utf_8_decode(text[start:], "replace", False)[1] == 0


def _no_user_defined(text: bytes, start: int) -> int:
    return 0
