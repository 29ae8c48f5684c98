"""Training beside other trainers: `python -m benchmarks.train [--corpus FILE ...] [--merges 32000] [--threads 2]`.

All learn as many merges from the same file, split by GPT-2's pattern, each in a process of its own that may run on as many processors as
it has threads. First what they learn is compared: ours, with the ties of the other, must have the same merges in the same order. Then all
are measured in turn. sentencepiece splits otherwise and cannot be compared; it is there for its speed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpora import code, english, multilingual, up_to
from benchmarks.harness import OURS, Result
from benchmarks.processes import environment
from benchmarks.report import describe_machine, installed_version, report

PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LONGEST = 1 << 20  # bytes of a token: no limit

Learn = Callable[[Path, int, int], list[bytes]]
"""From a file, a number of merges and one of threads to the learnt tokens in order."""


def lines(file: Path) -> Iterator[str]:
    """A file's lines, with their line feeds: what trainers that read files take for texts."""
    with file.open(encoding="utf-8", newline="\n") as opened:
        yield from opened


def learn_with_ours(file: Path, merges: int, threads: int) -> list[bytes]:
    """`hf_bpe.train`, from the file itself."""
    return _ours(file, merges, threads)


def _ours(corpus: Any, merges: int, threads: int, **settings: Any) -> list[bytes]:
    import hf_bpe

    spec = hf_bpe.train(corpus, 256 + merges, pattern="gpt2", min_frequency=1, num_threads=threads, progress=False, **settings)
    return [left + right for left, right in spec.merges]


def learn_with_gigabpe(file: Path, merges: int, threads: int) -> list[bytes]:
    """`gigabpe`, which counts only the bytes that it has seen as ids: so it learns some merges more."""
    import gigabpe

    _, pairs = gigabpe.train_bpe([str(file)], vocab_size=256 + merges, pretokenizer="bytelevel", threads=threads)
    return _of_characters(pairs)[:merges]


