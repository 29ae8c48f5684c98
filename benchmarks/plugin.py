"""`python -m benchmarks.plugin`: `HfBpeTokenizer` and transformers' own fast class on the same folder, side by side.

Calls run in turns in one process, after a comparison of what they give; loading runs in turns in processes of its own, imports included.
Printed is the least of all rounds, of processor time (of all threads) and of time on the clock: what a busy machine adds is never less
than nothing.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from transformers import PreTrainedTokenizerFast

import conversion
from benchmarks.corpora import english
from benchmarks.vocabularies import packaged, sources
from hf_bpe import TokenizerSpec
from hf_bpe.plugin import HfBpeTokenizer

SHORT = "Hello world, how are you?"
DOCUMENTS, CHARACTERS = 1000, 400
IDS = list(range(1000, 1100))
MANY = 2000
"""Calls in a round, of those that take microseconds."""
SEVERAL = 5
"""Calls in a round, of those that take milliseconds: one alone pays for the memory and the caches that the other's call left behind."""

LOADS = {
    "hf-bpe": "import hf_bpe; from transformers import AutoTokenizer; t = AutoTokenizer.from_pretrained({!r}); "
    "assert type(t).__name__ == 'HfBpeTokenizer'",
    "stock": "from transformers import AutoTokenizer; t = AutoTokenizer.from_pretrained({!r}); "
    "assert type(t).__name__ != 'HfBpeTokenizer'",
}
"""Programs that load a folder."""


class Spent(NamedTuple):
    """Seconds of all processors, and on the clock."""

    processor: float
    clock: float


class Call(NamedTuple):
    """What is measured, how often it is made in a round, and what part of stock's time it is to take at most."""

    make: Callable[[Any], Any]
    times: int = 1
    goal: float | None = None


def calls(documents: list[str], tokens: list[str]) -> dict[str, Call]:
    """By name. tokens: as many as `IDS`."""
    return {
        "25 characters": Call(lambda t: t(SHORT), MANY, 0.35),
        "25 characters, offsets": Call(lambda t: t(SHORT, return_offsets_mapping=True), MANY, 0.35),
        "25 characters, truncation": Call(lambda t: t(SHORT, truncation=True, max_length=512), MANY),
        "1,000 documents": Call(lambda t: t(documents), SEVERAL),
        "the same, padding": Call(lambda t: t(documents, padding=True), SEVERAL),
        "the same, padding, np": Call(lambda t: t(documents, padding=True, return_tensors="np"), SEVERAL, 0.1),
        "1,000 documents, offsets": Call(lambda t: t(documents, return_offsets_mapping=True), SEVERAL, 0.2),
        "the same, windows of 64": Call(
            lambda t: t(
                documents, return_offsets_mapping=True, truncation=True, max_length=64, stride=8, return_overflowing_tokens=True
            ),
            SEVERAL,
        ),
        "len": Call(len, MANY),
        "get_added_vocab": Call(lambda t: t.get_added_vocab(), MANY),
        "all_special_ids": Call(lambda t: t.all_special_ids, MANY),
        "decode 100 ids": Call(lambda t: t.decode(IDS), MANY),
        "convert_ids_to_tokens": Call(lambda t: t.convert_ids_to_tokens(IDS), MANY),
        "convert_tokens_to_ids": Call(lambda t: t.convert_tokens_to_ids(tokens), MANY),
        "convert_tokens_to_string": Call(lambda t: t.convert_tokens_to_string(tokens), MANY),
    }


def spent_on(call: Callable[[], object]) -> Spent:
    """What a call takes."""
    processor, clock = time.process_time(), time.perf_counter()
    call()
    return Spent(time.process_time() - processor, time.perf_counter() - clock)


def spent_on_program(code: str) -> Spent:
    """What a new interpreter takes to run some code."""
    start = time.perf_counter()
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"it failed: {code}")
    return Spent(usage.ru_utime + usage.ru_stime, time.perf_counter() - start)


