"""What differs only where a token of the vocabulary stands, or a stage or normaliser does something, is found without a corpus."""

from __future__ import annotations

import pytest

import conversion
from hf_bpe import NAMED_PATTERNS, TokenizerSpec
from hf_bpe.normalizers import Replace

BYTES = {bytes([byte]): byte for byte in range(256)}


def spec_with(token: bytes, pattern: str | None = "gpt2", **fields) -> TokenizerSpec:
    """One token of two bytes."""
    text = None if pattern is None else NAMED_PATTERNS[pattern].pattern
    return TokenizerSpec(BYTES | {token: 256}, ((token[:1], token[1:]),), pattern=text, **fields)


@pytest.mark.parametrize(
    ("token", "one", "other"),
    [
        (b"(a", "gpt2", "cl100k"),
        (b"aB", "cl100k", "o200k"),
        (b"12", "cl100k", "gpt2"),
        (b"90", "cl100k", "gpt2"),
        (b"90", "llama3", "qwen2"),
        (b"00", "llama3", "gpt2"),
        (b"a1", "gpt2", "none"),
        (b".\n", "tekken", "gpt2"),
        (b"/\n", "o200k", "starcoder"),
        (b"\n\n", "cl100k", "gpt2"),
    ],
)
def test_a_token_that_only_one_pattern_lets_be_made_shows_it(token, one, other):
    report = conversion.verify(spec_with(token, one), spec_with(token, other))
    assert report.cause == "pattern"
    assert token.decode() in report.smallest.text


@pytest.mark.parametrize("token", [b"xy", b"ab", b"QJ"])
@pytest.mark.parametrize(
    "fields",
    [
        {"stages": (r"[a-z]|[^a-z]+", "J|[^J]+", r"\p{N}+|\P{N}")},
        {"normalizer": ("Lowercase",)},
        {"normalizer": (Replace("xy|ab|QJ", "z"),)},
    ],
    ids=["stages", "lowercase", "replacement"],
)
def test_stages_and_normalisers_are_aimed_at_as_well(token, fields):
    one = spec_with(token)
    assert not conversion.verify(one, one.replace(**fields)).equal


def test_a_replacement_of_what_is_in_no_string_of_ours_is_found():
    one = TokenizerSpec(BYTES, (), pattern=None)
    report = conversion.verify(one, one.replace(normalizer=(Replace("\u1234\u4321", "x"),)))
    assert not report.equal
    assert "\u1234\u4321" in report.smallest.text


def test_what_no_match_takes_is_aimed_at():
    one = TokenizerSpec(BYTES, (), pattern="[^\u1234]+")
    report = conversion.verify(one, one.replace(unmatched="drop"))
    assert not report.equal
    assert report.smallest.text == "\u1234"


@pytest.mark.parametrize(("a", "b"), [("o200k", "cl100k"), ("tekken", "qwen2")])
@pytest.mark.parametrize("token", [b"(A", b"-b", b"'s"])
def test_a_token_that_only_a_mark_before_it_takes_apart_is_found(a, b, token):
    vocab = {bytes([byte]): byte for byte in range(256)} | {token: 256}
    spec = TokenizerSpec(vocab, ((token[:1], token[1:]),), pattern=NAMED_PATTERNS[a].pattern)
    assert not conversion.verify(spec, spec.replace(pattern=NAMED_PATTERNS[b].pattern)).equal
