"""Damaged files, made from sound ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import conversion
from hf_bpe import ConversionRefused, FormatError


def truncated(content: bytes, count: int = 200) -> Iterator[bytes]:
    """The beginnings of a file: all the short ones, and some longer ones."""
    lengths = {*range(min(len(content), 40)), *range(0, len(content), max(1, len(content) // count)), len(content) - 1}
    return (content[:length] for length in sorted(lengths))


def flipped(content: bytes, count: int = 300, seed: int = 0) -> Iterator[bytes]:
    """The file with one byte or a run of bytes changed."""
    draw = random.Random(seed)
    for _ in range(count):
        place = draw.randrange(len(content))
        noise = draw.choice([b"\0", b"\xff", b"\xff" * 8, b"{", b'"', b"\n", b"", b"9" * 30, draw.randbytes(4)])
        yield content[:place] + noise + content[place + draw.choice([0, 1, len(noise)]) :]


def refused(path: Path, content: bytes, file_format: str) -> str:
    """The message with which a damaged file is refused; it names the file."""
    path.write_bytes(content)
    with pytest.raises((FormatError, ConversionRefused)) as caught:
        conversion.load(path, format=file_format)
    assert str(path) in str(caught.value)
    return str(caught.value)


def read_or_refused(path: Path, content: bytes, file_format: str) -> None:
    """A change may leave a file sound; anything else is refused by name, and nothing else is raised."""
    path.write_bytes(content)
    try:
        conversion.load(path, format=file_format)
        message = str(path)
    except (FormatError, ConversionRefused) as error:
        message = str(error)
    assert str(path) in message
