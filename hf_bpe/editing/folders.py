"""A folder that is made beside its place and takes it in one step, so that there is always the old one or the new one."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import shutil
import signal
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hf_bpe.errors import EditError
from hf_bpe.files import sync_folder

__all__ = ["carry_over", "new_folder"]

_READ_BYTES = 1 << 24
_RENAME_EXCHANGE = 2  # of linux/fs.h
_AT_FDCWD = -100  # of fcntl.h
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS)


@contextlib.contextmanager
def new_folder(place: Path) -> Iterator[Path]:
    """A folder to write into. It becomes `place` at the end, instead of what is there; on any error nothing is left of it.

    What was there is removed once the new folder is in its place. Files are to be on disk already (`write_atomically`).
    Raises `FileExistsError` if `place` is a file.
    """
    if place.exists() and not place.is_dir():
        raise FileExistsError(errno.EEXIST, "is a file; choose another name for the folder", str(place))
    place.parent.mkdir(parents=True, exist_ok=True)
    staging = place.with_name(f".{place.name}.{secrets.token_hex(8)}.tmp")
    try:
        staging.mkdir()
        if place.exists():
            shutil.copymode(place, staging)
        yield staging
        for folder, _, _ in os.walk(staging):
            sync_folder(Path(folder))
        _put(staging, place)
    finally:
        with _uninterrupted():
            shutil.rmtree(staging, ignore_errors=True)


def carry_over(source: Path, target: Path, *, link: bool) -> None:
    """Give a file another name: a hard link where the file system has them, else a copy that is compared with the original."""
    source = source.resolve()
    if link:
        try:
            os.link(source, target)
            return
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
    with source.open("rb") as reading, target.open("xb") as writing:
        checksum = 0
        while block := reading.read(_READ_BYTES):
            writing.write(block)
            checksum = zlib.crc32(block, checksum)
        writing.flush()
        os.fsync(writing.fileno())
    shutil.copystat(source, target)
    if _checksum(target) != checksum:
        raise EditError(
            f"{source}: its copy reads back other than it was written, so the disk is at fault; nothing was changed"
        )


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            checksum = zlib.crc32(block, checksum)
    return checksum


def _put(staging: Path, place: Path) -> None:
    """Give the new folder its name. What had it before stands where the new one was."""
    if not place.exists() or not any(place.iterdir()):
        staging.replace(place)
    elif not _exchanged(staging, place):
        # Two steps, where the system has none for both. A crash between them leaves the old folder under the name of `aside`.
        aside = place.with_name(f"{staging.name}.old")
        with _uninterrupted():
            place.rename(aside)
            try:
                staging.rename(place)
            except OSError:
                aside.rename(place)
                raise
            aside.rename(staging)
    sync_folder(place.parent)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two names could be exchanged in one step: by `renameat2` of Linux, which not every file system knows."""
    try:
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return bool(exchange(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the block is done. Only the main thread gets it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *received: pending.append(received))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pending and callable(before):
            before(*pending[-1])
