"""Pieces of every length that some store, table or merger has its border at, and long repetitions, against tiktoken."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import Encoder, TokenizerSpec
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.vocabularies import BYTES, cl100k_ranks, cl100k_spec, gpt2_spec, spec_of_ranks

LENGTHS = [
    1,
    2,
    3,
    14,
    15,
    16,
    17,
    29,
    30,
    31,
    32,
    33,
    47,
    48,
    63,
    64,
    65,
    127,
    128,
    129,
    255,
    256,
    257,
    258,
    300,
    511,
    512,
    513,
]
UNITS = [
    "a", "A", " ", "\n", "\t", "-", "=", "_", "#", "/", ".", "'", "0", "é", "ß", "中", "。", "ก", "ำ", "न", "ि", "😉", "\u0301", "\0",
    "ab", "aA", "la", "ha", "=-", "-=", " \n", "\r\n", "->", "12", "中国", "あい", "กา", "नि", "👍🏽", "the", "abc", " a", "word ", "аб",
]  # fmt: skip
SCRIPTS = {
    "Chinese": range(0x4E00, 0x9FA0),
    "kana": range(0x3041, 0x30FF),
    "Hangul": range(0xAC00, 0xD7A4),
    "Thai": [*range(0x0E01, 0x0E3B), *range(0x0E40, 0x0E4F)],
    "Devanagari": [*range(0x0905, 0x0950), *range(0x0958, 0x0964)],
    "Arabic": range(0x0621, 0x0670),
    "emoji": [*range(0x1F300, 0x1F650), 0x200D, 0xFE0F, *range(0x1F3FB, 0x1F400)],
    "mathematical": range(0x1D400, 0x1D6A0),
    "latin with accents": range(0x00C0, 0x0250),
    "everything": [*range(0x21, 0x7F), 0xE9, 0x416, 0x4E2D, 0x0E01, 0x1F609, 0x928, 0x94D],
}


@cache
def pair(name: str) -> tuple[Encoder, tiktoken.Encoding]:
    spec = {"cl100k": cl100k_spec, "gpt2": gpt2_spec}[name]()
    ranks = cl100k_ranks() if name == "cl100k" else dict(spec.vocab)
    official = tiktoken.Encoding(name, pat_str=TIKTOKEN_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})
    return Encoder(spec.replace(added_tokens=()), engine="native"), official


def check(name: str, texts: list[str]) -> None:
    encoder, official = pair(name)
    for text in texts:
        expected = official.encode_ordinary(text)
        assert encoder.encode_ordinary(text) == expected, repr(text[:80])
        assert encoder.encode_ordinary(text) == expected, f"the second time: {text[:80]!r}"
    assert encoder.encode_with_offsets(texts[-1])[0].tolist() == expected


both_vocabularies = pytest.mark.parametrize("name", ["cl100k", "gpt2"])


@both_vocabularies
@pytest.mark.parametrize("unit", UNITS)
def test_repetitions_of_every_length(name: str, unit: str) -> None:
    check(name, [unit * times for times in [*range(1, 140), *range(140, 1100, 37), 1023, 1024, 1025, 2047, 4095, 4999, 5000]])


@both_vocabularies
def test_repetitions_one_after_the_other(name: str) -> None:
    generator = random.Random(name)
    texts = []
    for _ in range(600):
        runs = [(generator.choice(UNITS), int(5000 ** generator.random())) for _ in range(generator.randint(2, 6))]
        texts.append("".join(unit * times for unit, times in runs))
    check(name, texts)


@both_vocabularies
def test_runs_interrupted_once(name: str) -> None:
    texts = []
    for unit in ("a", " ", "-", "=", "中", "0", "\n", "ก", "é"):
        for other in ("b", "-", "=", "国", "x", " ", "\u0301"):
            for left, right in ((1, 100), (63, 64), (64, 65), (500, 3), (31, 33), (1000, 1000)):
                texts.append(unit * left + other + unit * right)
    check(name, texts)


@both_vocabularies
@pytest.mark.parametrize("script", SCRIPTS)
def test_long_pieces_of_every_script(name: str, script: str) -> None:
    generator = random.Random(script)
    letters = [chr(code) for code in SCRIPTS[script]]
    few = generator.sample(letters, 5)
    texts = []
    for length in [*LENGTHS, 1000, 3000]:
        texts += ["".join(generator.choices(alphabet, k=length)) for alphabet in (letters, letters, few, [*few, " "])]
    check(name, texts)


def cut_to_bytes(text: str, size: int) -> str:
    return text.encode()[:size].decode("utf-8", "ignore")


@both_vocabularies
@pytest.mark.parametrize("size", LENGTHS)
def test_words_of_so_many_bytes(name: str, size: int) -> None:
    generator = random.Random(size)
    texts = []
    for alphabet in ("ab", "abcdefghijklmnopqrstuvwxyz", "aé", "中国人民", "абвгд", "กขค", "aé中😉"):
        for lead in ("", " ", "x"):
            word = cut_to_bytes(lead + "".join(generator.choices(alphabet, k=size)), size)
            texts += [word, f"{word} {word}", f"q {word}\n{word}."]
    check(name, texts)


# ---------------------------------------------------------------------------------------------------------------------
# Tokens that no merge makes


@cache
def unreachable_ranks() -> tuple[dict[bytes, int], list[bytes]]:
    """cl100k's first tokens and, of every length, tokens that no merge of them makes."""
    generator = random.Random(1)
    ranks = {token: rank for token, rank in cl100k_ranks().items() if rank < 20_000}
    strange = []
    for size in LENGTHS[3:]:
        for alphabet in ("qxzjvk", "中国人民大会堂", "กขคงจ", "नमस", "qé中😉"):
            token = cut_to_bytes("".join(generator.choices(alphabet, k=size)), size).encode()
            if token not in ranks:
                ranks[token] = len(ranks)
                strange.append(token)
    return ranks, strange


