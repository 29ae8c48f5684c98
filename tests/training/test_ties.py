"""Ties as in other trainers: the same merges on generated words and on real text, in both engines."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import bpeasy
import pytest
import rustbpe
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, trainers

import hf_bpe
from hf_bpe.byte_level import token_to_bytes
from hf_bpe.engine import native
from hf_bpe.engine.reference import Ties, train_merges
from hf_bpe.errors import CorpusError, TrainingError
from hf_bpe.patterns import NAMED_PATTERNS
from hf_bpe.training.counting.word_counts import WordCounts
from hf_bpe.training.mixture import Mixture
from hf_bpe.training.ties import TIE_BREAKS, TieBreak
from hf_bpe.training.words import Words
from tests.faces.test_minbpe import learn as learn_as_minbpe
from tests.faces.test_minbpe import split
from tests.support.text import generated_text

Pair = tuple[int, int]
GPT2 = NAMED_PATTERNS["gpt2"].pattern
ALL_TIES: list[Ties] = ["lowest ids", "lowest characters", "first seen"]


def learn(words: dict[bytes, int], merges: int, tie_break: TieBreak, longest: int | None = None) -> list[Pair]:
    """Merges by both engines, which must agree."""
    rule = TIE_BREAKS[tie_break]
    longest = rule.longest(longest)
    expected = train_merges(words, merges, 1, longest, rule.ties)
    learnt = native.learn_merges(
        Words.of(words.items()), merges, min_frequency=1, max_token_length=longest, ties=rule.ties, progress=len_of_nothing
    )
    assert learnt == expected
    return learnt


def len_of_nothing(_: int) -> None:
    """No progress is shown."""


def spelled(merges: list[Pair]) -> list[tuple[bytes, bytes]]:
    tokens = [bytes([byte]) for byte in range(256)]
    pairs = []
    for left, right in merges:
        pairs.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
    return pairs


def merges_of_tokenizers(texts: list[str], merges: int, longest: int | None = None) -> list[tuple[bytes, bytes]]:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    trainer = trainers.BpeTrainer(
        vocab_size=256 + merges,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        **({} if longest is None else {"max_token_length": longest}),
    )
    tokenizer.train_from_iterator(texts, trainer)
    pairs = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(token_to_bytes(left), token_to_bytes(right)) for left, right in pairs]


def train(texts: list[str], merges: int, **options: object) -> list[tuple[bytes, bytes]]:
    settings_of_all = {"pattern": "gpt2", "min_frequency": 1, "progress": False, "shortfall": "reserve", **options}
    return list(hf_bpe.train(iter(texts), 256 + merges, **settings_of_all).merges)  # type: ignore[arg-type]


REAL = [generated_text(seed, 3000) for seed in range(4)] + [
    Path(__file__).read_text("utf-8"),
    Path(json.__file__).read_text("utf-8"),
]

# Words of few bytes on both sides of where the order of characters leaves that of bytes, so that ties abound.
words_of_ties = st.dictionaries(
    st.lists(st.sampled_from(b" !a\x7f\x80\xa0\xa1\xad\xae\xff"), min_size=1, max_size=9).map(bytes),
    st.integers(1, 4),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(words=words_of_ties, merges=st.integers(0, 25), longest=st.none() | st.integers(1, 6))
@pytest.mark.parametrize("tie_break", ["lowest-ids", "tokenizers", "first-seen"])
def test_both_engines_break_ties_alike(tie_break: TieBreak, words: dict[bytes, int], merges: int, longest: int | None) -> None:
    learn(words, merges, tie_break, longest)


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.text("ab é\xadÿ\x7f \n", max_size=40), max_size=5), longest=st.none() | st.integers(1, 6))
def test_tokenizers_learns_the_same_from_generated_texts(texts: list[str], longest: int | None) -> None:
    texts = [*texts, "a"]
    expected = merges_of_tokenizers(texts, 30, longest)
    assert train(texts, 30, tie_break="tokenizers", max_token_length=longest) == expected


@pytest.mark.parametrize("longest", [None, 7])
def test_tokenizers_learns_the_same_from_real_text(longest: int | None) -> None:
    expected = merges_of_tokenizers(REAL, 1500, longest)
    assert len(expected) > 1000
    assert train(REAL, 1500, tie_break="tokenizers", max_token_length=longest) == expected
    assert train(REAL, 1500, max_token_length=longest) != expected, "a text without ties shows nothing"


def test_rustbpe_learns_the_same_from_real_text() -> None:
    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(iter(REAL), 256 + 1500, pattern=GPT2)
    ranks = [bytes(token) for token, _ in sorted(tokenizer.get_mergeable_ranks(), key=lambda ranked: ranked[1])]
    merges = train(REAL, 1500, tie_break="rustbpe")
    assert [left + right for left, right in merges] == ranks[256:]


@pytest.mark.parametrize("longest", [1000, 7])
def test_bpeasy_learns_the_same_from_real_text(longest: int) -> None:
    vocabulary = bpeasy.train_bpe_stream(iter(REAL), GPT2, longest, 256 + 1500, 100)
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    merges = train(REAL, 1500, tie_break="bpeasy", max_token_length=longest)
    assert [left + right for left, right in merges] == tokens[256:]


def test_first_seen_is_minbpe() -> None:
    text = "".join(generated_text(seed, 800) for seed in range(3))
    expected = learn_as_minbpe(split(GPT2, text), 150)
    assert train([text], 150, tie_break="first-seen") == spelled(list(expected))


def test_first_seen_gives_the_merges_of_the_lecture() -> None:
    assert train(["aaabdaaabac"], 3, tie_break="first-seen", pattern=None) == [(b"a", b"a"), (b"aa", b"a"), (b"aaa", b"b")]


def test_first_seen_needs_texts_in_one_order() -> None:
    counts = WordCounts.count(iter(["a b"]), progress=False)
    with pytest.raises(TrainingError, match="word counts do not know"):
        hf_bpe.train(counts, 257, tie_break="first-seen", progress=False)
    with pytest.raises(TrainingError, match="a mixture has none"):
        hf_bpe.train(Mixture({"one": iter(["a b"])}), 257, tie_break="first-seen", progress=False)
    with pytest.raises(CorpusError, match="empty"):
        hf_bpe.train(iter([]), 257, tie_break="first-seen", progress=False)


def test_first_seen_sees_the_texts_in_their_order() -> None:
    assert train(["ba", "ab"], 1, tie_break="first-seen") == [(b"b", b"a")]
    assert train(["ab", "ba"], 1, tie_break="first-seen") == [(b"a", b"b")]
    assert train(["ba", "ab"], 1) == [(b"a", b"b")]


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(TrainingError, match="tie_break must be one of lowest-ids, tokenizers"):
        train(["a"], 1, tie_break="gigabpe")
    with pytest.raises(hf_bpe.HfBpeError, match="no order of ties"):
        native.learn_merges(Words.of([]), 1, min_frequency=1, max_token_length=None, ties="x", progress=len_of_nothing)


@pytest.mark.parametrize("ties", ALL_TIES)
def test_more_than_two_to_the_31_occurrences_of_a_pair_are_counted_right(ties: Ties) -> None:
    words = {b"abab": 1 << 33, b"cd": (1 << 34) + 1, b"ef": 3, b"xab": 1 << 62}
    expected = train_merges(words, 4, ties=ties)
    assert expected[:2] == [(97, 98), (120, 256)]
    learnt = native.learn_merges(
        Words.of(words.items()), 4, min_frequency=1, max_token_length=None, ties=ties, progress=len_of_nothing
    )
    assert learnt == expected


def test_a_pair_that_63_bits_cannot_count_is_an_error() -> None:
    words = {b"ab": (1 << 63) - 1, b"cab": 1}
    for learn_them in (
        lambda: train_merges(words, 1),
        lambda: native.learn_merges(
            Words.of(words.items()), 1, min_frequency=1, max_token_length=None, ties="lowest ids", progress=len_of_nothing
        ),
    ):
        with pytest.raises(CorpusError, match=r"tokens 97 and 98 occurs more than 2\^63 times"):
            learn_them()


def test_pairs_far_below_the_most_frequent_are_learnt_in_their_order() -> None:
    # Each is 3 times as frequent as the next: far more than are counted together.
    frequency = (3**power for power in count(38, -1))
    words = {bytes([97 + n, 98 + n]): next(frequency) for n in range(24)} | {b"zy": 1, b"zx": 1}
    assert learn(words, 40, "lowest-ids")[-2:] == [(122, 120), (122, 121)]