def in_turns(rounds: int, ours: Callable[[], Spent], stock: Callable[[], Spent]) -> tuple[Spent, Spent]:
    """The least that each takes."""
    measured = [(ours(), stock()) for _ in range(rounds)]
    mine, theirs = (Spent(*map(min, zip(*side, strict=True))) for side in zip(*measured, strict=True))
    return mine, theirs


def report(name: str, mine: Spent, theirs: Spent, times: int = 1, goal: float | None = None) -> None:
    """One line: milliseconds of both, and the ratios."""
    columns = [f"{1000 * seconds / times:11.4f}" for seconds in (*mine, *theirs)]
    ratios = [f"{a / b:7.3f}" for a, b in zip(mine, theirs, strict=True)]
    print(f"{name:26}", *columns, *ratios, "" if goal is None else f"   (at most {goal})", flush=True)


def plain(result: Any) -> Any:
    """A result in lists, to compare it."""
    if not hasattr(result, "items"):
        return result
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in result.items()}


def measure(name: str, folder: str, rounds: int, documents: list[str]) -> None:
    """All calls of one tokenizer."""
    ours, stock = HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)
    heads = ("hf-bpe, cpu", "clock", "stock, cpu", "clock", "  cpu", "  clock")
    print(f"\n{name:26}", *(f"{head:>11}" for head in heads[:4]), *heads[4:], "  (milliseconds, ratios)")
    for called, (make, times, goal) in calls(documents, stock.convert_ids_to_tokens(IDS)).items():
        if plain(make(ours)) != plain(make(stock)):
            raise SystemExit(f"{name}, {called}: not the same result")

        def run(tokenizer: Any, make: Callable[[Any], Any] = make, times: int = times) -> None:
            for _ in range(times):
                make(tokenizer)

        spent = in_turns(rounds, lambda run=run: spent_on(lambda: run(ours)), lambda run=run: spent_on(lambda: run(stock)))
        report(called, *spent, times, goal)


def save(spec: TokenizerSpec, folder: str, **settings: Any) -> None:
    """A folder that both classes load."""
    HfBpeTokenizer.from_spec(spec, **settings).save_pretrained(folder)


def main() -> None:
    """Print the table of every tokenizer, then that of loading."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--loads", type=int, default=10, help="rounds of loading; 0: none")
    options = parser.parse_args()
    text = "".join(enough(english(), DOCUMENTS * CHARACTERS))
    documents = [text[at * CHARACTERS : (at + 1) * CHARACTERS] for at in range(DOCUMENTS)]
    files = sources(None)
    cl100k = conversion.load(files["cl100k"], pattern="cl100k", special_tokens={"<|endoftext|>": 100257})
    mistral = conversion.load(files["mistral_v1"])
    tekken = conversion.load(packaged("mistral_common", "data", "tekken_240911.json"))
    with tempfile.TemporaryDirectory() as folder:
        save(cl100k, f"{folder}/cl100k", eos_token="<|endoftext|>", pad_token="<|endoftext|>")
        save(mistral, f"{folder}/mistral_v1", pad_token="</s>")
        save(tekken, f"{folder}/tekken")
        for name in ("cl100k", "mistral_v1"):
            measure(name, f"{folder}/{name}", options.rounds, documents)
        if options.loads:
            print("\nAutoTokenizer.from_pretrained in a new interpreter, imports included")
            for name, spec in {"cl100k": cl100k, "tekken": tekken}.items():
                ours, stock = (
                    functools.partial(spent_on_program, LOADS[side].format(f"{folder}/{name}")) for side in ("hf-bpe", "stock")
                )
                report(f"{name}, {len(spec.vocab):,} tokens", *in_turns(options.loads, ours, stock), goal=1)


def enough(documents: Iterable[str], characters: int) -> Iterable[str]:
    """As many as come to so many characters."""
    for document in documents:
        yield document
        characters -= len(document)
        if characters <= 0:
            return


if __name__ == "__main__":
    main()
