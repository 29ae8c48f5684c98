"""Digits of any pattern grouped otherwise, and nothing else changed."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import NAMED_PATTERNS, PatternError
from hf_bpe.engine.reference import pretokenize
from hf_bpe.pattern_syntax.digits import digit_groups, with_digit_groups
from hf_bpe.patterns import find_named_pattern
from tests.support.text import difficult_text

PATTERNS = {name: named.pattern for name, named in NAMED_PATTERNS.items() if named.pattern}


@pytest.mark.parametrize(
    ("groups", "pieces"),
    [
        ("single", ["a", "1", "2", "3", "4", "5", "6", "7", " ", "8"]),
        ("up-to-three", ["a", "123", "456", "7", " ", "8"]),
        ("right-aligned", ["a", "1", "234", "567", " ", "8"]),
    ],
)
@pytest.mark.parametrize("name", ["llama3", "qwen2", "o200k", "tekken", "indic", "deepseek-v3"])
def test_digits_are_grouped_as_asked(name, groups, pieces):
    pattern = with_digit_groups(PATTERNS[name], groups)
    assert pretokenize("a1234567 8", pattern) == pieces
    assert digit_groups(pattern) == groups


def test_the_space_before_a_number_stays_with_it():
    assert pretokenize("in 2024", with_digit_groups(PATTERNS["gpt2"], "right-aligned")) == ["in", " 2", "024"]


RIGHT_ALIGNED = with_digit_groups(r"\p{N}+|\P{N}+", "right-aligned")


@given(digits=st.integers(1, 400))
def test_right_aligned_ends_in_threes_however_long_the_run(digits):
    lengths = [len(piece) for piece in pretokenize("7" * digits, RIGHT_ALIGNED)]
    assert sum(lengths) == digits
    assert sum(length != 3 for length in lengths) <= 1
    assert set(lengths[-33:][1:]) <= {3}
    if digits <= 100:
        assert set(lengths[1:]) <= {3}


@pytest.mark.parametrize("name", PATTERNS)
def test_text_without_digits_is_split_as_before(name):
    regrouped = [with_digit_groups(PATTERNS[name], groups) for groups in ("single", "right-aligned")]

    @settings(max_examples=30)
    @given(text=difficult_text())
    def alike(text):
        text = regex.sub(r"\p{N}", "x", text)
        assert [pretokenize(text, pattern) for pattern in regrouped] == [pretokenize(text, PATTERNS[name])] * 2

    alike()


def test_published_patterns_that_differ_in_digits_alone_become_each_other():
    assert find_named_pattern(with_digit_groups(PATTERNS["llama3"], "single")) is NAMED_PATTERNS["qwen2"]
    assert find_named_pattern(with_digit_groups(PATTERNS["qwen2"], "up-to-three")) is NAMED_PATTERNS["llama3"]


def test_a_pattern_without_digits_of_its_own_is_refused():
    with pytest.raises(PatternError, match="no part that takes digits alone"):
        with_digit_groups(r"\w+|\W+", "single")
    with pytest.raises(PatternError, match="there are 'single', 'up-to-three', 'right-aligned'"):
        with_digit_groups(r"\d+|\D+", "pairs")
