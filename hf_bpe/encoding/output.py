"""The folder that shards go to: new, one to go on with, or one to replace; and ours alone while we write."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hf_bpe.encoding.index import INDEX, Index, Settings, is_ours
from hf_bpe.encoding.staged import remove_leftovers
from hf_bpe.errors import FormatError
from hf_bpe.files import sync_folder

__all__ = ["locked", "prepare"]


def prepare(folder: Path, settings: Settings, *, resume: bool, overwrite: bool) -> Index:
    """The index to go on from. Call with the folder locked.

    Raises `FileExistsError` if the folder holds something else, or anything where neither resuming nor overwriting is
    wanted; `ResumeRefused` if it holds another run; `FormatError` if it is damaged.
    """
    remove_leftovers(folder)
    begun = (folder / INDEX).exists()
    if begun and not overwrite:
        if not resume:
            raise _taken(folder, "holds encoded documents; choose another folder, or pass resume=True or overwrite=True")
        index = Index.load(folder)
        settings.refuse_other(index.settings, folder)
        return index
    if begun and not is_ours(folder):
        raise FormatError(f"{folder / INDEX}: is not the index of an encoded corpus; choose another folder")
    if not begun and any(folder.iterdir()):
        # Even to overwrite: what is not ours is not ours to mix with or to remove.
        raise _taken(folder, f"is not empty and has no {INDEX} of ours; choose another folder")
    index = Index(settings)
    old = [*folder.glob("shard-[0-9]*.bin"), *folder.glob("shard-[0-9]*.offsets.npy")] if begun else []
    index.save(folder)  # first, so that no moment sees an index that names files which are gone
    for path in old:
        path.unlink()
    for part in [*folder.glob("part-[0-9]*")] if begun else []:
        with locked(part):  # a task of a run that was stopped may still be writing
            shutil.rmtree(part)
    sync_folder(folder)
    return index


def _taken(folder: Path, why: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, why, str(folder))


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if it is missing, and keep other processes of ours out of it. Raises `OSError`.

    The lock is on the folder itself, needs no file, and ends with the process however that ends. Windows has none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if os.name == "nt":
        yield
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        _lock(number, folder)
        yield
    finally:
        os.close(number)


def _lock(number: int, folder: Path) -> None:
    import fcntl  # not on Windows

    module: Any = fcntl
    try:
        module.flock(number, module.LOCK_EX | module.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(
            errno.EAGAIN, "another process is writing to this folder; wait for it, or choose another", str(folder)
        ) from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL):
            raise  # some network file systems know no locks; then two runs into one folder are the user's to avoid
