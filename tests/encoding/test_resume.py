"""Interrupted anywhere, by anything: what is complete stays, what is not goes, and the next run ends with the same bytes."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import hf_bpe
from hf_bpe.encoding import staged
from hf_bpe.errors import FormatError, ResumeRefused
from tests.encoding.support import (
    EOT,
    SEPARATOR,
    TEXTS,
    contents,
    documents,
    encode,
    encoder,
    expected,
    lines,
    write,
    write_parquet,
)

OPTIONS: dict[str, Any] = {"separator": SEPARATOR, "shard_tokens": 400, "eos": EOT, "on_bad": "skip"}


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Every format, bad documents before, between and behind the good ones."""
    (tmp_path / "in").mkdir()
    texts = TEXTS[:12]
    return [
        write(tmp_path / "in" / "a.jsonl", b"bad\n" + lines(texts[:6]) + b"bad\n\n" + lines(texts[6:]) + b"bad\n"),
        write(tmp_path / "in" / "b.jsonl.gz", lines(texts)),
        write(
            tmp_path / "in" / "c.txt",
            b"\xef\xbb\xbf" + SEPARATOR.join([*texts, "\udcff", "x"]).encode("utf-8", "surrogateescape"),
        ),
        write(tmp_path / "in" / "d.txt.zst", SEPARATOR.join(texts).encode()),
        write_parquet(tmp_path / "in" / "e.parquet", [None, *texts, None], row_group_size=5),
        write(tmp_path / "in" / "f.txt", b""),
    ]


@pytest.fixture
def whole(sources: list[Path], tmp_path: Path) -> dict[str, bytes]:
    """What a run gives that nothing interrupts."""
    with pytest.warns(UserWarning, match="left out 6 documents"):
        corpus = encode(sources, tmp_path / "whole", **OPTIONS)
    assert documents(corpus) == expected([*TEXTS[:12] * 3, "x", *TEXTS[:12] * 2], eos=True)
    assert (corpus.skipped, corpus.num_shards >= 8) == (6, True)
    return contents(tmp_path / "whole")


class Stop(BaseException):
    """Not an error of ours, nor one anybody handles."""


def fail_at(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, number: int, error: BaseException) -> Callable[[], int]:
    """Let the call of that number fail; gives how many there were."""
    original = getattr(owner, name)
    calls = 0

    def wrapped(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            raise error
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, wrapped)
    return lambda: calls


def check_interrupted(folder: Path, whole: dict[str, bytes]) -> None:
    """Every file that is there is either complete and as it will be, or the index of fewer shards."""
    if not (folder / "index.json").exists():
        assert list(folder.iterdir()) == []
        return
    found = contents(folder)
    assert not [name for name in found if name.startswith(".")], "temporary files were left behind"
    assert {name: content for name, content in found.items() if name != "index.json"}.items() <= whole.items()
    corpus = hf_bpe.open_encoded(folder, allow_incomplete=True)
    corpus.verify()
    if not corpus.complete:
        with pytest.raises(FormatError, match=f"interrupted after {corpus.num_shards} shards; run it again"):
            hf_bpe.open_encoded(folder)


FULL = OSError(errno.ENOSPC, "No space left on device")
STAGES = [
    ("progress", None, "", KeyboardInterrupt()),
    ("writing", staged.StagedFile, "write", Stop()),
    ("writing to a full disk", staged.StagedFile, "write", FULL),
    ("finishing a file", staged.StagedFile, "commit", KeyboardInterrupt()),
    ("syncing", os, "fsync", Stop()),
    ("syncing to a full disk", os, "fsync", FULL),
    ("naming", Path, "replace", Stop()),
    ("encoding", hf_bpe.encoding.ids.IdMaker, "_encode", KeyboardInterrupt()),
    ("reading", hf_bpe.corpus.streams.Stream, "_read", Stop()),
]


@pytest.fixture
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda number: None)


