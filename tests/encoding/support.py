"""What the tests of encoding files share."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from backports import zstd

import hf_bpe
from tests.support.text import generated_text

EOT = "<|endoftext|>"
SEPARATOR = f"\n{EOT}\n"
TEXTS = [
    "hello world",
    "",
    "naïve 안녕하세요 😉\r\n\tthe end\n",
    f"text with {EOT} in it",
    "\u0000\ufeff\u2028 \x7f",
    *(generated_text(seed, 200) for seed in range(20)),
    "",
    "the last one",
]


@cache
def encoder() -> hf_bpe.Encoder:
    """A small tokenizer with one special token."""
    corpus = iter([generated_text(1, 3000), "hello world the end " * 20])
    return hf_bpe.Encoder(hf_bpe.train(corpus, 400, special_tokens=[EOT], progress=False))


@cache
def eot() -> int:
    return encoder().spec.special_tokens[EOT]


def expected(texts: Sequence[str] = TEXTS, *, eos: bool = False) -> list[list[int]]:
    """The definition: each document by itself."""
    return [encoder().encode_ordinary(text) + [eot()] * eos for text in texts]


def documents(result: Any) -> list[list[int]]:
    """A `Ragged` or an `EncodedCorpus` as lists."""
    if isinstance(result, hf_bpe.EncodedCorpus):
        return [ids.tolist() for ids in result]
    assert result.offsets[0] == 0
    assert result.offsets.dtype == np.int64
    assert len(result.ids) == result.offsets[-1]
    return [ids.tolist() for ids in np.split(result.ids, result.offsets[1:-1])] if len(result.offsets) > 1 else []


def lines(texts: Sequence[str] = TEXTS, **options: Any) -> bytes:
    return "".join(json.dumps({"n": n, "text": text}, **options) + "\n" for n, text in enumerate(texts)).encode()


def write(path: Path, content: bytes) -> Path:
    """Write a file, compressed if its name says so."""
    packed = {".gz": gzip.compress, ".zst": zstd.compress}.get(path.suffix, bytes)(content)
    path.write_bytes(packed)
    return path


def write_parquet(path: Path, texts: Sequence[str | None] = TEXTS, kind: Any = None, **options: Any) -> Path:
    column = pa.array(texts, pa.string()).cast(kind) if kind is not None else pa.array(texts, pa.string())
    pq.write_table(pa.table({"n": list(range(len(texts))), "text": column}), path, **options)
    return path


def encode(paths: Any, output: Any = None, **options: Any) -> Any:
    return hf_bpe.encode_files(encoder(), paths, output, **{"progress": False, **options})


def contents(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
