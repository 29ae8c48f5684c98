"""What can never be a piece, or part of one, against all short texts."""

from __future__ import annotations

from itertools import product

import pytest

from hf_bpe import NAMED_PATTERNS
from hf_bpe.engine.reference import staged_spans
from hf_bpe.pattern_syntax.possible_pieces import can_be_a_piece, can_be_part_of_a_piece
from tests.conversion.support import small_spec

LETTERS = "a's1 \n"
LONGEST, ROOM = 3, 2  # a piece of three characters, and two after it that decide that it is one

ONE_PATTERN = {
    **{name: (NAMED_PATTERNS[name].pattern, "keep") for name in ("gpt2", "cl100k", "qwen2")},
    "look-ahead": (r"a(?=1')|as(?!\s)|\s(?=\n)", "drop"),
    "atomic": (r"(?>a|as)1|[a1]++s|'", "drop"),
}
OTHERS = {
    "unmatched": (r"a+|1", "keep", ()),
    "stages": (r"[as1]+|\s", "keep", (r"1", r"as|s+")),
    "stages behind what is dropped": (r"[as1]+", "drop", (r"a|\S1",)),
}


def texts(longest: int) -> list[str]:
    return ["".join(letters) for length in range(1, longest + 1) for letters in product(LETTERS, repeat=length)]


def pieces_of_all_texts(pattern, unmatched, stages) -> set[str]:
    everything = texts(LONGEST + ROOM)
    return {text[a:b] for text in everything for a, b in staged_spans(text, pattern, unmatched, stages)}


@pytest.mark.parametrize("name", ONE_PATTERN)
def test_one_pattern_is_decided(name):
    pattern, unmatched = ONE_PATTERN[name]
    found = pieces_of_all_texts(pattern, unmatched, ())
    possible = {text for text in texts(LONGEST) if can_be_a_piece(text, pattern, unmatched)}
    assert possible == {piece for piece in found if len(piece) <= LONGEST}
    parts = {text for text in texts(2) if can_be_part_of_a_piece(text, pattern, unmatched)}
    assert parts == {text for text in texts(2) if any(text in piece for piece in found)}


@pytest.mark.parametrize("name", OTHERS)
def test_what_can_be_a_piece_is_never_denied(name):
    pattern, unmatched, stages = OTHERS[name]
    found = pieces_of_all_texts(pattern, unmatched, stages)
    possible = {text for text in texts(LONGEST) if can_be_a_piece(text, pattern, unmatched, stages)}
    assert possible >= {piece for piece in found if len(piece) <= LONGEST}
    assert len(possible) < len(texts(LONGEST)) / 2
    parts = {text for text in texts(2) if can_be_part_of_a_piece(text, pattern, unmatched, stages)}
    assert parts >= {text for text in texts(2) if any(text in piece for piece in found)}


def test_a_piece_that_shows_in_surroundings_nobody_thinks_of():
    assert can_be_a_piece("xy", r"xy(?=七)|[\s\S]", "keep")
    assert not can_be_a_piece("xy", r"xy(?=(?!七)七)|[\s\S]", "keep")


@pytest.mark.parametrize("pattern", [None, r"(?<=a)b|[\s\S]"])
def test_what_is_not_provable_can_be_anything(pattern):
    assert can_be_a_piece("<s>", pattern, "keep")
    assert can_be_part_of_a_piece("<s>", pattern, "keep")


SMALL_PIECES = [named for named in NAMED_PATTERNS.values() if named.name not in ("none", "lines", "sentences")]


@pytest.mark.parametrize("named", SMALL_PIECES, ids=lambda named: named.name)
def test_names_of_special_tokens_are_no_pieces_of_published_patterns(named):
    for text in ("<s>", "<|eot_id|>", "[INST]", "<|reserved_special_token_11|>"):
        assert not can_be_a_piece(text, named.pattern, "keep"), text
    for text in (" the", "the", "!!!", "\n\n"):
        assert can_be_a_piece(text, named.pattern, "keep"), text


def test_a_long_text_takes_no_time():
    assert can_be_a_piece("a" * 100_000, small_spec().pattern, "keep")
    assert not can_be_a_piece("a1" * 50_000, r"a|\d", "keep")
