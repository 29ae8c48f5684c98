"""One encoder, many users: threads, forks, spawned processes."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hf_bpe
from hf_bpe import DisallowedSpecialTokenError, Encoder
from tests.support.text import generated_text
from tests.support.vocabularies import byte_spec, cl100k_spec


def _encode(encoder: Encoder, seed: int) -> list[int]:
    return encoder.encode_ordinary(generated_text(seed, 2000))


def test_many_threads_share_one_encoder() -> None:
    encoder = Encoder(cl100k_spec())
    expected = [_encode(encoder, seed) for seed in range(16)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda seed: _encode(encoder, seed % 16), range(160))) == expected * 10


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_processes_encode_alike(method: str) -> None:
    encoder = Encoder(cl100k_spec())
    encoder.encode_batch([generated_text(seed, 500) for seed in range(8)], num_threads=2, disallowed_special=())
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(_encode, [encoder] * 4, range(4))) == [_encode(encoder, seed) for seed in range(4)]


def _encode_batch_after_fork(encoder: Encoder, sender: object) -> None:
    texts = [generated_text(seed, 500) for seed in range(6)]
    sender.send(encoder.encode_ordinary_batch(texts, num_threads=3))  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_fork_while_other_threads_encode() -> None:
    encoder = Encoder(cl100k_spec())
    expected = encoder.encode_ordinary_batch([generated_text(seed, 500) for seed in range(6)])
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            _encode(encoder, 1)

    workers = [threading.Thread(target=busy) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(10):
            receiver, sender = context.Pipe(duplex=False)
            child = context.Process(target=_encode_batch_after_fork, args=(encoder, sender))
            child.start()
            assert receiver.poll(60), "the child hangs"
            assert receiver.recv() == expected
            child.join(60)
            assert child.exitcode == 0
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def test_batch_equals_single_calls_for_any_number_of_threads() -> None:
    encoder = Encoder(cl100k_spec())
    texts = [generated_text(seed, 300) for seed in range(10)] + [""]
    expected = [encoder.encode_ordinary(text) for text in texts]
    for threads in (1, 2, 5, 64, None):
        assert encoder.encode_ordinary_batch(texts, num_threads=threads) == expected
    assert encoder.encode_batch([]) == []


def test_error_in_one_text_of_a_batch_is_raised() -> None:
    encoder = Encoder(cl100k_spec())
    with pytest.raises(DisallowedSpecialTokenError, match=r"<\|endoftext\|>"):
        encoder.encode_batch(["a"] * 50 + ["<|endoftext|>"], num_threads=2)


CALLS = [
    lambda threads: Encoder(byte_spec()).encode_batch(["ab", "c"], num_threads=threads),
    lambda threads: Encoder(byte_spec()).count_ordinary_batch(["ab", "c"], num_threads=threads),
    lambda threads: Encoder(byte_spec()).encode_ordinary_batch_to_numpy(["ab", "c"], num_threads=threads).ids.tolist(),
    lambda threads: hf_bpe.train(iter(["abab", "abab"]), 258, progress=False, num_threads=threads).merges,
]


@pytest.mark.parametrize("call", CALLS)
def test_numbers_of_threads_that_make_no_sense_are_refused(call: Callable[[Any], object]) -> None:
    for threads in (0, -1, -(2**70)):
        with pytest.raises(ValueError, match=f"num_threads must be at least 1, not {threads}"):
            call(threads)
    for kind in (True, False, 1.5, "2"):
        with pytest.raises(TypeError, match=f"num_threads must be an int, or None for all processors, not {kind!r}"):
            call(kind)


@pytest.mark.parametrize("call", CALLS)
def test_more_threads_than_there_can_be_are_as_many_as_there_is_work_for(call: Callable[[Any], object]) -> None:
    assert call(2**70) == call(np.int64(3)) == call(1)
