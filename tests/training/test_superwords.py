"""Superwords: a second stage across white space, and that other libraries encode with its result as we do."""

from __future__ import annotations

import re
from itertools import accumulate

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

import conversion
import hf_bpe
from hf_bpe.engine.reference import pretokenize, train_merges
from hf_bpe.pattern_syntax.digits import digit_groups, with_digit_groups
from tests.support.text import difficult_text, generated_text, plain_text

pytestmark = pytest.mark.filterwarnings("ignore:only .* merges asked for were found")

PROSE = [
    "By the way, it is in the end one of the best. " * 4 + "In the end, by the way: 1234 of 56789!\n\n",
    "def f(x):\n    return x\n\nfor the sake of it, in the end 2024.\r\n" * 3,
    "At the end of the day,   it is one of those things... by the way?\n" * 3,
] + [generated_text(seed, 120) for seed in range(6)]


def train(texts: list[str] = PROSE, vocab_size: int = 420, **options: object) -> hf_bpe.TokenizerSpec:
    options = {"pattern": "llama3", "superwords": "lines", "min_frequency": 1, "progress": False} | options
    return hf_bpe.train(iter(texts), vocab_size, **options)


def number_of_words(token: str) -> int:
    return len(re.findall(r"[A-Za-z']+", token))


def words_in(spec: hf_bpe.TokenizerSpec) -> set[str]:
    return {(left + right).decode("utf-8", "replace") for left, right in spec.merges}


def test_a_small_corpus_by_hand():
    # First stage, pieces "ab" x4 and " ab" x2 ("lines" leaves "ab ab" whole): "ab", then " ab". Second: the two words.
    spec = train(["ab ab", "ab ab"], 259, pattern="gpt2", superwords_from=258, min_frequency=2)
    assert spec.merges == ((b"a", b"b"), (b" ", b"ab"), (b"ab", b" ab"))
    assert hf_bpe.Encoder(spec).encode_ordinary("ab ab ab") == [258, 257]


def test_no_token_of_the_first_stage_crosses_white_space():
    spec = train(superwords_from=380)
    first = hf_bpe.train(iter(PROSE), 380, pattern="llama3", min_frequency=1, progress=False)
    assert spec.merges[: len(first.merges)] == first.merges
    assert any(" " in token.strip() for token in words_in(spec)), "there must be superwords for this test to mean anything"
    assert spec.pattern == hf_bpe.NAMED_PATTERNS["lines"].pattern


def test_no_token_crosses_lines_sentences_or_digits():
    for kind in ("lines", "sentences"):
        spec = train(superwords=kind, vocab_size=700)
        tokens = [token for token in words_in(spec) if token.isascii()]
        assert any(" " in token.strip() for token in tokens)
        assert not any("\n" in token.rstrip() for token in tokens)
        assert not any(token.strip("0123456789") and any(c.isdigit() for c in token) for token in tokens)
        if kind == "sentences":
            assert not any(mark + " " in token for token in tokens for mark in ".!?")


def borders(text: str, pattern: str) -> set[int]:
    return set(accumulate(map(len, pretokenize(text, pattern))))


@pytest.mark.parametrize("kind", ["lines", "sentences"])
@pytest.mark.parametrize("pattern", ["llama3", "qwen3.5", "indic"])  # o200k has "!\n/" as one piece
def test_the_second_stage_leaves_pieces_of_the_first_whole(kind, pattern):
    coarse, fine = (hf_bpe.resolve_pattern(name) for name in (kind, pattern))
    coarse = with_digit_groups(coarse, digit_groups(fine))

    @settings(max_examples=40)
    @given(st.one_of(difficult_text(), plain_text("a.! \n\r1?", 20)))
    def within(text: str) -> None:
        assert borders(text, coarse) <= borders(text, fine)

    within()


@pytest.mark.parametrize(("pattern", "longest"), [("qwen2", 1), ("llama3", 3)])
def test_digits_are_grouped_as_in_the_first_stage(pattern, longest):
    tokens = words_in(train(["12345 12345 in 12345 in"] * 3, 330, pattern=pattern))
    assert max((len(token) for token in tokens if token.isdigit()), default=1) == longest


def test_words_in_a_token_can_be_limited():
    spec = train(vocab_size=600, superword_max_words=2)
    assert max(map(number_of_words, words_in(spec))) == 2
    assert max(map(number_of_words, words_in(train(vocab_size=600)))) > 2


def test_the_second_stage_learns_from_text_as_it_will_be_encoded():
    spec = train(vocab_size=400, superwords_from=350)
    pieces = [piece.encode() for text in PROSE for piece in hf_bpe.Encoder(spec).pretokenize(text)]
    counts = {piece: pieces.count(piece) for piece in pieces}
    tokens = {bytes([byte]): byte for byte in range(256)}
    pairs = []
    for left, right in spec.merges:
        pairs.append((tokens[left], tokens[right]))
        tokens[left + right] = len(tokens)
    assert train_merges(counts, len(pairs), start=pairs[:94]) == pairs


@pytest.mark.parametrize("kind", ["lines", "sentences"])
@pytest.mark.parametrize("pattern", ["gpt2", "o200k", "indic"])
def test_stock_tokenizers_loads_it_and_encodes_alike(kind, pattern, tmp_path):
    spec = train(superwords=kind, pattern=pattern, vocab_size=500, special_tokens=["<|end|>"])
    conversion.save(spec, tmp_path / "tokenizer.json")
    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ours = hf_bpe.Encoder(spec)

    @settings(max_examples=60)
    @given(st.one_of(difficult_text(), plain_text("abe thn. \n1"), st.sampled_from(PROSE)))
    def alike(text: str) -> None:
        assert stock.encode(text, add_special_tokens=False).ids == ours.encode(text, allowed_special="all")

    alike()
    longer = " ".join(PROSE)
    assert stock.encode(longer, add_special_tokens=False).ids == ours.encode_ordinary(longer)
    assert conversion.load(tmp_path / "tokenizer.json").fingerprint == spec.fingerprint


def test_tiktoken_holds_it_too(tmp_path):
    import tiktoken

    spec = train(vocab_size=500, superwords="sentences")
    [path, *_] = conversion.save(spec, tmp_path / "x.tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    stock = tiktoken.Encoding("x", pat_str=spec.pattern, mergeable_ranks=load_tiktoken_bpe(str(path)), special_tokens={})
    for text in PROSE:
        assert stock.encode_ordinary(text) == hf_bpe.Encoder(spec).encode_ordinary(text)


def test_counts_for_both_stages_may_be_given():
    counts = [hf_bpe.WordCounts.count(iter(PROSE), pattern=pattern, progress=False) for pattern in ("llama3", "lines")]
    spec = hf_bpe.train(counts, 420, superwords="lines", min_frequency=1, progress=False)
    assert spec == train()
    with pytest.raises(hf_bpe.TrainingError, match="needs word counts for each"):
        hf_bpe.train(counts[0], 420, superwords="lines", progress=False)
