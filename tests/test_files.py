"""Writing leaves either what was there or what was to be there, and nothing else."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from hf_bpe.errors import FormatError
from hf_bpe.files import read_bytes, read_text, write_atomically


def test_files_are_written_with_ordinary_permissions(tmp_path: Path) -> None:
    reference = tmp_path / "reference"
    reference.write_text("")
    paths = write_atomically(tmp_path / "new" / "folder", {"a.txt": b"one", "b.txt": b"two"})
    assert [path.read_bytes() for path in paths] == [b"one", b"two"]
    assert [path.stat().st_mode for path in paths] == [reference.stat().st_mode] * 2


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_while_writing_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    write_atomically(tmp_path, {"a.txt": b"old", "b.txt": b"old"})
    written = 0

    def fail_at_the_second(descriptor: int) -> None:
        nonlocal written
        written += 1
        if written == 2:
            raise failure

    monkeypatch.setattr(os, "fsync", fail_at_the_second)
    with pytest.raises(type(failure)):
        write_atomically(tmp_path, {"a.txt": b"new", "b.txt": b"new"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.txt": b"old", "b.txt": b"old"}


def test_a_pipe_or_a_folder_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(FileExistsError, match="not a regular file"):
            write_atomically(tmp_path, {"new.txt": b"x", name: b"x"})
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert not (tmp_path / "new.txt").exists()


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"abc\xffdef")
    with pytest.raises(FormatError, match=r"bad.txt: not UTF-8 text: byte 0xFF at offset 3"):
        read_text(bad)
    with pytest.raises(FormatError, match=r"none.txt: cannot be read: No such file"):
        read_bytes(tmp_path / "none.txt")
    with pytest.raises(FormatError, match=r"cannot be read: Is a directory"):
        read_bytes(tmp_path)


def test_an_error_names_the_file_and_not_the_temporary_one(tmp_path, monkeypatch):
    real = Path.open

    def full(self, *arguments, **keywords):
        if self.suffix == ".tmp":
            raise OSError(errno.ENOSPC, "No space left on device", str(self))
        return real(self, *arguments, **keywords)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_atomically(tmp_path, {"x.json": b"{}"})
    assert caught.value.filename == str(tmp_path / "x.json")


def test_a_failure_leaves_no_folder_that_was_made_for_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for folder in ("new/inner", "there"):
        with pytest.raises(OSError, match="No space left"):
            write_atomically(tmp_path / folder, {"a.txt": b"x", "below/b.txt": b"x"})
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
