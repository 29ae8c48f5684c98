"""Which bytes a SentencePiece model falls back to in some text: those of characters that are no pieces."""

from __future__ import annotations

from collections.abc import Iterator

from hf_bpe.charsmap import Charsmap
from hf_bpe.pieces import SPACE_SYMBOL, SentencePieceRules

__all__ = ["bytes_fallen_back_to"]

_LEADS = ((0xF0, 18), (0xE0, 12), (0xC0, 6))
"""The first byte that begins characters of 4, 3 and 2 bytes, and how many bits follow in the other bytes."""


def bytes_fallen_back_to(rules: SentencePieceRules) -> frozenset[int] | None:
    """The bytes whose byte pieces some text may have; no text has the others. None: not known, for the normaliser writes no UTF-8.

    Without a normaliser some text has each of them: the character by itself, between others that no piece holds. With one, such a
    character may only ever come up where it is merged with its neighbours.

    >>> from hf_bpe.pieces import Piece, byte_piece
    >>> pieces = (Piece("<unk>", kind="unknown"), Piece("A"), *(Piece(byte_piece(b), kind="byte") for b in range(256)))
    >>> found = bytes_fallen_back_to(SentencePieceRules(pieces, byte_fallback=True))
    >>> [chr(byte) for byte in range(128) if byte not in found], [hex(byte) for byte in range(128, 256) if byte not in found][:3]
    ([' ', 'A'], ['0xc0', '0xc1', '0xf5'])
    """
    if not rules.byte_fallback:
        return frozenset()
    charsmap = Charsmap(rules.precompiled_charsmap) if rules.precompiled_charsmap else None
    written = frozenset[str]() if charsmap is None else charsmap.characters_written()
    if written is None:
        return None
    # The normaliser does not see the space that is put before a text, nor what a space is written as, nor pieces that are found before
    # anything else; and what is malformed once it has taken parts of characters becomes U+FFFD.
    space = SPACE_SYMBOL if rules.escape_whitespaces else " "
    kept = {"\ufffd", space, *written, *(c for piece in rules.pieces if piece.kind == "user_defined" for c in piece.content)}
    found_whole = {piece.content for piece in rules.pieces if piece.kind in ("normal", "user_defined")}

    def falls_back(character: str) -> bool:
        if character in found_whole or (character == " " and rules.escape_whitespaces):
            return False
        return charsmap is None or character in kept or charsmap.longest(character.encode(), 0) is None

    return frozenset(byte for byte in range(256) if any(map(falls_back, _characters_with(byte))))


def _characters_with(byte: int) -> Iterator[str]:
    """All characters whose UTF-8 holds the byte."""
    if byte < 0x80:
        yield chr(byte)
        return
    codes = range(0x80, 0x110000)
    lead, bits = next(((lead, bits) for lead, bits in _LEADS if byte >= lead), (0, 0))
    if lead:
        codes = range((byte - lead) << bits, min((byte - lead + 1) << bits, 0x110000))
    for code in codes:
        if not 0xD800 <= code < 0xE000 and byte in chr(code).encode():
            yield chr(code)
