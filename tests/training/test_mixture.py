"""Sources by name: weights are exact, shares are met, samples follow from the seed alone."""

from __future__ import annotations

import pytest

import hf_bpe
from hf_bpe import CorpusError, Mixture, TrainingError, WordCounts
from hf_bpe.training.mixture import sampled
from tests.support.text import generated_text

ONE, TWO = ["ab ab ab"], ["cd cd"]


def train(mixture: Mixture, vocab_size: int = 257, **options: object) -> hf_bpe.TokenizerSpec:
    return hf_bpe.train(mixture, vocab_size, **({"pattern": "gpt2", "progress": False, "min_frequency": 1} | options))


def first_merge(mixture: Mixture) -> bytes:
    return b"".join(train(mixture).merges[0])


def test_sources_without_weights_are_one_corpus():
    texts = [generated_text(seed, 200) for seed in range(6)]
    mixed = train(Mixture({"a": texts[:2], "b": iter(texts[2:])}), 400)
    assert mixed == hf_bpe.train(iter(texts), 400, pattern="gpt2", progress=False, min_frequency=1)


def test_weights_are_what_repeating_a_source_does():
    texts = [generated_text(seed, 200) for seed in range(4)]
    weighted = train(Mixture({"a": texts[:2], "b": texts[2:]}, weights={"a": 3}), 400)
    assert weighted == hf_bpe.train(iter([*texts[:2] * 3, *texts[2:]]), 400, pattern="gpt2", progress=False, min_frequency=1)


def test_weights_that_are_no_whole_numbers_are_exact_and_so_is_min_frequency():
    mixture = {"one": ["abab"], "two": ["cdcdcd"]}
    assert first_merge(Mixture(mixture, weights={"one": "3/2"})) == b"ab"  # 3 against 3, and the lower ids
    assert first_merge(Mixture(mixture, weights={"one": "1.49"})) == b"cd"
    # "ab" counts 1.5 each time, so 3 in all: enough for 3, not for 4.
    weighted = Mixture({"one": ["abab"], "two": ["x"]}, weights={"one": 1.5})
    assert train(weighted, 257, min_frequency=3).merges == ((b"a", b"b"),)
    with pytest.warns(UserWarning, match="only 0 of the 1 merges"):
        train(weighted, 257, min_frequency=4)


def test_shares_are_of_bytes_whatever_the_sizes():
    sources = {"large": ["aa" * 500], "small": ["bb"]}
    shared = Mixture(sources, shares={"large": 1, "small": 3})
    counts = shared.count([byte_rules()], ())
    weighted = dict(counts.stages[0].items())
    large, small = weighted[b"aa" * 500] * 1000, weighted[b"bb"] * 2
    assert small / (large + small) == pytest.approx(0.75, abs=0.001)


def byte_rules() -> hf_bpe.TokenizerSpec:
    return hf_bpe.TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())


def test_counts_made_before_can_be_sources():
    counts = {"one": WordCounts({b"ab": 3}, pattern="gpt2"), "two": WordCounts({b"cd": 2}, pattern="gpt2")}
    assert first_merge(Mixture(counts, weights={"two": 2})) == b"cd"
    with pytest.raises(TrainingError, match="'one' is counted already"):
        train(Mixture(counts, sample={"one": 0.5}))


def test_a_sample_is_the_same_each_time_and_about_as_large_as_asked_for():
    texts = [str(number) for number in range(20_000)]
    chosen = list(sampled(iter(texts), "x", 0.1, seed=5))
    assert chosen == list(sampled(iter(texts), "x", 0.1, seed=5))
    assert 1850 < len(chosen) < 2150
    assert set(chosen) <= set(sampled(iter(texts), "x", 0.2, seed=5)), "a larger sample holds the smaller one"
    assert chosen != list(sampled(iter(texts), "x", 0.1, seed=6))
    assert chosen != list(sampled(iter(texts), "y", 0.1, seed=5))


def test_the_documents_of_a_text_file_are_its_lines(tmp_path, monkeypatch):
    lines = [f"line {number}\n" for number in range(3000)]
    (tmp_path / "a.txt").write_text("".join(lines))
    whole = list(sampled(tmp_path / "a.txt", "x", 0.5, seed=1))
    assert set(whole) < set(lines)
    from hf_bpe.training import corpus

    monkeypatch.setattr(corpus, "_BLOCK_BYTES", 64)
    assert list(sampled(tmp_path / "a.txt", "x", 0.5, seed=1)) == whole


def test_a_sampled_source_is_learnt_from_like_its_sample():
    texts = [f"w{number % 7} " * 3 for number in range(200)]
    mixture = Mixture({"a": texts, "b": ["xyz"]}, sample={"a": 0.3}, seed=9)
    chosen = list(sampled(iter(texts), "a", 0.3, seed=9))
    assert train(mixture, 262) == hf_bpe.train(iter([*chosen, "xyz"]), 262, pattern="gpt2", progress=False, min_frequency=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": {"three": 1}}, "weights names 'three', which is no source; there are 'one', 'two'"),
        ({"weights": {"one": 0}}, "a weight must be a number above 0"),
        ({"weights": {"one": "much"}}, "a weight must be a number above 0"),
        ({"shares": {"one": 1}}, "shares must name every source; 'two' has none"),
        ({"shares": {"one": 1, "two": 1}, "weights": {"one": 1}}, "give one of them"),
        ({"sample": {"one": 1.5}}, "a share above 0 and up to 1"),
        ({"sample": {"one": True}}, "a share above 0 and up to 1"),
        ({"seed": "x"}, "seed must be a whole number"),
    ],
)
def test_contradictions_are_refused(options, message):
    with pytest.raises(TrainingError, match=message):
        Mixture({"one": ONE, "two": TWO}, **options)


def test_no_sources_are_refused():
    with pytest.raises(TrainingError, match="a mixture needs sources"):
        Mixture({})


def test_an_empty_source_is_named():
    with pytest.raises(CorpusError, match="source 'two': the corpus is empty"):
        train(Mixture({"one": ONE, "two": [""]}))


def test_the_tokenizer_tells_of_the_mixture():
    spec = train(Mixture({"one": ONE, "two": TWO}, shares={"one": 0.5, "two": 0.5}, sample={"one": 1}))
    assert spec.provenance["sources"] == "one, two"
    assert spec.provenance["shares of sources"] == "one 0.5, two 0.5"
    assert spec.provenance["trained on"] == "13 bytes of text"
