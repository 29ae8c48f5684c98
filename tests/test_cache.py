"""The cache of pieces: bounded, counted, shared by nobody; whatever it holds, the ids are the same."""

from __future__ import annotations

import multiprocessing
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hf_bpe import Encoder
from hf_bpe.engine.arrays import CacheInfo
from tests.support.text import SCRIPTS, generated_text
from tests.support.vocabularies import byte_spec, cl100k_spec, gpt2_spec

MOST = 24 << 20


def words(seed: int, count: int, letters: int) -> str:
    """Distinct words of hexadecimal letters, each a piece of its own."""
    generator = random.Random(seed)
    digits = str.maketrans("0123456789abcdef", "ghijklmnopqrstuv")
    return " ".join(generator.randbytes(letters // 2).hex().translate(digits) for _ in range(count))


def test_the_reference_has_none() -> None:
    encoder = Encoder(byte_spec(), engine="reference")
    encoder.encode_ordinary("text")
    assert encoder.cache_info() == CacheInfo(bytes=0, lookups=0, misses=0)


def test_nothing_is_counted_before_anything_is_encoded() -> None:
    info = Encoder(byte_spec("gpt2"), engine="native").cache_info()
    assert (info.lookups, info.misses) == (0, 0)


@pytest.mark.parametrize("letters", [6, 12, 14, 16, 28, 30, 32, 64, 200, 254, 256, 400])
def test_it_stays_bounded_and_answers_right_when_full_of_words_of_any_length(letters: int) -> None:
    encoder = Encoder(byte_spec("gpt2"), engine="native")
    for seed in range(8):
        text = words(seed, 4_000_000 // (letters + 8), letters)
        assert encoder.decode_bytes(encoder.encode_ordinary_to_numpy(text)) == text.encode()
        assert encoder.cache_info().bytes <= MOST
    info = encoder.cache_info()
    assert info.lookups >= info.misses > 0
    again = words(0, 4_000_000 // (letters + 8), letters)
    assert encoder.encode_ordinary_to_numpy(again).tobytes() == Encoder(encoder.spec).encode_ordinary_to_numpy(again).tobytes()


def test_it_stays_bounded_for_long_pieces_without_spaces() -> None:
    encoder = Encoder(cl100k_spec(), engine="native")
    generator = random.Random(0)
    for _ in range(8):
        text = "".join(chr(generator.randrange(0x4E00, 0x9FA0)) for _ in range(300_000))
        assert encoder.decode(encoder.encode_ordinary_to_numpy(text)) == text
    assert encoder.cache_info().bytes <= MOST


@pytest.mark.parametrize(
    "call", ["encode_ordinary", "encode_ordinary_to_numpy", "count_ordinary", "encode_with_offsets", "encode"]
)
def test_a_second_pass_over_few_words_adds_no_misses(call: str) -> None:
    encoder = Encoder(cl100k_spec(), engine="native")
    text = "the quick brown fox jumps over the lazy dog antidisestablishmentarianism\n" * 20
    getattr(encoder, call)(text)
    first = encoder.cache_info()
    getattr(encoder, call)(text)
    second = encoder.cache_info()
    assert second.misses == first.misses
    assert second.lookups == 2 * first.lookups > 0
    assert second.bytes == first.bytes


def test_what_one_call_cached_another_finds() -> None:
    encoder = Encoder(cl100k_spec(), engine="native")
    text = "zyxwvut qponmlkj ihgfedcba zyxwvutsrqponmlkjihgfedcba"
    expected = encoder.encode_ordinary(text)
    misses = encoder.cache_info().misses
    assert encoder.encode(text) == encoder.encode_to_numpy(text).tolist() == expected
    assert encoder.encode_with_offsets(text)[0].tolist() == expected
    assert encoder.count(text) == len(expected)
    assert encoder.encode_ordinary_batch([text], num_threads=1) == [expected]
    assert encoder.cache_info().misses == misses


def test_a_crowded_cache_gives_the_ids_of_an_empty_one() -> None:
    crowded = Encoder(gpt2_spec(), engine="native")
    for seed, letters in enumerate((8, 14, 20, 28, 40, 100)):
        crowded.count_ordinary(words(seed, 30_000, letters))
    generator = random.Random(5)
    scripts = "".join(generator.choices(SCRIPTS + "   abcxyz", k=50_000))
    for text in (generated_text(9, 50_000), words(100, 20_000, 12), words(101, 5_000, 26), scripts):
        assert crowded.encode_ordinary(text) == Encoder(crowded.spec, engine="native").encode_ordinary(text)


def test_threads_that_meet_keep_their_caches() -> None:
    encoder = Encoder(gpt2_spec(), engine="native")
    texts = ["a few short words"] * 20_000
    for _ in range(5):
        encoder.encode_ordinary_batch(texts, num_threads=4)
    info = encoder.cache_info()
    # A cache that is thrown away takes what it counted along; another thread may be kept from the lock now and then.
    assert info.lookups > 5 * 4 * len(texts) / 2
    assert info.misses < 100


def test_threads_hammer_one_encoder() -> None:
    encoder = Encoder(cl100k_spec(), engine="native")
    texts = [generated_text(seed, 3000) if seed % 2 else words(seed, 1500, 10) for seed in range(24)]
    alone = Encoder(encoder.spec, engine="native")
    expected = [alone.encode_ordinary(text) for text in texts]

    def work(number: int) -> bool:
        at = number % len(texts)
        text, ids = texts[at], expected[at]
        kind = number % 5
        if kind == 0:
            return encoder.encode_ordinary(text) == ids
        if kind == 1:
            return bool((encoder.encode_ordinary_to_numpy(text) == ids).all())
        if kind == 2:
            return encoder.count_ordinary(text) == len(ids)
        if kind == 3:
            return encoder.encode_with_offsets(text)[0].tolist() == ids and encoder.decode(ids) == text
        info = encoder.cache_info()
        return info.bytes >= 0 and encoder.encode_ordinary_batch([text, "", text], num_threads=2) == [ids, [], ids]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(240)))
    info = encoder.cache_info()
    assert info.lookups >= info.misses


def _after_fork(encoder: Encoder, text: str, sender: Any) -> None:
    ids = encoder.encode_ordinary(text)
    info = encoder.cache_info()
    sender.send((ids, encoder.encode_ordinary_batch([text] * 4, num_threads=3), info.lookups >= info.misses))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_fork_after_use_encodes_alike_and_leaves_the_parents_cache_alone() -> None:
    encoder = Encoder(cl100k_spec(), engine="native")
    text = generated_text(11, 5000)
    expected = encoder.encode_ordinary(text)
    encoder.encode_ordinary_batch([text] * 8, num_threads=3)
    before = encoder.cache_info()
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_after_fork, args=(encoder, text, sender))
        child.start()
        assert receiver.poll(60), "the child hangs"
        assert receiver.recv() == (expected, [expected] * 4, True)
        child.join(60)
        assert child.exitcode == 0
    assert encoder.cache_info() == before
    assert encoder.encode_ordinary(text) == expected
