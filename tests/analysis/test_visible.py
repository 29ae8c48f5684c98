"""What is shown moves no cursor, turns nothing round, joins nothing; and nothing is lost."""

import unicodedata

import pytest
from hypothesis import given

from hf_bpe.analysis import glyphs, glyphs_of_bytes, shown
from tests.support.text import difficult_text, every_code_point


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" ", "·"),
        ("\t\r\n", "→␍⏎"),
        ("\x00\x1b\x7f", "␀␛␡"),
        ("\x85", "[U+0085]"),
        ("\u00a0\u3000", "⍽[U+3000]"),
        ("a\u202eb", "a[U+202E]b"),
        ("\ufeff\u200b", "[U+FEFF][U+200B]"),
        ("e\u0301", "e\u0301"),
        ("\u0301e", "\u25cc\u0301e"),
        (" \u0301", "·\u25cc\u0301"),
        ("\ue000\U000e0041", "[U+E000][U+E0041]"),
        ("", ""),
    ],
)
def test_by_hand(text, expected):
    assert shown(text) == expected


def test_no_character_is_shown_that_acts_on_others():
    every = every_code_point()
    for character in every[:0x3400] + every[0x3400::41]:
        glyph = shown(character)
        assert glyph.isprintable(), hex(ord(character))
        assert " " not in glyph
        assert unicodedata.category(glyph[0])[0] != "M"


@given(difficult_text())
def test_glyphs_hold_the_whole_text_in_order(text):
    assert "".join(glyph.source for glyph in glyphs(text)) == text


@given(difficult_text())
def test_what_is_shown_as_it_is_stands_for_nothing_else(text):
    assert all((glyph.shown == glyph.source) == (glyph.stands_for is None) for glyph in glyphs(text))


def test_bytes_that_are_no_text_are_shown_one_by_one():
    found = glyphs_of_bytes(b"\x9fa\xe4\xb8")
    assert [glyph.shown for glyph in found] == ["\\x9F", "a", "\\xE4", "\\xB8"]
    assert found[0].stands_for == "byte 9F"


def test_names_can_be_said_aloud():
    assert [glyph.stands_for for glyph in glyphs(" \n\u202e\x85")] == [
        "space",
        "U+000A line feed",
        "U+202E RIGHT-TO-LEFT OVERRIDE",
        "U+0085 control",
    ]
