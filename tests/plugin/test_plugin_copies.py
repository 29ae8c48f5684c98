"""Copies, pickles, threads and forked processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.plugin.samples import TEXTS

COPIERS = {
    "pickle": lambda tokenizer: pickle.loads(pickle.dumps(tokenizer)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("copier", COPIERS)
def test_a_copy_gives_the_same_and_goes_its_own_way(tokenizer: Any, copier: str) -> None:
    tokenizer.add_tokens(["<before>"])
    other = COPIERS[copier](tokenizer)
    assert other(TEXTS) == tokenizer(TEXTS)
    assert other.special_tokens_map == tokenizer.special_tokens_map
    size, names = len(tokenizer), tokenizer.all_special_tokens
    other.add_special_tokens({"cls_token": "<cls>", "extra_special_tokens": ["<e>"]})
    other.add_tokens(["<after>"])
    other.pad_token = "<|im|>"
    assert len(tokenizer) == size
    assert tokenizer.all_special_tokens == names
    assert tokenizer.pad_token == "<|pad|>"
    assert "<after>" in other.get_vocab()


def test_using_a_tokenizer_does_not_change_its_pickle(tokenizer: Any) -> None:
    before = pickle.dumps(tokenizer)
    tokenizer.model_max_length = tokenizer.model_max_length
    tokenizer(TEXTS, padding=True)
    tokenizer.decode(tokenizer.encode("x y z <|end|>"), skip_special_tokens=True)
    tokenizer.get_vocab(), len(tokenizer), tokenizer.all_special_ids, tokenizer._encode_without_added_tokens("a")
    assert pickle.dumps(tokenizer) == before


def test_another_class_in_its_place_works(tokenizer: Any) -> None:
    cached = type("Cached", (type(tokenizer),), {"__len__": lambda self: 7})
    tokenizer.__class__ = cached
    assert len(tokenizer) == 7
    assert tokenizer.encode("hello")


def test_threads_see_consistent_results(tokenizer: Any) -> None:
    expected = tokenizer(TEXTS)["input_ids"]

    def work(n: int) -> bool:
        if n % 25 == 0:
            tokenizer.add_tokens([f"<unrelated_{n}>"])
        return bool(tokenizer(TEXTS, padding=n % 2 == 0, truncation=False)["input_ids"]) and all(
            tokenizer.encode(text) == ids for text, ids in zip(TEXTS, expected, strict=True)
        )

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(400)))


def encode_in_child(tokenizer: Any, queue: Any) -> None:
    queue.put(tokenizer(TEXTS)["input_ids"])


def test_a_forked_process_encodes(tokenizer: Any) -> None:
    expected = tokenizer(TEXTS)["input_ids"]  # the engine has run before the fork
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=encode_in_child, args=(tokenizer, queue))
    process.start()
    assert queue.get(timeout=60) == expected
    process.join(timeout=60)
    assert process.exitcode == 0


def test_truth_and_text_of_a_tokenizer(tokenizer: Any) -> None:
    assert tokenizer
    assert "HfBpeTokenizer" in repr(tokenizer)
    assert "<|end|>" in repr(tokenizer)
