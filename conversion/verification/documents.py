"""Reading a corpus document by document, however large its files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from hf_bpe.errors import CorpusError

__all__ = ["DEFAULT_SEPARATOR", "Corpus", "read_documents"]

Corpus: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

DEFAULT_SEPARATOR = "<|endoftext|>"

_MAX_CHARACTERS = 1 << 20
"""Longer documents are cut, so that a file without separators does not have to fit into memory."""


def read_documents(corpus: Corpus, separator: str = DEFAULT_SEPARATOR) -> Iterator[tuple[str, str]]:
    """(where it stands, text) of each document: what lies between lines that hold just the separator. Empty ones are left out.

    Raises `CorpusError` for a file that is missing or not UTF-8.
    """
    paths = [corpus] if isinstance(corpus, str | os.PathLike) else corpus
    for path in map(Path, paths):
        try:
            for number, text in enumerate(_documents_of(path, separator), 1):
                yield f"{path.name}, document {number}", text
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"{path}: not UTF-8 text: {error.reason} (0x{error.object[error.start]:02X}); convert it first"
            ) from None


def _documents_of(path: Path, separator: str) -> Iterator[str]:
    parts: list[str] = []
    length = 0
    with path.open(encoding="utf-8", newline="\n") as file:
        while line := file.readline(_MAX_CHARACTERS):
            ends = line.rstrip("\r\n") == separator
            if not ends:
                parts.append(line)
                length += len(line)
            if (ends or length >= _MAX_CHARACTERS) and parts:
                yield "".join(parts)
                parts, length = [], 0
    if parts:
        yield "".join(parts)
