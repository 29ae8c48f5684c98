"""Counts the samples anew: `python -m hf_bpe.analysis.sample.count gpt2=FILE cl100k_base=FILE ...`, each a tokenizer to load.

A rank file of that name is split by the pattern published under it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import conversion
from hf_bpe.analysis.sample import texts
from hf_bpe.engine import Encoder

__all__ = ["counted"]

_FILE = Path(__file__).with_name("published.json")
_PATTERNS = {"cl100k_base": "cl100k", "o200k_base": "o200k"}


def counted(encoder: Encoder) -> dict[str, int]:
    """How many tokens each sample has, its texts encoded one by one."""
    return {name: sum(encoder.count_ordinary_batch(each)) for name, each in texts().items()}


def _loaded(name: str, path: str) -> Encoder:
    pattern = _PATTERNS.get(name)
    return Encoder(conversion.load(path) if pattern is None else conversion.load(path, pattern=pattern))


if __name__ == "__main__":
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    found = {name: counted(_loaded(name, path)) for name, path in given.items()}
    _FILE.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n", "utf-8")
