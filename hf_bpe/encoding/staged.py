"""Files that are written bit by bit and appear under their names only when they are complete and were read back."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["StagedFile", "explained", "remove_leftovers"]

_READ_BYTES = 1 << 20


class StagedFile:
    """A new file beside the place it is meant for.

    Raises `OSError` naming the file, and saying that what was finished before is safe, if it cannot be written.
    """

    def __init__(self, path: Path, header_size: int = 0) -> None:
        self.path = path
        self.size = header_size
        self.crc32 = 0
        """Of what was written so far, without the header; of the whole file once it is committed."""
        self._header_size = header_size
        self._temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        with explained(self.path):
            self._file = self._temporary.open("xb")
            self._file.seek(header_size)

    def write(self, content: bytes | memoryview) -> None:
        """Append."""
        with explained(self.path):
            self._file.write(content)
        self.crc32 = zlib.crc32(content, self.crc32)
        self.size += memoryview(content).nbytes

    def commit(self, header: bytes = b"") -> None:
        """Put the header, `header_size` bytes, before the rest; make the file last, read it back, give it its name."""
        if len(header) != self._header_size:
            raise ValueError(f"the header must have {self._header_size} bytes, not {len(header)}")
        with explained(self.path):
            self._file.seek(0)
            self._file.write(header)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self.crc32 = self._read_back(header)
            self._temporary.replace(self.path)

    def _read_back(self, header: bytes) -> int:
        with self._temporary.open("rb", buffering=0) as file:
            size, rest = len(header), 0
            intact = file.read(len(header)) == header
            whole = zlib.crc32(header)
            while block := file.read(_READ_BYTES):
                size += len(block)
                rest, whole = zlib.crc32(block, rest), zlib.crc32(block, whole)
        if not intact or (size, rest) != (self.size, self.crc32):
            raise OSError(errno.EIO, "reads back other than it was written, so the disk or the file system is at fault")
        return whole

    def discard(self) -> None:
        """Leave nothing behind."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink()


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an error of the operating system into one that names the file and says what to do."""
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error}; every shard finished before is safe, run the same again to go on from there"
        raise type(error)(error.errno, reason, str(path)) from error


def remove_leftovers(folder: Path) -> None:
    """Remove what runs that were killed left of files they had not finished."""
    for pattern in (".shard-*.tmp", ".index.json.*.tmp"):
        for path in folder.glob(pattern):
            path.unlink()
