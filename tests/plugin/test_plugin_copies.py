"""Copies, pickles, threads and forked processes."""

from __future__ import annotations

import base64
import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import datasets
import pytest
from datasets.fingerprint import Hasher

from hf_bpe import NAMED_PATTERNS, TokenizerSpec
from hf_bpe.engine import native
from hf_bpe.plugin import HfBpeTokenizer
from tests.plugin.samples import CORPUS, TEXTS, make_spec
from tests.support.vocabularies import BYTES

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


USES = {
    "call": lambda tokenizer: tokenizer(TEXTS, padding=True, return_offsets_mapping=True).encodings[0].tokens,
    "decode": lambda tokenizer: tokenizer.decode(tokenizer.encode("x y z <|end|>"), skip_special_tokens=True),
    "special ids": lambda tokenizer: tokenizer.all_special_ids,
    "vocabulary": lambda tokenizer: (tokenizer.get_vocab(), len(tokenizer), tokenizer.vocab_size),
    "pad": lambda tokenizer: tokenizer.pad({"input_ids": [[1], [2, 3]]}),
    "a warning": lambda tokenizer: tokenizer("x y " * 3000),
    "backend": lambda tokenizer: tokenizer.backend_tokenizer,
}


@pytest.fixture(scope="module", params=["byte-level", "from a rank file", "sentencepiece"])
def kind_of_spec(request: pytest.FixtureRequest) -> TokenizerSpec:
    if request.param == "from a rank file":  # its tokens are not Python objects until somebody asks
        tokens = [*BYTES, *(merged for merged in make_spec().vocab if len(merged) == 2)]
        lines = [base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens)]
        return TokenizerSpec.from_table(
            native.Vocabulary.from_rank_file(b"".join(lines)), pattern=NAMED_PATTERNS["cl100k"].pattern
        )
    if request.param == "byte-level":
        return make_spec()
    return HfBpeTokenizer.train(iter(CORPUS), 400, dialect="sentencepiece", preset="llama2", progress=False).spec


def test_its_hash_for_datasets_is_the_same_after_every_use(kind_of_spec: TokenizerSpec) -> None:
    tokenizer = HfBpeTokenizer.from_spec(kind_of_spec, pad_token="<|pad|>", model_max_length=100)
    before = Hasher.hash(tokenizer)
    for name, use in USES.items():
        use(tokenizer)
        assert Hasher.hash(tokenizer) == before, name
    assert Hasher.hash(pickle.loads(pickle.dumps(tokenizer))) == before
    tokenizer.add_tokens(["<another>"])
    assert Hasher.hash(tokenizer) != before


def test_map_finds_what_it_cached_after_the_tokenizer_was_used(tokenizer: Any, tmp_path: Any) -> None:
    datasets.Dataset.from_dict({"text": TEXTS}).save_to_disk(tmp_path)

    def encode() -> Any:
        return datasets.load_from_disk(tmp_path).map(lambda rows: dict(tokenizer(rows["text"])), batched=True)

    first = encode()
    for use in USES.values():
        use(tokenizer)
    second = encode()
    assert second._fingerprint == first._fingerprint
    assert second.cache_files == first.cache_files
    assert second["input_ids"] == first["input_ids"]


def test_another_class_in_its_place_works(tokenizer: Any) -> None:
    before = tokenizer(TEXTS, return_offsets_mapping=True)
    cached = copy.copy(tokenizer)
    ids = tokenizer.all_special_ids
    properties = {"__len__": lambda self: 7, "all_special_ids": property(lambda self: ids)}
    cached.__class__ = type("Cached", (type(tokenizer),), properties)  # as servers do
    assert len(cached) == 7
    assert cached.all_special_ids == ids
    assert cached(TEXTS, return_offsets_mapping=True) == before
    assert cached.decode(cached.encode("hello <|end|>"), skip_special_tokens=True) == "hello "
    assert cached.backend_tokenizer.encode("hello").ids == cached.encode("hello")
    assert len(tokenizer) != 7


@pytest.mark.parametrize("copier", COPIERS)
def test_copies_of_a_result_have_all_of_it(tokenizer: Any, copier: str) -> None:
    result = tokenizer(TEXTS, truncation=True, max_length=5, stride=1, padding=True)
    other = COPIERS[copier](result)
    assert other == result
    for one, expected in zip(other.encodings, result.encodings, strict=True):
        assert (one.tokens, one.offsets, one.word_ids) == (expected.tokens, expected.offsets, expected.word_ids)
        assert [window.offsets for window in one.overflowing] == [window.offsets for window in expected.overflowing]


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


def test_threads_find_out_the_alignment_of_one_result(tokenizer: Any) -> None:
    texts = TEXTS * 5
    expected = tokenizer(texts, truncation=True, max_length=9, stride=2)
    answers = [(encoding.offsets, encoding.tokens, len(encoding.overflowing)) for encoding in expected.encodings]
    for _ in range(10):
        result = tokenizer(texts, truncation=True, max_length=9, stride=2)

        def look(n: int, result: Any = result) -> Any:
            encoding = result.encodings[n % len(texts)]
            return encoding.offsets, encoding.tokens, len(encoding.overflowing)

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(look, range(4 * len(texts)))) == answers * 4


def align(tokenizer: Any, earlier: Any) -> Any:
    """Ids, offsets and windows of a new result, and the alignment of one that was there before."""
    new = tokenizer(TEXTS, truncation=True, max_length=9, return_overflowing_tokens=True, return_offsets_mapping=True)
    return dict(new), [encoding.tokens for encoding in new.encodings], [encoding.offsets for encoding in earlier.encodings]


def align_in_child(tokenizer: Any, earlier: Any, queue: Any) -> None:
    queue.put(align(tokenizer, earlier))


def test_a_forked_process_encodes(tokenizer: Any) -> None:
    earlier = tokenizer(TEXTS)  # the engine has run before the fork, and its alignment is found out behind it
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=align_in_child, args=(tokenizer, earlier, queue))
    process.start()
    assert queue.get(timeout=60) == align(tokenizer, earlier)
    process.join(timeout=60)
    assert process.exitcode == 0


def test_truth_and_text_of_a_tokenizer(tokenizer: Any) -> None:
    assert tokenizer
    assert "HfBpeTokenizer" in repr(tokenizer)
    assert "<|end|>" in repr(tokenizer)
