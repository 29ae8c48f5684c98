"""Small corpora, and counts in the plainest way."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from backports import zstd

import hf_bpe
from hf_bpe.engine.reference import pretokenize
from hf_bpe.patterns import resolve_pattern

TEXTS = [f"The {number % 7} cats of {number * number}\nsat on déjà vu {'x' * (number % 40)}!\r\n" for number in range(120)]


def count(corpus: Any, **options: Any) -> hf_bpe.WordCounts:
    return hf_bpe.WordCounts.count(corpus, **{"progress": False} | options)


def as_dict(counts: hf_bpe.WordCounts) -> dict[bytes, int]:
    return dict(counts.items())


def expected(texts: Iterable[str], pattern: str = "cl100k") -> dict[bytes, int]:
    """By definition: nothing of what is tested has a part in it."""
    return dict(Counter(piece.encode() for text in texts for piece in pretokenize(text, resolve_pattern(pattern), "keep", ())))


def write_jsonl(path: Path, texts: Sequence[str], field: str = "text") -> Path:
    content = "".join(json.dumps({"id": number, field: text}) + "\n" for number, text in enumerate(texts)).encode()
    packed = {".zst": zstd.compress, ".gz": gzip.compress}.get(path.suffix, bytes)
    path.write_bytes(packed(content))
    return path


def write_parquet(path: Path, texts: Sequence[str], field: str = "text") -> Path:
    pq.write_table(pa.table({"id": range(len(texts)), field: list(texts)}), path, row_group_size=max(1, len(texts) // 3))
    return path