def learn_with_tokenizers(file: Path, merges: int, threads: int) -> list[bytes]:
    """`tokenizers`' BpeTrainer behind its ByteLevel."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train([str(file)], trainers.BpeTrainer(vocab_size=256 + merges, initial_alphabet=alphabet, show_progress=False))
    return _of_characters(json.loads(tokenizer.to_str())["model"]["merges"])


def _of_characters(pairs: list[Any]) -> list[bytes]:
    from hf_bpe.byte_level import token_to_bytes

    return [token_to_bytes("".join(pair)) for pair in pairs]


def learn_with_rustbpe(file: Path, merges: int, threads: int) -> list[bytes]:
    """`rustbpe`."""
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(lines(file), 256 + merges, pattern=PATTERN)
    return [bytes(token) for token, _ in sorted(tokenizer.get_mergeable_ranks(), key=lambda ranked: ranked[1])][256:]


def learn_with_bpeasy(file: Path, merges: int, threads: int) -> list[bytes]:
    """`bpeasy`."""
    import bpeasy

    ranks = bpeasy.train_bpe_stream(lines(file), PATTERN, _LONGEST, 256 + merges, 10_000)
    return sorted(ranks, key=ranks.__getitem__)[256:]


def learn_with_sentencepiece(file: Path, merges: int, threads: int) -> list[bytes]:
    """`sentencepiece`, which does not say what it learnt in bytes."""
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        sentencepiece.SentencePieceTrainer.train(
            input=str(file),
            model_prefix=f"{folder}/model",
            model_type="bpe",
            vocab_size=259 + merges,
            byte_fallback=True,
            normalization_rule_name="identity",
            max_sentence_length=1 << 20,
            hard_vocab_limit=False,
            num_threads=threads,
            minloglevel=2,
        )
    return []


TRAINERS: dict[str, Learn] = {
    OURS: learn_with_ours,
    "gigabpe": learn_with_gigabpe,
    "rustbpe": learn_with_rustbpe,
    "bpeasy": learn_with_bpeasy,
    "tokenizers": learn_with_tokenizers,
    "sentencepiece": learn_with_sentencepiece,
}
TIES = {"gigabpe": "tokenizers", "tokenizers": "tokenizers", "rustbpe": "rustbpe", "bpeasy": "bpeasy"}


MODULES = {OURS: "hf_bpe.training"}


def processor_seconds() -> float:
    """What this process has used of all processors."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def work(job: dict[str, Any]) -> dict[str, Any]:
    """Train once in this process: seconds after the import, seconds of all processors, peak memory in MB, and a digest of the tokens."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job["threads"]])
    file, merges, threads = Path(job["file"]), job["merges"], job["threads"]
    importlib.import_module(MODULES.get(job["trainer"], job["trainer"]))
    before, start = processor_seconds(), time.perf_counter()
    if job["ties"] is None:
        tokens = TRAINERS[job["trainer"]](file, merges, threads)
    else:
        tokens = _ours(lines(file), merges, threads, tie_break=job["ties"])
    seconds = time.perf_counter() - start
    used, peak = processor_seconds() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    digest = hashlib.sha256(b"".join(len(token).to_bytes(4, "little") + token for token in tokens)).hexdigest()
    return {"seconds": seconds, "cpu": used, "peak": peak, "digest": digest}


def run(trainer: str, file: Path, merges: int, threads: int, ties: str | None = None) -> dict[str, Any]:
    """The same in a process of its own."""
    job = {"trainer": trainer, "file": str(file), "merges": merges, "threads": threads, "ties": ties}
    command = [sys.executable, "-m", "benchmarks.train", "--job", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(threads), check=False)
    if done.returncode:
        raise SystemExit(f"{trainer} failed: {done.stderr[-1000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def check(names: list[str], file: Path, merges: int, threads: int) -> None:
    """End the run if a trainer learns something else than ours does with its ties."""
    ours: dict[str, str] = {}
    for name in filter(TIES.__contains__, names):
        ties = TIES[name]
        ours[ties] = ours.get(ties) or run(OURS, file, merges, threads, ties)["digest"]
        if run(name, file, merges, threads)["digest"] != ours[ties]:
            raise SystemExit(
                f"{file.name}: {name} learns other merges than ours with tie_break={ties!r}; no timing before that is explained"
            )
        print(f"{file.name}, {merges:,} merges: the same as {name}")


def measure(names: list[str], file: Path, merges: int, threads: int, rounds: int) -> list[Result]:
    """Time, time of all processors, and peak memory."""
    megabytes = file.stat().st_size / 1e6
    title = f"{merges:,} merges from {megabytes:.0f} MB of {file.stem}"
    kinds = {"seconds": f"{threads} threads", "cpu": "time of all processors", "peak": "peak memory"}
    results = {
        kind: Result((title, said), None if kind == "peak" else megabytes, {name: [] for name in names}, section="train")
        for kind, said in kinds.items()
    }
    results["peak"].unit = "MB"
    for _ in range(rounds):
        for name in names:
            answer = run(name, file, merges, threads)
            for kind, result in results.items():
                result.measured[name].append(answer[kind])
    return list(results.values())


def corpora(given: list[Path], folder: Path) -> list[Path]:
    """The files to learn from: those given, or 80 MB of English and code and 45 MB of other languages out of installed packages."""
    if given:
        return given
    made = {"english-and-code": [*up_to(english(), 40), *up_to(code(), 40)], "multilingual": up_to(multilingual(), 45)}
    for name, texts in made.items():
        (folder / f"{name}.txt").write_text("\n\n".join(texts), encoding="utf-8", newline="")
    return [folder / f"{name}.txt" for name, texts in made.items() if texts]


def main() -> None:
    """Parse the command line, compare, measure, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], help="UTF-8 files; default: text of installed packages")
    parser.add_argument("--merges", type=int, nargs="*", default=[32_000, 128_000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", nargs="*", default=list(TRAINERS)[1:], choices=list(TRAINERS)[1:])
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(work(json.loads(options.job))))
        return
    missing = [name for name in options.peers if importlib.util.find_spec(name) is None]
    names = [OURS, *(name for name in options.peers if name not in missing)]
    print("".join(f"{name} is not installed\n" for name in missing), end="")
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for file in corpora(options.corpus, Path(folder)):
            for merges in options.merges:
                check(names, file, merges, options.threads)
                results += measure(names, file, merges, options.threads, options.rounds)
    report("train", describe_machine([name for name in names if installed_version(name)]), results)


if __name__ == "__main__":
    main()
