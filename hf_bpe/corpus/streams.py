"""Reads files that may be compressed, as blocks of bytes, with errors that name the file."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from typing import Any, BinaryIO, cast

from hf_bpe.corpus.sources import Source
from hf_bpe.errors import CorpusError

__all__ = ["Stream"]

_READ_BYTES = 1 << 20
_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


class Stream:
    """The uncompressed bytes of a source, from a place on. Use as a context manager.

    A byte order mark at the beginning of the file says that it is UTF-8; it is no part of the text.
    Raises `CorpusError` for what cannot be read, is damaged or ends too early.
    """

    def __init__(self, source: Source, offset: int = 0) -> None:
        self._source = source
        self._offset = offset
        self._stack = ExitStack()
        self._damage: tuple[type[Exception], ...] = ()

    def __enter__(self) -> Stream:
        try:
            self._raw = self._stack.enter_context(self._source.open())
        except OSError as error:
            raise CorpusError(f"{self._source.path}: cannot be read: {error.strerror or error}") from error
        self._file = self._uncompressed()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _uncompressed(self) -> BinaryIO:
        compression = self._source.compression
        if compression is None:
            return self._raw
        if self._source.size == 0:
            raise CorpusError(f"{self._source.path}: is empty, which is not a {compression} file; fetch it again")
        if compression == "gzip":
            self._damage = (gzip.BadGzipFile, zlib.error)
            return self._stack.enter_context(cast(BinaryIO, gzip.GzipFile(fileobj=self._raw, mode="rb")))
        zstd = _zstd(self._source)
        self._damage = (zstd.ZstdError,)
        return cast(BinaryIO, self._stack.enter_context(zstd.ZstdFile(self._raw)))

    @property
    def consumed(self) -> int:
        """How much of the file on disk was read, in bytes."""
        return self._raw.tell()

    def blocks(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Where each block begins (in uncompressed bytes of the file), and the block: `size` bytes, or less at the end."""
        place = self._offset
        if place:
            self._skip(place)
        while block := self._read(size):
            if place == 0:
                self._refuse_other_encodings(block)
                yield (len(_UTF8_BOM), block[len(_UTF8_BOM) :]) if block.startswith(_UTF8_BOM) else (0, block)
            else:
                yield place, block
            place += len(block)

    def _refuse_other_encodings(self, first: bytes) -> None:
        if first.startswith(_UTF16_BOMS):
            raise CorpusError(f"{self._source.path}: is UTF-16 text; convert it to UTF-8 first")

    def _skip(self, count: int) -> None:
        if self._source.compression is None:
            self._raw.seek(count)
            return
        while count > 0 and (skipped := self._read(min(count, _READ_BYTES))):
            count -= len(skipped)

    def _read(self, size: int) -> bytes:
        path, compression = self._source.path, self._source.compression
        parts = []
        try:
            while size > 0 and (part := self._file.read(min(size, _READ_BYTES))):
                parts.append(part)
                size -= len(part)
        except EOFError:
            raise CorpusError(f"{path}: ends in the middle of its {compression} data; fetch it again") from None
        except self._damage as error:
            raise CorpusError(f"{path}: damaged {compression} data ({error}); fetch it again") from None
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read: {error.strerror or error}") from error
        return b"".join(parts)


def _zstd(source: Source) -> Any:
    # Python's own module, or its backport, because it notices files that end too early; the `zstandard` package does not.
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise CorpusError(f"{source.path}: reading zstd needs Python 3.14, or `pip install 'hf-bpe[zstd]'`")
