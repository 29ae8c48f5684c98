"""Reading with errors that name the file, and writing that leaves either the old files or the new ones."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from pathlib import Path

from hf_bpe.errors import FormatError

__all__ = ["path_of", "read_bytes", "read_text", "sync_folder", "text_of", "write_atomically"]


def path_of(given: str | os.PathLike[str]) -> Path:
    """What somebody gave as a path. An empty one, to `Path` the current folder, is refused: it is a variable nobody set.

    >>> path_of("")
    Traceback (most recent call last):
    ...
    hf_bpe.errors.FormatError: the path is empty; give a file or a folder (the current one is ".")
    """
    if not os.fspath(given):
        raise FormatError('the path is empty; give a file or a folder (the current one is ".")')
    return Path(given)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. Raises `FormatError` saying why it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from error


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a UTF-8 file. Raises `FormatError` naming the first byte that is not UTF-8."""
    return text_of(read_bytes(path), os.fspath(path))


def text_of(content: bytes, where: str) -> str:
    """The same for what was read already. where: what the file is called in errors."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{where}: not UTF-8 text: byte 0x{content[error.start]:02X} at offset {error.start}; "
            "convert the file to UTF-8, or check that it is the right file"
        ) from None


def write_atomically(folder: str | os.PathLike[str], contents: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder (made if missing): all are complete on disk before the first takes its name.

    A full disk or Ctrl-C while writing leaves what was there before, and no temporary file or empty folder.

    contents: file name, or path below the folder -> bytes. Returns the paths in that order. Raises `FileExistsError` where a name belongs to something
    that is not a file: a rename would put a file in place of a device, a pipe or a folder.
    """
    target = Path(folder)
    for name in contents:
        taken = target / name
        if taken.exists() and not taken.is_file():
            raise FileExistsError(errno.EEXIST, "is not a regular file and is left alone; choose another name", str(taken))
    staged: list[tuple[Path, Path]] = []
    made: list[Path] = []
    try:
        _make_folder(target, made)
        for name, content in contents.items():
            final = target / name
            _make_folder(final.parent, made)
            temporary = final.with_name(f".{final.name}.{os.urandom(8).hex()}.tmp")
            staged.append((temporary, final))
            try:
                with temporary.open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:  # which names the temporary file, of which nobody knows
                error.filename = str(final)
                raise
        for temporary, final in staged:
            temporary.replace(final)
    except BaseException:
        for temporary, _ in staged:
            with contextlib.suppress(OSError):
                temporary.unlink()
        for each in reversed(made):
            with contextlib.suppress(OSError):
                each.rmdir()
        raise
    return [final for _, final in staged]


def _make_folder(folder: Path, made: list[Path]) -> None:
    """Make a folder, and those it is in. made: gets those that were missing, the outermost first."""
    made += reversed([each for each in (folder, *folder.parents) if not each.exists()])
    folder.mkdir(parents=True, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the system offers that."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
