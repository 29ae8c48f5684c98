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
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

from hf_bpe.editing.checkpoint.checked_file import CheckedFile, Disk, blocks_of
from hf_bpe.files import sync_folder

__all__ = ["carry_over", "new_folder"]

_RENAME_EXCHANGE = 2  # of linux/fs.h
_AT_FDCWD = -100  # of fcntl.h
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS)


@contextlib.contextmanager
def new_folder(place: Path, *, replaces: bool) -> Iterator[Path]:
    """A folder to write into. It becomes `place` at the end; on any error nothing is left of it.

    replaces: instead of the folder that is there, which is removed then; else there may be none with files in it. Files are to be
    on disk already (`write_atomically`). Raises `FileExistsError` if `place` is taken by something else.
    """
    if place.exists() and not (place.is_dir() and (replaces or not any(place.iterdir()))):
        raise FileExistsError(errno.EEXIST, "exists; choose another name for the folder", str(place))
    place.parent.mkdir(parents=True, exist_ok=True)
    staging = place.with_name(f".{place.name}.{secrets.token_hex(8)}.tmp")
    try:
        with _told_of(staging, place):
            staging.mkdir()
            if place.exists():
                shutil.copymode(place, staging)
            yield staging
        for folder, _, _ in os.walk(staging):
            sync_folder(Path(folder))
        _put(staging, place, replaces=replaces)
    finally:
        with _uninterrupted():
            shutil.rmtree(staging, ignore_errors=True)


@contextlib.contextmanager
def _told_of(staging: Path, place: Path) -> Iterator[None]:
    """Errors of the operating system name the folder that is meant, not the hidden one, and say that nothing came of it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        where = str(error.filename or place).replace(str(staging), str(place))
        raise type(error)(error.errno, f"{error.strerror}; nothing was changed", where) from error


def carry_over(source: Path, target: Path, disk: Disk, *, link: bool) -> None:
    """Give a file another name: a hard link where the file system has them, else a copy, which is compared."""
    source = source.resolve()
    if link:
        try:
            os.link(source, target)
            return
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
    with FileIO(source) as reading, CheckedFile(target, disk) as writing:
        for block in blocks_of(reading, 0, os.fstat(reading.fileno()).st_size):
            writing.append(block)
    shutil.copystat(source, target)


def _put(staging: Path, place: Path, *, replaces: bool) -> None:
    """Give the new folder its name. What had it before stands where the new one was."""
    if not replaces:
        staging.replace(place)  # fails if it was filled meanwhile
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
