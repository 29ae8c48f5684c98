"""What a SentencePiece BPE model is: pieces with scores, and how text becomes the characters they are merged from.

Merging starts from characters, not bytes, and takes the adjacent pair whose concatenation is the piece with the highest score
(the leftmost of equals). A character that is no piece becomes its bytes or the unknown piece, after merging.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from functools import cached_property
from typing import Any, Literal, get_args

from hf_bpe.errors import some

__all__ = ["SPACE_SYMBOL", "Piece", "PieceKind", "SentencePieceRules", "byte_of_piece", "byte_piece", "piece_bytes"]

SPACE_SYMBOL = "\u2581"
"""What a space is written as inside pieces, where `escape_whitespaces` holds."""

PieceKind = Literal["normal", "unknown", "control", "user_defined", "unused", "byte"]
PrependScheme = Literal["always", "first", "never"]


@dataclass(frozen=True)
class Piece:
    """One entry of a SentencePiece vocabulary; its id is its position.

    score: a 32-bit float; higher merges earlier. It means nothing for pieces that merging never makes.
    kind: "normal"; "unknown": stands for what is no piece; "control": never found in text; "user_defined": found in the text
        before anything else and merged with nothing; "unused": merges like a normal piece, then comes apart into the two it
        was made of, and is unknown where it is a single character; "byte": one byte of a character that is no piece, written `<0x41>`.
    """

    content: str
    score: float = 0.0
    kind: PieceKind = "normal"


@dataclass(frozen=True)
class SentencePieceRules:
    """All that decides what a SentencePiece BPE model does. Meanings as in its `.model` file.

    byte_fallback: characters that are no piece become byte pieces, of which there must be all 256; else the unknown piece,
        neighbours becoming one.
    prepend_scheme: whether a space is put before the text (after it, with `treat_whitespace_as_suffix`): "always", "never",
        or "first": not where the text follows an added token. SentencePiece itself knows the first two.
    prefix_before_space: whether that space is put even before text that begins with a space (or U+2581), as SentencePiece does;
        the Metaspace step of tokenizer.json leaves it out there.
    precompiled_charsmap: the normaliser's replacements, by longest prefix, as SentencePiece stores them; empty: none.
    denormalizer_charsmap: the same for decoded text.
    remove_extra_whitespaces: spaces at both ends go, and of several in a row all but one.
    escape_whitespaces: a space is written U+2581.
    unk_surface: what the unknown piece decodes to.
    bos_id, eos_id, pad_id: for callers that add them; encoding does not.
    """

    pieces: tuple[Piece, ...]
    byte_fallback: bool = False
    prepend_scheme: PrependScheme = "always"
    prefix_before_space: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    precompiled_charsmap: bytes = b""
    denormalizer_charsmap: bytes = b""
    normalizer_name: str = "identity"
    unk_surface: str = " \u2047 "
    bos_id: int | None = None
    eos_id: int | None = None
    pad_id: int | None = None

    @cached_property
    def unk_id(self) -> int:
        """The id of the unknown piece."""
        return next(n for n, piece in enumerate(self.pieces) if piece.kind == "unknown")

    def defects(self) -> list[str]:
        """Every contradiction, one sentence each."""
        if not all(isinstance(piece, Piece) and isinstance(piece.content, str) for piece in self.pieces):
            return ["pieces must be Piece(content: str, score: float, kind)"]
        return [*_piece_defects(self), *_byte_defects(self), *_setting_defects(self)]


def byte_piece(byte: int) -> str:
    """How a byte is written as a piece.

    >>> byte_piece(65)
    '<0x41>'
    """
    return f"<0x{byte:02X}>"


_BYTE_OF_PIECE = {byte_piece(byte): byte for byte in range(256)}


def byte_of_piece(content: str) -> int | None:
    """The byte that a piece stands for by its spelling, or None.

    >>> byte_of_piece("<0x41>")
    65
    """
    return _BYTE_OF_PIECE.get(content)


def piece_bytes(piece: Piece) -> bytes:
    """The bytes a piece stands for by itself: U+2581 as a space, byte pieces as the byte, others as written.

    >>> piece_bytes(Piece("\u2581a")), piece_bytes(Piece("<0x41>", kind="byte")), piece_bytes(Piece("<s>", kind="control"))
    (b' a', b'A', b'<s>')
    """
    if piece.kind == "byte":
        return bytes([_BYTE_OF_PIECE[piece.content]])
    written = piece.content if piece.kind in ("control", "unknown") else piece.content.replace(SPACE_SYMBOL, " ")
    return written.encode()


def _piece_defects(rules: SentencePieceRules) -> Iterator[str]:
    pieces = rules.pieces
    if any(not piece.content for piece in pieces):
        yield f"piece {next(n for n, piece in enumerate(pieces) if not piece.content)} is empty"
    repeated = [content for content, count in Counter(piece.content for piece in pieces).items() if count > 1]
    if repeated:
        yield f"pieces appear more than once: {_some(repeated)}"
    unwritable = [piece.content for piece in pieces if "\0" in piece.content or not _is_unicode(piece.content)]
    if unwritable:
        yield f"pieces hold a NUL or a lone surrogate: {_some(unwritable)}"
    kinds = {piece.kind for piece in pieces} - set(get_args(PieceKind))
    if kinds:
        yield f"piece kinds must be one of {', '.join(get_args(PieceKind))}, not {_some(sorted(map(str, kinds)))}"
    unusable = [f"{piece.content!r} has {piece.score!r}" for piece in pieces if not _is_float32(piece.score)]
    if unusable:
        yield f"scores must be finite 32-bit floats: {some(unusable)}"
    unknown = [piece.content for piece in pieces if piece.kind == "unknown"]
    if len(unknown) != 1:
        yield f"there must be exactly one unknown piece, not {len(unknown)}{': ' + _some(unknown) if unknown else ''}"


def _byte_defects(rules: SentencePieceRules) -> Iterator[str]:
    found = [piece.content for piece in rules.pieces if piece.kind == "byte"]
    misspelt = [content for content in found if byte_of_piece(content) is None]
    if misspelt:
        yield f"byte pieces must be written like '<0x41>': {_some(misspelt)}"
    missing = [content for content in _BYTE_OF_PIECE if content not in found]
    if rules.byte_fallback and missing:
        yield f"byte_fallback needs a byte piece for all 256 bytes; missing: {_some(missing)}"
    if not rules.byte_fallback and found:
        yield f"there are byte pieces, but byte_fallback is off: {_some(found)}"


def _setting_defects(rules: SentencePieceRules) -> Iterator[str]:
    if rules.prepend_scheme not in get_args(PrependScheme):
        yield f"prepend_scheme is {rules.prepend_scheme!r}; it must be 'always', 'first' or 'never'"
    if rules.prefix_before_space is False:
        fits = (rules.prepend_scheme != "never", not rules.remove_extra_whitespaces, not rules.treat_whitespace_as_suffix)
        if not (all(fits) and rules.escape_whitespaces and not rules.precompiled_charsmap):
            yield (
                "prefix_before_space=False is the rule of Metaspace, which has a prefix and escapes spaces, and goes with none of "
                "remove_extra_whitespaces, treat_whitespace_as_suffix and precompiled_charsmap"
            )
    for field in dataclass_fields(rules):
        value: Any = getattr(rules, field.name)
        if field.type == "bool" and type(value) is not bool:
            yield f"{field.name} must be True or False, not {value!r}"
        if field.type == "bytes" and type(value) is not bytes:
            yield f"{field.name} must be bytes, not a {type(value).__name__}"
        if field.type == "str" and not (isinstance(value, str) and _is_unicode(value)):
            yield f"{field.name} must be text without lone surrogates, not {value!r:.80}"
        if field.name.endswith("_id") and value is not None and not (type(value) is int and 0 <= value < len(rules.pieces)):
            yield f"{field.name} is {value!r}, which is no id of a piece; use None for none"


def _is_float32(score: Any) -> bool:
    if not isinstance(score, float) or not math.isfinite(score):
        return False
    try:
        return bool(struct.unpack("<f", struct.pack("<f", score))[0] == score)
    except OverflowError:
        return False


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _some(contents: list[str]) -> str:
    return some(list(map(repr, contents)))
