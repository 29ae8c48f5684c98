"""Which alternative took a piece: checked against the `regex` module, alternative by alternative, each as it is written."""

import random
from functools import cache
from importlib import import_module

import pytest
import regex

from hf_bpe import NAMED_PATTERNS, AddedToken
from hf_bpe.analysis import pretokens, view
from hf_bpe.pattern_syntax import alternatives
from hf_bpe.pieces import Piece
from tests.support.pieces import pieces_spec
from tests.support.text import assigned_code_points
from tests.support.vocabularies import byte_spec, gpt2_spec

TEXT = "It's 12345  spaces\r\n\r\n \t x don't STOP 你好 é e\u0301 !!! \u3000 👩‍👩  "
SPLINTERS = [*"aZé你ナ1٣.!'/_ ", "  ", "\t", "\n", "\r\n", "\u3000", "'s", "'LL", "e\u0301", "👩", "\u200d", "12345", "don't"]
"""None of which any two versions of Unicode disagree on."""
WITH_PATTERN = [named for named in NAMED_PATTERNS.values() if named.pattern is not None]


@cache
def one_by_one(pattern):
    return [regex.compile(source) for source, _ in alternatives(pattern)]


def first_alternative(pattern, text, start, stop):
    """The first one that matches at a place; it must take just that piece."""
    for number, compiled in enumerate(one_by_one(pattern), 1):
        found = compiled.match(text, start)
        if found is not None and found.end() > start:
            return number if found.end() == stop else None
    return 0


@pytest.mark.parametrize("named", WITH_PATTERN, ids=[named.name for named in WITH_PATTERN])
def test_the_alternative_is_the_first_that_matches_there(named):
    generator = random.Random(7)
    for text in [TEXT, *("".join(generator.choices(SPLINTERS, k=12)) for _ in range(20))]:
        for piece in pretokens(view(byte_spec(named.name), text)):
            [matched] = piece.matched
            expected = first_alternative(named.pattern, text, *piece.in_characters)
            assert (matched.number if matched else 0) == expected
            assert matched is None or regex.compile(matched.source) == one_by_one(named.pattern)[matched.number - 1]


def test_the_sources_of_a_pattern_joined_are_the_pattern():
    for named in WITH_PATTERN:
        assert "|".join(source for source, _ in alternatives(named.pattern)) == named.pattern


def test_spaces_before_a_word_by_hand():
    found = pretokens(view(gpt2_spec(), "a   b "))
    assert [(piece.text, piece.matched[0].source) for piece in found] == [
        ("a", r" ?\p{L}+"),
        ("  ", r"\s+(?!\S)"),
        (" b", r" ?\p{L}+"),
        (" ", r"\s+(?!\S)"),
    ]
    assert [piece.tokens for piece in found] == [range(1), range(1, 3), range(3, 4), range(4, 5)]


def test_added_tokens_are_pieces_and_text_ends_at_them():
    found = pretokens(view(gpt2_spec(), "a  <|endoftext|>  b"))
    assert [(piece.text, piece.is_added, len(piece.matched)) for piece in found] == [
        ("a", False, 1),
        ("  ", False, 1),
        ("<|endoftext|>", True, 0),
        (" ", False, 1),
        (" b", False, 1),
    ]
    assert found[1].matched[0].source == r"\s+(?!\S)"  # nothing follows within the stretch


def test_text_between_matches():
    kept = pretokens(view(byte_spec(r"[a-z]+"), "ab12"))
    assert [(piece.text, piece.matched[0] is None) for piece in kept] == [("ab", False), ("12", True)]
    dropped = pretokens(view(byte_spec(r"[a-z]+(?=1)|[a-z]+", unmatched="drop"), "ab12cd"))
    assert [(piece.text, piece.in_characters, piece.matched[0].number) for piece in dropped] == [
        ("ab", (0, 2), 1),
        ("cd", (4, 6), 2),
    ]


def test_stages_see_the_pieces_of_the_one_before():
    starcoder = NAMED_PATTERNS["starcoder"].stages
    spec = byte_spec(starcoder[0], stages=starcoder[1:])
    found = pretokens(view(spec, "a  1b"))
    assert [(piece.text, [each and each.number for each in piece.matched]) for piece in found] == [
        ("a", [None, 8]),
        ("  ", [None, 11]),
        ("1", [1, 9]),
        ("b", [None, 8]),
    ]


def test_normalised_text_is_what_the_pattern_sees():
    spec = byte_spec("gpt2", normalizer=("NFC", "Lowercase"), add_prefix_space=True)
    found = pretokens(view(spec, "E\u0301A 12"))
    assert [(piece.text, piece.in_characters) for piece in found] == [(" éa", (0, 3)), (" 12", (3, 6))]
    assert all(piece.matched for piece in found)


def test_without_a_pattern_there_is_nothing_to_match():
    [piece] = pretokens(view(byte_spec(), "ab cd"))
    assert (piece.text, piece.matched) == ("ab cd", ())
    spec = pieces_spec(Piece("▁"), Piece("a"), Piece("<c>", kind="user_defined"))
    assert [(piece.text, piece.matched) for piece in pretokens(view(spec, "a<c>a"))] == [("a", ()), ("<c>", ()), ("a", ())]
    assert pretokens(view(byte_spec("gpt2"), "")) == []


def test_an_added_token_that_takes_spaces_along():
    spec = byte_spec("gpt2").replace(added_tokens=(AddedToken("<m>", 256, lstrip=True),))
    assert [(piece.text, piece.is_added) for piece in pretokens(view(spec, "a  <m>b"))] == [
        ("a", False),
        ("  <m>", True),
        ("b", False),
    ]


@pytest.mark.parametrize("name", ["gpt2", "o200k", "kimi", "deepseek-v3"])
def test_a_pattern_made_for_a_long_text_matches_as_the_full_one(name, monkeypatch):
    generator = random.Random(11)
    assigned = assigned_code_points()
    texts = [
        *("".join(generator.choices([*SPLINTERS, *TEXT], k=30)) for _ in range(10)),
        "".join(generator.sample(assigned, 3000)),
        "aa",
    ]
    views = [view(byte_spec(name), text) for text in texts]
    expected = list(map(pretokens, views))
    monkeypatch.setattr(import_module("hf_bpe.analysis.pretokens"), "_LONG", 0)
    assert list(map(pretokens, views)) == expected
    assert all(piece.matched for pieces in expected for piece in pieces)
