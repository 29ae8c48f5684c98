"""Calls leave memory where it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
from benchmarks.memory import CALLS, make_calls, resident
from hf_bpe.plugin import HfBpeTokenizer
from tests.support.vocabularies import byte_spec
tokenizer = HfBpeTokenizer.from_spec(byte_spec("cl100k"), eos_token="<|endoftext|>", pad_token="<|endoftext|>")
make_calls(tokenizer, range(4_000), distinct=500)  # until caches are full
before = resident()
make_calls(tokenizer, range(4_000), distinct=500)
make_calls(tokenizer, range(100_000), calls=CALLS[:2], distinct=500)
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_hundred_thousand_calls_of_every_kind() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 3.0  # megabytes: thirty bytes for each call would be as much
