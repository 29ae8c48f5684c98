"""`python -m benchmarks.plugin`: calls of `HfBpeTokenizer` and of transformers' own fast class on the same folder, side by side."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

from transformers import PreTrainedTokenizerFast

from benchmarks.corpora import english
from hf_bpe.plugin import HfBpeTokenizer
from tests.support.vocabularies import cl100k_spec

ROUNDS = 9
SHORT = "Hello world, how are you?"


def calls(documents: list[str]) -> dict[str, tuple[Callable[[Any], object], int]]:
    """What is measured: by name, the call, and how often it is made in a round."""
    return {
        "25 characters": (lambda tokenizer: tokenizer(SHORT), 2000),
        "1,000 documents, padding, np": (lambda tokenizer: tokenizer(documents, padding=True, return_tensors="np"), 1),
        "1,000 documents, lists": (lambda tokenizer: tokenizer(documents), 1),
        "1,000 documents, offsets": (lambda tokenizer: tokenizer(documents, return_offsets_mapping=True), 1),
        "len": (len, 2000),
        "get_added_vocab": (lambda tokenizer: tokenizer.get_added_vocab(), 2000),
        "all_special_ids": (lambda tokenizer: tokenizer.all_special_ids, 2000),
        "decode 100 ids": (lambda tokenizer: tokenizer.decode(IDS), 2000),
    }


IDS = list(range(1000, 1100))


def seconds(call: Callable[[Any], object], tokenizer: Any, times: int) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    for _ in range(times):
        call(tokenizer)
    return (time.perf_counter() - start) / times


def main() -> None:
    """Print microseconds of both, and the ratio: the median of the rounds' own."""
    text = documents_text()
    documents = [text[at : at + 400] for at in range(0, 400_000, 400)]
    with tempfile.TemporaryDirectory() as folder:
        HfBpeTokenizer.from_spec(cl100k_spec(), eos_token="<|endoftext|>", pad_token="<|endoftext|>").save_pretrained(folder)
        ours, stock = HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)
    print(f"{'':30} {'hf-bpe':>12} {'stock':>12} {'ratio':>7}   (microseconds)")
    for name, (call, times) in calls(documents).items():
        for tokenizer in (ours, stock):
            call(tokenizer)
        rounds = [(seconds(call, ours, times), seconds(call, stock, times)) for _ in range(ROUNDS)]
        mine, theirs = (1e6 * statistics.median(side) for side in zip(*rounds, strict=True))
        ratio = statistics.median(a / b for a, b in rounds)
        print(f"{name:30} {mine:12,.1f} {theirs:12,.1f} {ratio:7.3f}")


def documents_text() -> str:
    """Enough English for the documents."""
    text = ""
    for document in english():
        text += document
        if len(text) > 400_000:
            break
    return text


if __name__ == "__main__":
    main()
