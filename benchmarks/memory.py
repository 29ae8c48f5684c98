"""`python -m benchmarks.memory`: how much memory is held after every million calls of `HfBpeTokenizer`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from tqdm import tqdm

from benchmarks.worker import resident
from hf_bpe.plugin import HfBpeTokenizer
from tests.support.vocabularies import cl100k_spec

Call = Callable[[Any, str], object]
CALLS: tuple[Call, ...] = (
    lambda tokenizer, text: tokenizer(text),
    lambda tokenizer, text: tokenizer.encode(text, add_special_tokens=False),
    lambda tokenizer, text: tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True),
    lambda tokenizer, text: tokenizer(text).tokens(),
    lambda tokenizer, text: tokenizer([text, text[1:]], padding=True, return_tensors="np"),
    lambda tokenizer, text: tokenizer(text, text, truncation=True, max_length=8, stride=1, return_overflowing_tokens=True),
    lambda tokenizer, text: tokenizer(text, return_offsets_mapping=True).char_to_token(3),
    lambda tokenizer, text: (tokenizer(text) and tokenizer.all_special_ids, len(tokenizer)),
)


def make_calls(
    tokenizer: Any, numbers: range, *, calls: Sequence[Call] = CALLS, distinct: int | None = None, show: bool = False
) -> None:
    """One call of each kind in turn, each with a text that was not seen before; `distinct`: after so many the first comes again."""
    for number in tqdm(numbers, unit="call", unit_scale=True, disable=not show):
        seed = number if distinct is None else number % distinct
        calls[number % len(calls)](
            tokenizer, f"Hello {seed * 2654435761 % (1 << 32):x}, how are {seed % 977:b}? <|endoftext|> größer"
        )


def main(given: Sequence[str] | None = None) -> None:
    """Print megabytes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000_000, help="how many in all (default 10 million)")
    calls = parser.parse_args(given).calls
    tokenizer = HfBpeTokenizer.from_spec(cl100k_spec(), eos_token="<|endoftext|>", pad_token="<|endoftext|>")
    step = max(calls // 10, 1)
    for done in range(0, calls, step):
        make_calls(tokenizer, range(done, min(done + step, calls)), show=True)
        cached = tokenizer._vocabulary.encoder.cache_info().bytes / 1e6  # bounded; filled by what it is asked
        print(f"{min(done + step, calls):12,} calls  {resident():8.1f} MB, of which cached pieces {cached:5.1f}")


if __name__ == "__main__":
    main()
