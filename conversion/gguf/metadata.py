"""The metadata of a GGUF file: keys and typed values, little-endian, before the tensors. Nothing of it is a tokenizer yet.

Read and written here rather than with the `gguf` package, whose reader makes six numpy arrays for each string (Llama 3's
vocabulary: 9.7 s and 470 MB against 0.4 s and 30 MB), and loops without end over an array that a damaged file says is 2^60 long.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from hf_bpe.errors import ConversionRefused, FormatError

__all__ = ["MAGIC", "Content", "boolean", "float32s", "int32s", "parse_metadata", "serialise", "text", "texts", "uint32"]

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_ALIGNMENT = 32
_STRING, _ARRAY, _BOOL = 8, 9, 7
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", _BOOL: "?", 10: "Q", 11: "q", 12: "d"}
_LENGTH = struct.Struct("<Q")

Content = Any  # bytes or a mapped file: whatever slices into bytes and has a length


class _Cursor:
    """A place in the file, and what can be read there."""

    def __init__(self, content: Content, where: str) -> None:
        self.content, self.where, self.place, self.end = content, where, 0, len(content)

    def take(self, count: int, what: str) -> bytes:
        start = self.place
        if count > self.end - start:
            raise FormatError(
                f"{self.where}: byte {start}: {what} needs {count} bytes and {self.end - start} are left; the file is truncated or damaged"
            )
        self.place += count
        taken: bytes = self.content[start : self.place]
        return taken

    def number(self, code: str, what: str) -> Any:
        return struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}"), what))[0]

    def string(self, what: str) -> str:
        start = self.place
        try:
            return self.take(self.number("Q", what), what).decode()
        except UnicodeDecodeError as error:
            raise FormatError(
                f"{self.where}: byte {start}: {what} is not UTF-8 text (byte {error.start} of it); the file is damaged"
            ) from None

    def value(self, kind: int, what: str) -> Any:
        if kind == _STRING:
            return self.string(what)
        if kind == _ARRAY:
            return self._array(what)
        if kind not in _SCALARS:
            raise FormatError(
                f"{self.where}: byte {self.place}: {what} is of type {kind}, and the types are 0 to 12; the file is damaged"
            )
        return self.number(_SCALARS[kind], what)

    def _array(self, what: str) -> list[Any]:
        kind, count = self.number("I", what), self.number("Q", what)
        if kind == _STRING:
            return self._strings(what, count)
        if kind not in _SCALARS:
            raise FormatError(
                f"{self.where}: byte {self.place}: {what} is an array of type {kind}, which is no number or string"
            )
        code = _SCALARS[kind]
        return list(struct.unpack(f"<{count}{code}", self.take(count * struct.calcsize(f"<{code}"), what)))

    def _strings(self, what: str, count: int) -> list[str]:
        """The same for many, in a third of the time; what is wrong with one that cannot be read, `string` says."""
        found: list[str] = []
        length_at, content, end, place = _LENGTH.unpack_from, self.content, self.end, self.place
        try:
            # A string takes 8 bytes or more, so a count that is too large ends the loop soon.
            for _ in range(count):
                start = place + 8
                stop = start + length_at(content, place)[0]
                if stop > end:
                    break
                found.append(content[start:stop].decode())
                place = stop
        except (struct.error, UnicodeDecodeError):
            pass
        self.place = place
        return found + [self.string(f"{what}[{number}]") for number in range(len(found), count)]


def parse_metadata(content: Content, where: str) -> dict[str, Any]:
    """Key -> value: text, a number, a bool, or a list of one of these. Raises `FormatError` for a damaged file.

    >>> parse_metadata(serialise({"general.architecture": text("llama")}), "x.gguf")
    {'general.architecture': 'llama'}
    """
    cursor = _Cursor(content, where)
    if cursor.take(4, "the magic number") != MAGIC:
        raise FormatError(f"{where}: not a GGUF file: it does not begin with {MAGIC!r}")
    version = cursor.number("I", "the version")
    if version not in _VERSIONS:
        swapped = int.from_bytes(version.to_bytes(4, "little"), "big")
        kind = f"version {version}" if swapped not in _VERSIONS else "a big-endian file"
        raise ConversionRefused(f"{where}: {kind} of GGUF is not read; versions {_VERSIONS} in little-endian order are")
    cursor.number("Q", "the number of tensors")
    found: dict[str, Any] = {}
    for number in range(cursor.number("Q", "the number of keys")):
        key = cursor.string(f"key {number}")
        if key in found:
            raise FormatError(f"{where}: the key {key!r} stands twice; the file is damaged")
        found[key] = cursor.value(cursor.number("I", f"the type of {key}"), key[:80])
    return found


def serialise(entries: Mapping[str, bytes]) -> bytes:
    """A GGUF file of these keys and no tensors. The values are made by the functions below."""
    head = MAGIC + struct.pack("<IQQ", _VERSIONS[-1], 0, len(entries))
    content = head + b"".join(_string(key) + value for key, value in entries.items())
    return content + bytes(-len(content) % _ALIGNMENT)


def _string(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def text(value: str) -> bytes:
    """A value that is text."""
    return struct.pack("<I", _STRING) + _string(value)


def uint32(value: int) -> bytes:
    """A value that is a number."""
    return struct.pack("<II", 4, value)


def boolean(value: bool) -> bytes:
    """A value that is true or false."""
    return struct.pack("<I?", _BOOL, value)


def texts(values: Sequence[str]) -> bytes:
    """A value that is a list of texts."""
    encoded = list(map(str.encode, values))
    lengths = map(_LENGTH.pack, map(len, encoded))
    return struct.pack("<IIQ", _ARRAY, _STRING, len(values)) + b"".join(chain.from_iterable(zip(lengths, encoded, strict=True)))


def int32s(values: Sequence[int]) -> bytes:
    """A value that is a list of numbers."""
    return struct.pack(f"<IIQ{len(values)}i", _ARRAY, 5, len(values), *values)


def float32s(values: Sequence[float]) -> bytes:
    """A value that is a list of floats."""
    return struct.pack(f"<IIQ{len(values)}f", _ARRAY, 6, len(values), *values)
