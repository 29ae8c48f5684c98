"""Reading with errors that name the file, and writing that leaves either the old files or the new ones."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hf_bpe.errors import FormatError

__all__ = ["read_bytes", "read_text", "write_atomically"]


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. Raises `FormatError` saying why it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from error


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a UTF-8 file. Raises `FormatError` naming the first byte that is not UTF-8."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{os.fspath(path)}: not UTF-8 text: byte 0x{content[error.start]:02X} at offset {error.start}; "
            "convert the file to UTF-8, or check that it is the right file"
        ) from None


def write_atomically(folder: str | os.PathLike[str], contents: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder (made if missing): all are complete on disk before the first takes its name.

    A full disk, a crash or Ctrl-C while writing leaves what was there before, and no temporary file.

    contents: file name -> bytes. Returns the paths in that order.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    staged: list[tuple[str, Path]] = []
    try:
        for name, content in contents.items():
            descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".tmp", dir=target)
            staged.append((temporary, target / name))
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files only their owner can read
        for temporary, final in staged:
            os.replace(temporary, final)
    except BaseException:
        for temporary, _ in staged:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise
    return [final for _, final in staged]


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
