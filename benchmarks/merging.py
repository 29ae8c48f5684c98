"""How the time for merging grows with the number of merges: `python -m benchmarks.merging [--corpus FILE ...] [--merges 8000 ... 256000]`.

Words are counted once for each corpus. Then each number of merges is learnt from them several times, on one processor, and the quickest
counts. Fails if a merge takes longer where there are more of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.train import corpora


def main() -> None:
    """Count, learn, and print a line for each number of merges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], help="UTF-8 files; default: text of installed packages")
    parser.add_argument("--merges", type=int, nargs="*", default=[8_000, 16_000, 32_000, 64_000, 128_000, 256_000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        grows = [_grows(file, sorted(options.merges), options.rounds) for file in corpora(options.corpus, Path(folder))]
    if any(grows):
        sys.exit("a merge takes longer where there are more of them")


def _grows(file: Path, sizes: list[int], rounds: int) -> bool:
    """Whether the time for a merge does, from the smallest number of merges to the largest."""
    from hf_bpe.training.counting import WordCounts
    from hf_bpe.training.given_settings import byte_level_settings
    from hf_bpe.training.learning import learn

    words = WordCounts.count(file, pattern="gpt2", progress=False).words()
    settings = byte_level_settings({"pattern": "gpt2", "min_frequency": 1}, None)
    print(
        f"{file.name}: {file.stat().st_size / 1e6:.0f} MB, {words.size:,} distinct words, {len(words.bytes) / 1e6:.1f} MB of them"
    )
    each = []
    for size in sizes:
        seconds = []
        for _ in range(rounds):
            start = time.process_time()
            found = len(learn(settings, 256 + size, [words]))
            seconds.append(time.process_time() - start)
        each.append(min(seconds) / found)
        print(f"{found:>9,} merges: {min(seconds):5.2f} s, {each[-1] * 1e6:5.1f} microseconds each", flush=True)
    return each[-1] > each[0]


if __name__ == "__main__":
    main()
