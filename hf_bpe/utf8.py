"""Bytes that are no UTF-8, as SentencePiece shows them."""

from __future__ import annotations

import codecs

__all__ = ["ONE_FOR_EACH_BYTE"]

ONE_FOR_EACH_BYTE = "hf_bpe.one_for_each_byte"
"""An error handler for decoding: one U+FFFD for each byte that is no part of a character ("replace" gives fewer).

>>> b"a\\xe4\\xb8b".decode("utf-8", ONE_FOR_EACH_BYTE)
'a\ufffd\ufffdb'
"""


def _one_for_each_byte(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error(ONE_FOR_EACH_BYTE, _one_for_each_byte)
