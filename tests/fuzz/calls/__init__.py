"""Random calls of random tokenizers: `HfBpeTokenizer` against transformers' own fast class, loaded from the same folder."""

from __future__ import annotations

import os
import random
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

os.environ["RUST_BACKTRACE"] = "0"  # stock classes panic now and then, and to name the places in the code takes half a second

from tqdm import tqdm
from transformers.utils import logging

from tests.fuzz.calls.differences import difference
from tests.fuzz.calls.methods import difference_of_methods, difference_of_vocabularies
from tests.fuzz.calls.pairs import KINDS, Pair, make_pair
from tests.fuzz.calls.requests import random_call
from tests.fuzz.subjects import Mismatch, Tally

__all__ = ["KINDS", "run"]

CALLS_EACH = 500


def run(
    count: int,
    seed: int,
    tally: Tally,
    *,
    kinds: Mapping[str, float] = KINDS,
    each: int = CALLS_EACH,
    show: bool = True,
) -> None:
    """Make so many calls, of new tokenizers after each so many. Raises `Mismatch`."""
    logging.set_verbosity_error()
    generator = random.Random(seed)
    with tqdm(total=count, unit="call", disable=not show) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for done in range(0, count, each):
            with tempfile.TemporaryDirectory() as folder:
                pair = make_pair(generator, Path(folder), kinds)
            _complain(pair, seed, "", difference_of_vocabularies(pair))
            for _ in range(min(each, count - done)):
                _one(pair, generator, seed)
                bar.update()
                tally.add(pair.name, 1)


def _one(pair: Pair, generator: random.Random, seed: int) -> None:
    if generator.random() < 0.2:
        _complain(pair, seed, "", difference_of_methods(pair, generator))
        return
    arguments, options = random_call(generator, pair.contents)
    split = options.get("split_special_tokens", False)
    if not pair.leaves_no_room(options) and not pair.leaves_control(arguments, split=split):
        _complain(pair, seed, f"tokenizer(*{arguments!a}, **{options})", difference(pair, arguments, options, generator))


def _complain(pair: Pair, seed: int, call: str, found: str | None) -> None:
    if found is not None:
        raise Mismatch(f"{pair.name}, seed {seed}: {call}{found}\n{pair.ours.spec!r}\n{pair.ours._template}")
