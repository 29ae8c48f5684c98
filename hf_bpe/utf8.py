"""Bytes that are no UTF-8: as SentencePiece shows them, and whether a text can begin with them or hold them."""

from __future__ import annotations

import codecs

__all__ = ["ONE_FOR_EACH_BYTE", "begins_text", "is_within_text"]

ONE_FOR_EACH_BYTE = "hf_bpe.one_for_each_byte"
"""An error handler for decoding: one U+FFFD for each byte that is no part of a character ("replace" gives fewer).

>>> b"a\\xe4\\xb8b".decode("utf-8", ONE_FOR_EACH_BYTE)
'a\ufffd\ufffdb'
"""

_CONTINUATION = bytes(range(0x80, 0xC0))
_HEADS = (b"", b"\xc2", b"\xe1", b"\xf1")
"""By how many bytes are missing behind it: a byte that begins a character and lets any continuation bytes follow."""


def begins_text(content: bytes) -> bool:
    r"""Whether some text begins with these bytes: they are characters, but for the last, of which the end may be missing.

    >>> begins_text(b"a\xe4\xb8"), begins_text(b"\xb8a"), begins_text(b"\xed\xa0")
    (True, False, False)
    """
    try:
        codecs.utf_8_decode(content, "strict", False)
    except UnicodeDecodeError:
        return False
    # The decoder says no to the start of a surrogate only when its third byte comes, so that "surrogatepass" can let it pass.
    return not (content[-2:-1] == b"\xed" and content[-1] >= 0xA0)


def is_within_text(content: bytes) -> bool:
    r"""Whether some text holds these bytes: as `begins_text`, but the start of the first character may be missing, too.

    >>> is_within_text(b"\xb8a"), is_within_text(b"\x80\x80\x80\x80"), is_within_text(b"\xff")
    (True, False, False)
    """
    missing = len(content) - len(content.lstrip(_CONTINUATION))
    return missing < len(_HEADS) and begins_text(_HEADS[missing] + content)


def _one_for_each_byte(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error(ONE_FOR_EACH_BYTE, _one_for_each_byte)
