"""A file that is written and read back, a block at a time, and bytes that go into it as they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import FileIO
from pathlib import Path
from types import TracebackType

from hf_bpe.editing.checkpoint.reading import WINDOW_BYTES, read_exactly
from hf_bpe.errors import EditError

__all__ = ["CheckedFile", "Disk", "blocks_of"]


class Disk:
    """Waits in the background until the disk has what was written, so that meanwhile more can be. A context manager."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._waiting: list[Future[None]] = []

    def __enter__(self) -> Disk:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._thread.shutdown()  # each file has to be closed, whatever happened

    def take(self, file: FileIO) -> None:
        """Close the file when the disk has it."""
        self._waiting.append(self._thread.submit(_sync_and_close, file))

    def wait(self) -> None:
        """Until the disk has all. Raises `OSError` if it has not, as when it is full."""
        for file in self._waiting:
            file.result()


def _sync_and_close(file: FileIO) -> None:
    with file:
        os.fsync(file.fileno())


class CheckedFile:
    """A new file. A context manager, which hands it to the disk.

    Each block is compared with what the file then holds while both are in the processor's cache: of a gigabyte that takes 0.15 s,
    next to 0.45 s for reading and writing it. (Two other ways took longer: checksums and a second pass over the file, 0.7 s;
    `copy_file_range`, which `cp` uses, 0.4 s for copying, and as much again for comparing, as the processor has seen nothing of it.)
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._file = FileIO(path, "x+b")
        self._back = bytearray(WINDOW_BYTES)

    def __enter__(self) -> CheckedFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self._disk.take(self._file)
        else:
            self._file.close()

    def append(self, block: memoryview) -> None:
        """Write, and compare. Raises `EditError` if the file holds something else then."""
        start = self._file.tell()
        done = 0
        while done < len(block):
            done += self._file.write(block[done:])
        if len(self._back) < len(block):
            self._back = bytearray(len(block))
        found = memoryview(self._back)[: len(block)]
        self._file.seek(start)
        read_exactly(self._file, found)
        if not _equal(self._back, block):
            raise EditError(
                f"{self._path.name} reads back other than it was written, so the disk or the file system is at fault; nothing was changed"
            )


def _equal(whole: bytearray, block: memoryview) -> bool:
    # Between two memoryviews Python compares number by number, which takes 20 times as long.
    return whole == block if len(whole) == len(block) else whole[: len(block)] == block


def blocks_of(file: FileIO, start: int, size: int) -> Iterator[memoryview]:
    """So many bytes from there on, as blocks. What was given before is overwritten. Raises `FormatError` for a file that ends before."""
    buffer = memoryview(bytearray(min(size, WINDOW_BYTES)))
    file.seek(start)
    while size:
        block = buffer[: min(size, len(buffer))]
        read_exactly(file, block)
        yield block
        size -= len(block)
