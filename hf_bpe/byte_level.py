"""The printable spelling of bytes that GPT-2 gave the field, and its inverse.

JSON and text files cannot hold arbitrary bytes, so `encoder.json`, `vocab.bpe` and byte-level `tokenizer.json` files spell
each byte as one printable character: bytes that are printable in Latin-1 stand for themselves, the other 68 are moved to
U+0100 and up, in byte order.
"""

from __future__ import annotations

from functools import cache

__all__ = ["bytes_to_token", "bytes_to_unicode", "token_to_bytes", "unicode_to_bytes"]


@cache
def bytes_to_unicode() -> dict[int, str]:
    """The table: byte 0..255 -> one character.

    >>> bytes_to_unicode()[0x20], bytes_to_unicode()[0x41]
    ('Ġ', 'A')
    """
    stands_for_itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in set(stands_for_itself)]
    return {byte: chr(byte) for byte in stands_for_itself} | {byte: chr(0x100 + n) for n, byte in enumerate(moved)}


@cache
def unicode_to_bytes() -> dict[str, int]:
    """The inverse table: character -> byte."""
    return {character: byte for byte, character in bytes_to_unicode().items()}


def bytes_to_token(token: bytes) -> str:
    """Spell bytes in the printable alphabet.

    >>> bytes_to_token(b" hello")
    'Ġhello'
    """
    return token.decode("latin-1").translate(bytes_to_unicode())


def token_to_bytes(token: str) -> bytes:
    """Read a printable spelling back. Raises `ValueError` naming the first character outside the alphabet.

    >>> token_to_bytes("Ġhello")
    b' hello'
    """
    table = unicode_to_bytes()
    try:
        return bytes([table[character] for character in token])
    except KeyError as error:
        raise ValueError(f"{token!r} holds {error.args[0]!r}, which is not one of the 256 byte-level characters") from None
