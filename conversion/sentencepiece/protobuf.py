"""The wire format of protocol buffers, as much of it as `.model` files use. No generated code, so bound to no runtime.

A message is a row of fields: a key (number and wire type as one varint), then the value. What a field means, the reader knows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hf_bpe.errors import FormatError

__all__ = ["Field", "fields", "float_field", "length_field", "varint_field"]

_VARINT, _FIXED64, _LENGTH, _GROUP_START, _GROUP_END, _FIXED32 = range(6)
_NAMES = {_VARINT: "a varint", _FIXED64: "8 bytes", _LENGTH: "a length and bytes", _FIXED32: "4 bytes"}
_MOST_NUMBER = (1 << 29) - 1
_MASK64 = (1 << 64) - 1
_INT32 = 1 << 31


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message, its value not yet interpreted. The methods raise `FormatError` where it is of another type.

    value: the number, or the bytes behind a length. where: what the message is called in errors.
    """

    number: int
    wire_type: int
    value: Any
    where: str

    def as_bytes(self) -> bytes:
        """What stands behind a length."""
        content: bytes = self._value(_LENGTH)
        return content

    def as_text(self) -> str:
        """The same as UTF-8."""
        try:
            return self.as_bytes().decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.where}: field {self.number} is not UTF-8 text (byte {error.start} of it)") from None

    def as_int32(self) -> int:
        """A signed number of 32 bits."""
        number: int = self._value(_VARINT)
        signed = number - (1 << 64) if number >> 63 else number
        if not -_INT32 <= signed < _INT32:
            raise FormatError(f"{self.where}: field {self.number} is {signed}, which does not fit 32 bits")
        return signed

    def as_bool(self) -> bool:
        """False for 0, True for any other number."""
        return bool(self._value(_VARINT))

    def as_float(self) -> float:
        """A float of 32 bits."""
        number: float = struct.unpack("<f", struct.pack("<I", self._value(_FIXED32)))[0]
        return number

    def _value(self, wanted: int) -> Any:
        if self.wire_type != wanted:
            raise FormatError(
                f"{self.where}: field {self.number} is written as {_NAMES[self.wire_type]}, and must be {_NAMES[wanted]}; "
                "the file is damaged"
            )
        return self.value


def fields(message: bytes, where: str, place: int = 0) -> Iterator[Field]:
    """The fields of a message from a place on, in the order they stand. Raises `FormatError` at the first that is no field.

    >>> [(field.number, field.as_text()) for field in fields(length_field(1, b"ab"), "x.model")]
    [(1, 'ab')]
    """
    end = len(message)
    while place < end:
        start = place
        key, place = _varint(message, place, where)
        number, wire_type = key >> 3, key & 7
        if not 0 < number <= _MOST_NUMBER:
            raise FormatError(f"{where}: byte {start}: {number} is no field number; the file is damaged")
        value: int | bytes
        if wire_type == _VARINT:
            value, place = _varint(message, place, where)
        elif wire_type in _NAMES:
            length = {_FIXED32: 4, _FIXED64: 8}.get(wire_type)
            if length is None:
                length, place = _varint(message, place, where)
            if length > end - place:
                raise FormatError(
                    f"{where}: byte {start}: field {number} needs {length} bytes and {end - place} are left; the file is truncated "
                    "or damaged"
                )
            content = message[place : place + length]
            value = content if wire_type == _LENGTH else int.from_bytes(content, "little")
            place += length
        else:
            kind = "a group" if wire_type in (_GROUP_START, _GROUP_END) else f"wire type {wire_type}"
            raise FormatError(
                f"{where}: byte {start}: field {number} is {kind}, which such files do not hold; the file is damaged"
            )
        yield Field(number, wire_type, value, where)


def _varint(message: bytes, place: int, where: str) -> tuple[int, int]:
    """A number, and where it ends."""
    start, number, shift = place, 0, 0
    while place < len(message):
        byte = message[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if number > _MASK64:
                break
            return number, place
        shift += 7
        if shift > 63:
            break
    else:
        raise FormatError(f"{where}: ends in the middle of a number at byte {start}; the file is truncated or damaged")
    raise FormatError(f"{where}: byte {start}: a number of more than 64 bits; the file is damaged")


def _encode_varint(number: int) -> bytes:
    number &= _MASK64  # a negative number is written as 64 bits
    content = bytearray()
    while number > 0x7F:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    content.append(number)
    return bytes(content)


def varint_field(number: int, value: int) -> bytes:
    """A field that holds a whole number or a bool.

    >>> varint_field(3, 300)
    b'\\x18\\xac\\x02'
    """
    return _encode_varint(number << 3 | _VARINT) + _encode_varint(value)


def float_field(number: int, value: float) -> bytes:
    """A field that holds a float of 32 bits."""
    return _encode_varint(number << 3 | _FIXED32) + struct.pack("<f", value)


def length_field(number: int, content: bytes) -> bytes:
    """A field that holds bytes, text as UTF-8, or a message.

    >>> length_field(1, b"ab")
    b'\\n\\x02ab'
    """
    return _encode_varint(number << 3 | _LENGTH) + _encode_varint(len(content)) + content
