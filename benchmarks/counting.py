"""Counting a text that is larger than its budget of memory: peak memory, rate, and the same counts with and without a budget.

python -m benchmarks.counting --megabytes 1000 --limit 500MB
python -m benchmarks.counting --megabytes 1000 --limit 1GB --vocab-size 32000  # a whole training within the budget
"""

from __future__ import annotations

import argparse
import json
import os
import random
import string
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

_CHILD = """
import json, resource, sys, time
import hf_bpe
path, limit, output = sys.argv[1:]
started = time.perf_counter()
counts = hf_bpe.WordCounts.count(path, memory_limit=limit, progress=False, output=output or None)
seconds = time.perf_counter() - started
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"words": len(counts), "checksum": counts.checksum, "seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime,
                  "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


_TRAINING = """
import json, resource, sys, time
import hf_bpe
path, limit, vocab_size = sys.argv[1:]
started = time.perf_counter()
hf_bpe.train(path, int(vocab_size), memory_limit=limit, shortfall="error", progress=False)
seconds = time.perf_counter() - started
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss * 1024}))
"""


def main() -> None:
    """Count with a budget and without, and fail if the budget was not kept or the counts differ. Train within it, if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--limit", default="400MB")
    parser.add_argument("--vocab-size", type=int, help="train as well, and keep the budget to the end")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hf-bpe-counting-") as folder:
        path = Path(folder, "text.txt")
        size = _write(path, options.megabytes * 10**6)
        print(f"{size / 1e6:,.0f} MB of the standard library's source, its letters changed anew in every copy")
        results = {}
        for limit in (options.limit, "1TB"):
            results[limit] = result = _run(_CHILD, str(path), limit, "")
            print(
                f"limit {limit:>6}: peak {result['peak'] / 1e6:6,.0f} MB, {result['words']:,} words, {result['seconds']:.1f} s, "
                f"{size / 1e6 / result['seconds']:.0f} MB/s ({result['cpu']:.1f} s of processor time)",
                flush=True,
            )
        trained = {"peak": 0.0}
        if options.vocab_size:
            trained = _run(_TRAINING, str(path), options.limit, str(options.vocab_size))
            print(
                f"limit {options.limit:>6}: peak {trained['peak'] / 1e6:6,.0f} MB, {options.vocab_size:,} ids learnt, "
                f"{trained['seconds']:.1f} s ({trained['cpu']:.1f} s of processor time)"
            )
    from hf_bpe.training.counting.memory import bytes_of

    kept, free = results[options.limit], results["1TB"]
    if kept["checksum"] != free["checksum"]:
        sys.exit("the counts differ")
    if max(kept["peak"], trained["peak"]) > bytes_of(options.limit):
        sys.exit("the budget was not kept")


def _write(path: Path, wanted: int) -> int:
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    text = b"".join(source.read_text("utf-8", "replace").encode() for source in sources)
    size = 0
    with path.open("wb") as file:
        for copy in _copies(text):
            size += file.write(copy[: wanted - size])
            if size >= wanted:
                return size
    return size


def _copies(text: bytes) -> Iterator[bytes]:
    choose = random.Random(1)
    letters = string.ascii_lowercase
    while True:
        shuffled = "".join(choose.sample(letters, len(letters)))
        yield text.translate(bytes.maketrans(_both_cases(letters), _both_cases(shuffled)))


def _both_cases(letters: str) -> bytes:
    return (letters + letters.upper()).encode()


def _run(program: str, *arguments: str) -> dict[str, float]:
    command = [sys.executable, "-c", program, *arguments]
    result: dict[str, float] = json.loads(subprocess.check_output(command, env=os.environ, text=True))
    return result


if __name__ == "__main__":
    main()