def reporter(number: int, error: BaseException) -> tuple[Callable[[], int], Callable[[int, int], None]]:
    """A progress function whose call of that number fails; and how many calls there were."""
    calls = 0

    def report(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == number:
            raise error

    return lambda: calls, report


@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.usefixtures("no_waiting_for_the_disk")
@pytest.mark.parametrize(("stage", "owner", "name", "error"), STAGES, ids=[stage[0] for stage in STAGES])
def test_interrupted_at_every_moment(
    stage: str, owner: object, name: str, error: BaseException, sources: list[Path], whole: dict[str, bytes], tmp_path: Path
) -> None:
    moments = 0
    for number in (*range(1, 12), *range(13, 1000, 9)):
        folder = tmp_path / f"{number}"
        with pytest.MonkeyPatch.context() as patch:
            count, report = reporter(number, error)
            if owner is not None:
                count = fail_at(patch, owner, name, number, error)
            try:
                encode(sources, folder, **OPTIONS, progress=report if owner is None else False)
            except type(error):
                moments += 1
            else:
                assert count() < number, "a failure was swallowed"
                break
        check_interrupted(folder, whole)
        with pytest.MonkeyPatch.context() as patch:  # and once more on the way
            fail_at(patch, staged.StagedFile, "commit", 3, Stop())
            try:
                encode(sources, folder, **OPTIONS)
            except Stop:
                check_interrupted(folder, whole)
        encode(sources, folder, **OPTIONS)
        assert contents(folder) == whole
    else:
        raise AssertionError("the run never came to its end")
    assert moments >= 5


CHILD = """
import os, signal, sys
from importlib import import_module
from pathlib import Path
from tests.encoding import support
import_module("hf_bpe.encoding.encode").BLOCK_BYTES = 500
what, number, folder, *paths = sys.argv[1:]
left = int(number)
def hit(*_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), getattr(signal, what))
sync, replace = os.fsync, Path.replace
os.fsync = lambda number: (hit(), sync(number))[1]
Path.replace = lambda *paths: (hit(), replace(*paths))[1]
support.encode(paths, folder, separator=support.SEPARATOR, shard_tokens=400, eos=support.EOT, on_bad="skip", progress=hit)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("what", ["SIGKILL", "SIGINT"])
def test_killed_again_and_again(what: str, sources: list[Path], whole: dict[str, bytes], tmp_path: Path) -> None:
    folder, deaths = tmp_path / "out", 0
    for number in (1, 3, 8, 14, 33, 10_000):
        command = [sys.executable, "-W", "ignore", "-c", CHILD, what, str(number), str(folder), *map(str, sources)]
        done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode == 0:
            break
        deaths += 1
        if what == "SIGINT":
            assert "KeyboardInterrupt" in done.stderr
            check_interrupted(folder, whole)
        else:
            assert done.returncode == -signal.SIGKILL, done.stderr
            if (folder / "index.json").exists():
                hf_bpe.open_encoded(folder, allow_incomplete=True).verify()
    assert done.returncode == 0, done.stderr
    assert deaths >= 4
    assert contents(folder) == whole


# -- when the folder is not simply new ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:left out")
def test_a_complete_run_is_not_done_again(sources: list[Path], whole: dict[str, bytes], tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fail_at(patch, hf_bpe.encoding.ids.IdMaker, "_encode", 1, Stop())
        encode(sources, tmp_path / "whole", **OPTIONS)
    assert contents(tmp_path / "whole") == whole


@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eos": None}, r"eos: \d+ there, None now"),
        ({"separator": "\n"}, "separator: .* there, '\\\\n' now"),
        ({"dtype": "uint32"}, "dtype: '<u2' there, '<u4' now"),
        ({"on_bad": "raise"}, "on_bad: 'skip' there, 'raise' now"),
        ({"shard_tokens": 5}, "shard_tokens: 400 there, 5 now"),
        ({"text_field": "n"}, "text_field: 'text' there, 'n' now"),
    ],
)
def test_other_options_are_refused(
    change: dict[str, Any], message: str, complete: bool, sources: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    sources = sources[:4]  # without Parquet, whose other column is refused for itself
    if complete:
        encode(sources, folder, **OPTIONS)
    else:
        with pytest.MonkeyPatch.context() as patch:
            fail_at(patch, staged.StagedFile, "commit", 4, Stop())
            with pytest.raises(Stop):
                encode(sources, folder, **OPTIONS)
    before = contents(folder)
    with pytest.raises(ResumeRefused, match=message) as caught:
        encode(sources, folder, **{**OPTIONS, **change})
    assert "Choose another folder, or pass overwrite=True" in str(caught.value)
    assert contents(folder) == before


@pytest.mark.filterwarnings("ignore:left out")
def test_another_tokenizer_or_other_files_are_refused(sources: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    encode(sources, folder, **OPTIONS)
    before = contents(folder)
    other = hf_bpe.Encoder(encoder().spec.replace(pattern=r"\s+|\S+"))
    with pytest.raises(ResumeRefused, match=f"tokenizer: '{encoder().spec.fingerprint}' there, '{other.spec.fingerprint}' now"):
        hf_bpe.encode_files(other, sources, folder, progress=False, **OPTIONS)
    with pytest.raises(ResumeRefused, match=r"f\.txt: read there, not now"):
        encode(sources[:-1], folder, **OPTIONS)
    with pytest.raises(ResumeRefused, match="the files are the same, in another order"):
        encode(sources[::-1], folder, **OPTIONS)
    new = write(tmp_path / "in" / "g.txt", b"x")
    with pytest.raises(ResumeRefused, match=r"g\.txt: not read there"):
        encode([*sources, new], folder, **OPTIONS)
    os.utime(sources[2], ns=(5, 5))
    with pytest.raises(ResumeRefused, match=r"c\.txt: changed since: mtime_ns \d+ there, 5 now"):
        encode(sources, folder, **OPTIONS)
    assert contents(folder) == before


@pytest.mark.filterwarnings("ignore:left out")
def test_overwriting_leaves_nothing_of_the_old(sources: list[Path], whole: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    encode(sources, folder, **{**OPTIONS, "shard_tokens": 5})
    write(folder / "mine.md", b"notes")
    encode(sources, folder, **OPTIONS, overwrite=True)
    assert contents(folder) == whole | {"mine.md": b"notes"}
    with pytest.raises(FileExistsError, match="holds encoded documents"):
        encode(sources, folder, **OPTIONS, resume=False)


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_folder_with_other_things_is_left_alone(tmp_path: Path, overwrite: bool) -> None:
    path = write(tmp_path / "a.txt", b"x")
    (tmp_path / "out").mkdir()
    write(tmp_path / "out" / "shard-00000.bin", b"mine")
    with pytest.raises(FileExistsError, match=r"is not empty and has no index\.json of ours"):
        encode(path, tmp_path / "out", overwrite=overwrite)
    assert contents(tmp_path / "out") == {"shard-00000.bin": b"mine"}
    with pytest.raises(FileExistsError):
        encode(path, path)
    assert path.read_bytes() == b"x"


def test_missing_or_damaged_shards_are_not_gone_on_from(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines())
    encode(path, tmp_path / "out", shard_tokens=50)
    (tmp_path / "out" / "shard-00001.bin").unlink()
    with pytest.raises(FormatError, match=r"shard-00001\.bin: cannot be read"):
        encode(path, tmp_path / "out", shard_tokens=50)
    encode(path, tmp_path / "out", shard_tokens=50, overwrite=True).verify()


def test_an_index_that_is_not_ours_is_not_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"x")
    (tmp_path / "out").mkdir()
    write(tmp_path / "out" / "index.json", b'{"pages": []}')
    for overwrite in (False, True):
        with pytest.raises(FormatError, match=r"index\.json"):
            encode(path, tmp_path / "out", overwrite=overwrite)
    assert contents(tmp_path / "out") == {"index.json": b'{"pages": []}'}


@pytest.mark.skipif(os.name == "nt", reason="POSIX locks")
def test_two_runs_into_one_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines())

    def second(done: int, total: int) -> None:
        with pytest.raises(BlockingIOError, match="another process is writing to this folder"):
            encode(path, tmp_path / "out")

    corpus = encode(path, tmp_path / "out", progress=second)
    assert documents(corpus) == expected()


# -- disks that fail ---------------------------------------------------------------------------------------------------


def test_what_reads_back_differently_is_no_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = staged.StagedFile.write

    def write_less(self: staged.StagedFile, content: Any) -> None:
        original(self, content)
        if self.path.suffix == ".bin":
            self._file.flush()
            os.truncate(self._file.fileno(), self.size - 1)

    monkeypatch.setattr(staged.StagedFile, "write", write_less)
    path = write(tmp_path / "a.txt", b"hello world")
    with pytest.raises(OSError, match=r"reads back other than it was written.*every shard finished before is safe") as caught:
        encode(path, tmp_path / "out")
    assert str(caught.value.filename).endswith("shard-00000.bin")
    assert list(contents(tmp_path / "out")) == ["index.json"]


@pytest.mark.skipif(not Path("/dev/full").exists() or os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        path = write(tmp_path / "a.jsonl", lines(TEXTS * 10))
        with pytest.raises(OSError, match="No space left on device; every shard finished before is safe") as caught:
            encode(path, folder / "out", shard_tokens=2000, dtype="uint32")
        assert caught.value.errno == errno.ENOSPC
        partial = hf_bpe.open_encoded(folder / "out", allow_incomplete=True)
        assert documents(partial) == expected(TEXTS * 10)[: len(partial)]
        assert 0 < len(partial) < len(TEXTS * 10)
        assert not list((folder / "out").glob(".*"))
        subprocess.run(["mount", "-o", "remount,size=1m", folder], check=True)
        encode(path, folder / "out", shard_tokens=2000, dtype="uint32")
        encode(path, tmp_path / "whole", shard_tokens=2000, dtype="uint32")
        assert contents(folder / "out") == contents(tmp_path / "whole")
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)  # shards are still mapped into memory


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"x")
    (tmp_path / "out").mkdir(mode=0o500)
    with pytest.raises(PermissionError):
        encode(path, tmp_path / "out")


def test_progress_rises_to_the_size_of_the_files(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "a.jsonl.gz", lines()),
        write(tmp_path / "b.jsonl", lines()),
        write_parquet(tmp_path / "c.parquet"),
    ]
    seen: list[tuple[int, int]] = []
    encode(paths, tmp_path / "out", progress=lambda done, total: seen.append((done, total)))
    size = sum(path.stat().st_size for path in paths)
    assert seen == sorted(seen)
    assert seen[-1] == (size, size)
    assert import_module("hf_bpe.encoding.encode").BLOCK_BYTES == 500
    assert len(seen) > 10


def test_the_bar_is_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encode(write(tmp_path / "a.jsonl", lines()), progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "encoding: 100%" in shown.err