@cache
def unreachable_pair(ignore_merges: bool) -> tuple[Encoder, tiktoken.Encoding, list[bytes]]:
    ranks, strange = unreachable_ranks()
    pattern = r"\s*[^\s]+|\s+"
    official = tiktoken.Encoding("strange", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    spec = spec_of_ranks(ranks, pattern=pattern)
    assert spec.ignore_merges
    return Encoder(spec.replace(ignore_merges=ignore_merges), engine="native"), official, strange


def parts_of_longer_pieces(strange: list[bytes]) -> list[str]:
    tokens = [token.decode() for token in strange]
    texts = [*tokens, *(f" {token}" for token in tokens), *(left + right for left, right in pairwise(tokens))]
    texts += [f"{lead}{token}{end}" for token in tokens for lead, end in (("中", ""), ("", "人"), ("กา", "中国"), ("x", "y"))]
    return [*texts, *(token * 3 for token in tokens), *(f"{token} 中 {token}" for token in tokens), *tokens]


def test_tokens_no_merge_makes_are_found_as_whole_pieces_only() -> None:
    encoder, official, strange = unreachable_pair(True)
    for text in parts_of_longer_pieces(strange):
        expected = official.encode_ordinary(text)
        for _ in range(2):
            assert encoder.encode_ordinary(text) == expected, text
        assert encoder.encode_with_offsets(text)[0].tolist() == expected, text
        assert encoder.count_ordinary(text) == len(expected)
    assert sum(len(encoder.encode_ordinary(token.decode())) == 1 for token in strange) == len(strange)


def test_without_a_look_up_of_whole_pieces_they_never_come_out() -> None:
    encoder, _, strange = unreachable_pair(False)
    ids = {encoder.spec.vocab[token] for token in strange}
    reachable = set()
    for text in parts_of_longer_pieces(strange):
        reachable |= ids & set(encoder.encode_ordinary(text))
    made = {encoder.spec.vocab[a + b] for a, b in encoder.spec.merges}
    assert reachable <= made


@pytest.mark.parametrize("ignore_merges", [True, False])
@pytest.mark.parametrize("size", [2, 14, 15, 16, 30, 31, 64, 65, 256, 257])
def test_engines_agree_on_a_strange_token_within_longer_pieces(ignore_merges: bool, size: int) -> None:
    generator = random.Random(size)
    for alphabet in ("中国人民", "ab", "กขค", "a中"):
        token = cut_to_bytes("".join(generator.choices(alphabet, k=size)), size).encode()
        if token in BYTES or not token:
            continue
        known = "中国".encode()
        vocab = BYTES | {"中".encode()[:2]: 1000, "中".encode(): 1001, "国".encode()[:2]: 1002, "国".encode(): 1003}
        vocab |= {t: 2000 + n for n, t in enumerate(dict.fromkeys([token, known, token * 2])) if t not in vocab}
        merges = tuple((t[:-1], t[-1:]) for t in vocab if t[-1:] != t and t[:-1] in vocab and t not in (token, known))
        spec = TokenizerSpec(vocab=vocab, merges=merges, pattern=r"\S+|\s+", ignore_merges=ignore_merges)
        fast, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
        word = token.decode()
        texts = [word, word + "人", "人" + word, word * 2, word * 3, f"{word} {word}人{word} 中国 中国人 {word}"]
        for text in [*texts, *reversed(texts)]:
            assert fast.encode_ordinary(text) == reference.encode_ordinary(text)
            assert fast.encode_with_offsets(text)[1].tolist() == reference.encode_with_offsets(text)[1].tolist()


@settings(max_examples=200)
@given(runs=st.lists(st.tuples(st.sampled_from(UNITS), st.integers(1, 90)), min_size=1, max_size=5))
@both_vocabularies
def test_random_runs(name: str, runs: list[tuple[Any, int]]) -> None:
    check(name, ["".join(unit * times for unit, times in runs)])
