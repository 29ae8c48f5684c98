"""The counts are those of the definition, whatever the order, the cut into files, the threads and the memory."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hf_bpe
from hf_bpe.training.counting import store as store_module
from hf_bpe.training.counting.merging import _merged_by_definition, merge_streams, merge_words, sorted_words
from hf_bpe.training.words import Words
from tests.counting.support import TEXTS, as_dict, count, expected, write_jsonl, write_parquet
from tests.support.text import difficult_text, generated_text


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(difficult_text(), min_size=1, max_size=8).filter(any),
    pattern=st.sampled_from(["cl100k", "gpt2", r"\w+|\s+"]),
    threads=st.integers(1, 3),
    seed=st.integers(0, 9),
)
def test_counts_of_texts_in_any_order_on_any_threads_put_aside_or_not(texts, pattern, threads, seed, monkeypatch) -> None:
    shuffled = random.Random(seed).sample(texts, len(texts))
    wanted = as_dict(count(iter(texts), pattern=pattern, engine="reference"))
    assert wanted == expected([text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts], pattern)
    assert as_dict(count(iter(shuffled), pattern=pattern, num_threads=threads)) == wanted
    with monkeypatch.context() as patch:
        patch.setattr("hf_bpe.training.counting.make.for_tables", lambda limit: 1)
        assert as_dict(count(iter(shuffled), pattern=pattern, num_threads=threads)) == wanted
        assert as_dict(count(iter(texts), pattern=pattern, engine="reference")) == wanted


@pytest.mark.parametrize("spilled", [False, True])
@pytest.mark.parametrize("shards", [1, 2, 5])
def test_counts_of_files_do_not_depend_on_formats_or_shards(shards, spilled, tmp_path, monkeypatch) -> None:
    if spilled:
        monkeypatch.setattr("hf_bpe.training.counting.make.for_tables", lambda limit: 1)
    wanted = expected(TEXTS)
    for number in range(shards):
        part = TEXTS[number::shards]
        write_parquet(tmp_path / f"{number}.parquet", part[::2])
        ending = ["", ".zst", ".gz"][number % 3]
        write_jsonl(tmp_path / f"{number}.jsonl{ending}", part[1::2])
    for threads in (1, 2):
        counts = count(tmp_path, num_threads=threads)
        assert as_dict(counts) == wanted
        assert sum(source.texts for source in counts.sources) == len(TEXTS)
        assert counts.text_bytes == sum(len(text.encode()) for text in TEXTS)
    assert as_dict(count(tmp_path, output=tmp_path / "counts" / "x.parquet")) == wanted


@pytest.mark.parametrize("pattern", ["cl100k", "qwen2", r"\S+\s+|\s+", "none"])
def test_one_long_text_is_shared_out_where_that_changes_nothing(pattern, tmp_path) -> None:
    text = "\n".join(generated_text(seed, 60) for seed in range(60))
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    assert as_dict(count(path, pattern=pattern, num_threads=3)) == expected([text], pattern)


def test_normalizer_prefix_space_stages_and_special_tokens_decide_what_is_counted(tmp_path) -> None:
    rules = {"normalizer": ["NFC", "Lowercase"], "add_prefix_space": True, "stages": [r"\d"], "special_tokens": ["<|end|>"]}
    texts = ["Cafe\u0301 12<|end|>AB", "<|end|>", "x9y"]
    wanted = {" café".encode(): 1, b" ": 1, b"1": 1, b"2": 1, b" ab": 1, b" x": 1, b"9": 1, b"y": 1}
    assert as_dict(count(iter(texts), **rules)) == wanted
    assert as_dict(count(iter(texts), engine="reference", **rules)) == wanted


def test_more_runs_than_are_read_at_once_are_merged(tiny_budget, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(store_module, "_MOST_RUNS", 4)
    counts = count(iter(TEXTS * 3), temporary_folder=tmp_path)
    assert as_dict(counts) == {word: 3 * times for word, times in expected(TEXTS).items()}
    (folder,) = tmp_path.iterdir()
    assert 1 < len(list(folder.iterdir())) <= 5
    del counts
    assert not list(tmp_path.iterdir()), "the temporary folder goes with the counts"


def blocks_of(words: Words, size: int) -> Iterator[Words]:
    return (words.part(start, min(start + size, words.size)) for start in range(0, words.size, size))


WORDS = st.dictionaries(st.binary(min_size=1, max_size=12), st.integers(1, 2**40), max_size=30)


@given(st.lists(WORDS, min_size=1, max_size=6), st.integers(1, 7))
def test_parts_and_streams_merge_as_the_definition_says(parts, block) -> None:
    words = [sorted_words(part.items()) for part in parts]
    wanted = dict(_merged_by_definition(words).items())
    assert dict(merge_words(words).items()) == wanted
    merged = [word for given in merge_streams([blocks_of(each, block) for each in words]) for word in given.items()]
    assert merged == sorted(wanted.items())


def test_counts_beyond_63_bits_are_an_error() -> None:
    most = hf_bpe.WordCounts({b"a": 2**63 - 1}, pattern=None)
    assert most.occurrences == 2**63 - 1
    assert hf_bpe.WordCounts({b"a": 2**63 - 1, b"b": 2**63 - 1}).occurrences == 2**64 - 2
    for merged in (
        hf_bpe.WordCounts.merge(most, hf_bpe.WordCounts({b"a": 1}, pattern=None)),
        hf_bpe.WordCounts.merge(most, weights=[2]),
    ):
        with pytest.raises(hf_bpe.CorpusError, match=r"2\^63 - 1.*; lower the weights"):
            merged.words()
    for wrong in (0, -1, 2**63):
        with pytest.raises(hf_bpe.CorpusError, match="counts lie in"):
            hf_bpe.WordCounts({b"a": wrong})


def test_words_of_nothing_are_words() -> None:
    assert dict(merge_words([Words.of([]), Words.of([])]).items()) == {}


def test_rare_words_are_left_out_only_on_request_and_the_result_says_so(tmp_path: Path, monkeypatch) -> None:
    wanted = {word: times for word, times in expected(TEXTS).items() if times >= 3}
    rare = [times for times in expected(TEXTS).values() if times < 3]
    stated = ({"below": 3, "words": len(rare), "occurrences": sum(rare)},)
    in_memory = count(iter(TEXTS), drop_words_below=3)
    written = count(iter(TEXTS), drop_words_below=3, output=tmp_path / "x.parquet")
    monkeypatch.setattr("hf_bpe.training.counting.make.for_tables", lambda limit: 1)
    spilled = count(iter(TEXTS), drop_words_below=3)
    for counts in (in_memory, written, spilled):
        assert as_dict(counts) == wanted
        assert counts.dropped == stated
    assert count(iter(TEXTS)).dropped == ()
    spec = hf_bpe.train(written, 300, progress=False)
    assert spec.provenance["words left out"] == f"{len(rare)} seen less than 3 times ({sum(rare)} occurrences)"
