"""What a corpus too large to try costs on a cluster, worked out from a sample of it: rates of one processor, and the growth of the words.

python -m benchmarks.scale SAMPLE... --terabytes 10 --processors 1000
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hf_bpe
from hf_bpe.corpus.documents import Place
from hf_bpe.cuts import last_cut
from hf_bpe.distributed.parts import PART_BYTES
from hf_bpe.distributed.runs import FAN_IN
from hf_bpe.training.corpus import inputs_of
from hf_bpe.training.counting import CountRules, WordCounts
from hf_bpe.training.counting.counters import make_counter
from hf_bpe.training.counting.merging import dropped_below, exact_sum, merge_words
from hf_bpe.training.words import Words

_PIECE = 1 << 16
_MERGE = """
import json, resource, sys, time
from pathlib import Path
from hf_bpe.distributed.counting import _finish
*paths, target = map(Path, sys.argv[1:])
import pyarrow.parquet
started = time.process_time()
_finish(paths, target, None)
print(json.dumps([time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""


@dataclass(frozen=True)
class Rates:
    """Of one processor. Rates are of processor time, which other work on the machine changes little."""

    count: float  # bytes a second
    encode: float
    merge: float  # words read a second
    merge_memory: int
    word_bytes: float  # in a word-count file


def main() -> None:
    """Measure the sample, and work out the whole."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sample", nargs="+", type=Path, help="text files; some hundred megabytes give steady figures")
    parser.add_argument("--pattern", default="cl100k")
    parser.add_argument("--terabytes", type=float, default=10)
    parser.add_argument("--processors", type=int, default=1000)
    parser.add_argument("--merges", type=int, default=32_000)
    options = parser.parse_args()
    pieces = list(_pieces(options.sample))
    random.Random(0).shuffle(pieces)
    size = sum(map(len, pieces))
    print(f"sample: {size / 1e6:,.0f} MB, split {options.pattern}, in pieces of 64 KiB and in random order")
    words, count_rate, growth = _growth(pieces, options.pattern)
    scale, power = _heaps(growth)
    print(f"distinct words = {scale:.3g} * bytes^{power:.3f}, fitted to the upper half of the sizes")
    rates = _rates(pieces, words, options.pattern, count_rate)
    print(
        f"one processor: counts {rates.count / 1e6:.0f} MB/s, encodes {rates.encode / 1e6:.0f} MB/s, merges {rates.merge / 1e6:.1f} "
        f"million words/s out of {FAN_IN} files in {rates.merge_memory / 1e6:.0f} MB; a word takes {rates.word_bytes:.1f} bytes on disk"
    )
    _pruned(words, options.pattern, options.merges)
    _worked_out(int(options.terabytes * 1e12), options.processors, rates, scale, power)


def _pieces(paths: list[Path]) -> Iterator[bytes]:
    """Stretches of the texts, cut where no word goes across."""
    for source in inputs_of(paths, cut=last_cut):
        for batch in source.batches(Place()):
            start = 0
            for end in range(_PIECE, len(batch.data), _PIECE):
                cut = last_cut(batch.data, end)
                if cut > start:
                    yield batch.data[start:cut]
                    start = cut
            yield batch.data[start:]


def _growth(pieces: list[bytes], pattern: str) -> tuple[Words, float, list[tuple[int, int]]]:
    """All words, bytes counted a second, and how many distinct words so many bytes hold."""
    counter = make_counter(CountRules.of(pattern), 1, "auto")
    words = Words.of([])
    size, seconds, mark, growth = 0, 0.0, 1 << 20, []
    for number, piece in enumerate(pieces):
        started = time.process_time()
        counter.add(piece, np.array([0, len(piece)]))
        seconds += time.process_time() - started
        size += len(piece)
        if size >= mark or number == len(pieces) - 1:
            words = merge_words([words, counter.take()])
            growth.append((size, words.size))
            print(f"  {size / 1e6:8,.1f} MB: {words.size:10,} words, {(words.counts == 1).mean():.0%} of them seen once")
            mark = size * 2
    return words, size / seconds, growth


def _heaps(growth: list[tuple[int, int]]) -> tuple[float, float]:
    """Scale and power of Heaps' law."""
    upper = np.log(growth[len(growth) // 2 - 1 :])
    power, scale = np.polyfit(upper[:, 0], upper[:, 1], 1)
    return math.exp(scale), power


def _rates(pieces: list[bytes], words: Words, pattern: str, count_rate: float) -> Rates:
    with tempfile.TemporaryDirectory(prefix="hf-bpe-scale-") as name:
        folder = Path(name)
        shares = [pieces[number::FAN_IN] for number in range(FAN_IN)]
        runs = []
        for number, share in enumerate(shares):
            run = folder / f"{number}.parquet"
            WordCounts.count(iter([piece.decode() for piece in share]), pattern=pattern, progress=False).save(run)
            runs.append(run)
        read = sum(len(WordCounts.load(run, check=False)) for run in runs)
        whole = folder / "whole.parquet"
        done = subprocess.run([sys.executable, "-c", _MERGE, *runs, whole], capture_output=True, check=True)
        seconds, memory = json.loads(done.stdout)
        disk = whole.stat().st_size / words.size

        text = folder / "text.txt"
        text.write_bytes(b"".join(pieces))
        spec = hf_bpe.train(WordCounts.load(whole, check=False), 32_000, progress=False)
        started = time.process_time()
        hf_bpe.encode_files(spec, text, folder / "ids", num_threads=1, progress=False)
        encoded = text.stat().st_size / (time.process_time() - started)
    return Rates(count_rate, encoded, read / seconds, memory, disk)


def _pruned(words: Words, pattern: str, merges: int) -> None:
    """What leaving out rare words does to what is learnt."""

    def learnt(kept: Words) -> list[tuple[bytes, bytes]]:
        return list(hf_bpe.train(WordCounts(dict(kept.items()), pattern=pattern), 256 + merges, progress=False).merges)

    total = exact_sum(words.counts)
    all_merges = learnt(words)
    for least in (2, 3, 5, 10):
        kept = dropped_below(words, least)
        learned = learnt(kept)
        same = next((n for n, (a, b) in enumerate(zip(all_merges, learned, strict=False)) if a != b), len(all_merges))
        other = len({a + b for a, b in all_merges} - {a + b for a, b in learned})
        print(
            f"  words seen less than {least:2} times left out: {kept.size / words.size:4.0%} of words and "
            f"{exact_sum(kept.counts) / total:.2%} of occurrences stay; the first {same:,} merges are the same, {other:,} tokens are others"
        )


def _worked_out(size: int, processors: int, rates: Rates, scale: float, power: float) -> None:
    def distinct(text: float) -> float:
        return scale * text**power

    def hours(seconds: float) -> str:
        return f"{seconds / 3600:,.1f} processor hours, {seconds / processors / 60:,.1f} minutes on {processors:,}"

    print(f"{size / 1e12:g} TB of text:")
    print(f"  counting: {hours(size / rates.count)}")
    print(f"  encoding: {hours(size / rates.encode)}")
    text, nodes = float(PART_BYTES), size / PART_BYTES
    print(
        f"  {nodes:,.0f} parts, {distinct(text) / 1e6:.2f} million words and {distinct(text) * rates.word_bytes / 1e6:.0f} MB each"
    )
    moved = 0.0
    while nodes > 1:
        read = nodes * distinct(text)
        moved += 2 * read * rates.word_bytes
        text, nodes = min(text * FAN_IN, size), max(1.0, nodes / FAN_IN)
        print(
            f"  merging into {math.ceil(nodes):6,}: {read / 1e9:7.1f} billion words, {read * rates.word_bytes / 1e9:7,.0f} GB, "
            f"{hours(read / rates.merge)}; {read / nodes / rates.merge / 60:.1f} minutes for one"
        )
    print(f"  counts written and read once: {moved / 1e12:.2f} TB")
    print(f"  result: {distinct(size) / 1e6:,.0f} million words, {distinct(size) * rates.word_bytes / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
