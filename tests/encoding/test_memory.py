"""Memory does not grow with the corpus, nor do threads or open files outlast a run."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.encoding.support import EOT, encode, lines, write, write_parquet

MEASURE = """
import re, sys
from importlib import import_module
from pathlib import Path
from tests.encoding import support
import_module("hf_bpe.encoding.encode").BLOCK_BYTES = 1 << 17
corpus = support.encode(sys.argv[1], sys.argv[2], separator="|", shard_tokens=200_000, eos=support.EOT)
# Not ru_maxrss, which begins with what the parent had.
print(len(corpus), re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def peak_kilobytes(path: Path, output: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path), str(output)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    number, peak = map(int, done.stdout.split())
    assert number >= 1
    return peak


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.txt", "one-document.txt", "a.parquet"])
def test_three_times_the_corpus_needs_no_more_memory(tmp_path: Path, name: str) -> None:
    text = "hello world the end of this line, and so on\n"

    def peak(megabytes: int) -> int:
        path = tmp_path / f"{megabytes}-{name}"
        texts = [text * 20] * (megabytes * 1_000_000 // (len(text) * 20))
        if name.endswith("parquet"):
            write_parquet(path, texts, row_group_size=500, use_dictionary=False)
        else:
            write(
                path,
                "|".join(texts).encode() if name == "a.txt" else "".join(texts).encode() if "one" in name else lines(texts),
            )
        return peak_kilobytes(path, tmp_path / f"out-{megabytes}")

    # Both are more than is read at a time, so that every buffer is there in both.
    small, large = peak(20), peak(60)
    assert large - small < 20_000, f"{small:,} kB for 20 MB of text, {large:,} kB for 60 MB"


def test_no_thread_outlasts_a_run(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines(["text"] * 1000) + b"bad")
    encode([write(tmp_path / "b.jsonl", lines())], eos=EOT)
    with pytest.raises(ValueError, match="line 1001"):
        encode(path)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:  # kept, and with it every frame on the way
        encode(write(tmp_path / "c.jsonl", lines()), tmp_path / "out", progress=stop)
    assert not [thread for thread in threading.enumerate() if thread.name == "hf-bpe reader"]
    assert caught.value is not None
