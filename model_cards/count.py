"""Counts the samples anew: `python -m model_cards.count gpt2=FILE cl100k_base=FILE ...`, each a tokenizer to load.

A rank file of that name is split by the pattern published under it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import conversion
import hf_bpe

SAMPLES = Path(__file__).with_name("samples.json")
PATTERNS = {"cl100k_base": "cl100k", "o200k_base": "o200k"}


def counted(samples: dict[str, Any], vocabularies: dict[str, str]) -> dict[str, Any]:
    """The samples with their number of tokens in each vocabulary, given as name -> file."""
    for name, path in vocabularies.items():
        options = {"pattern": PATTERNS[name]} if name in PATTERNS else {}
        encoder = hf_bpe.Encoder(conversion.load(path, **options))
        for sample in samples.values():
            sample["tokens"][name] = encoder.count_ordinary(sample["text"])
    return samples


if __name__ == "__main__":
    found = counted(json.loads(SAMPLES.read_bytes()), dict(argument.split("=", 1) for argument in sys.argv[1:]))
    SAMPLES.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n", "utf-8")
