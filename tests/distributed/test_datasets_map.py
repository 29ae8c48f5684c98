"""`datasets.map` in several processes, and its cache, which is found by the pickle of the function and of all that it holds."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import datasets

from tests.encoding.support import EOT, TEXTS, encoder, expected

_TRAIN = """
import hashlib, pickle, hf_bpe
corpus = iter(["hello world the end " * 20])
encoder = hf_bpe.Encoder(hf_bpe.train(corpus, 300, special_tokens=["<|a|>", "<|b|>", "<|c|>"], progress=False))
print(hashlib.sha256(pickle.dumps(encoder)).hexdigest())
"""


def test_processes_give_the_ids_of_one_and_the_cache_is_found_again(tmp_path: Path) -> None:
    datasets.Dataset.from_dict({"text": TEXTS}).save_to_disk(str(tmp_path / "texts"))
    texts = datasets.load_from_disk(str(tmp_path / "texts"))
    tokenizer = encoder()

    def encode(rows: dict[str, list[str]]) -> dict[str, list[list[int]]]:
        return {"ids": tokenizer.encode_ordinary_batch(rows["text"], num_threads=1)}

    first = texts.map(encode, batched=True, batch_size=4, num_proc=2, remove_columns=["text"])
    assert first["ids"][:] == expected()
    files = {each["filename"] for each in first.cache_files}
    tokenizer.encode(f"used meanwhile {EOT}", allowed_special="all")
    tokenizer.decode_batch([[1, 2], [3]])
    again = texts.map(encode, batched=True, batch_size=4, num_proc=2, remove_columns=["text"])
    assert {each["filename"] for each in again.cache_files} == files
    assert len(list((tmp_path / "texts").glob("cache-*"))) == len(files) == 2


def test_an_encoder_pickles_to_the_same_bytes_in_every_process_and_after_use() -> None:
    hashes = {
        subprocess.run(
            [sys.executable, "-c", _TRAIN],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(hashes) == 1
    before = hashlib.sha256(pickle.dumps(encoder())).digest()
    encoder().encode_batch(["some text"])
    assert hashlib.sha256(pickle.dumps(encoder())).digest() == before
