"""Words are what Unicode, or white space, says; scripts without spaces have none, and it is told."""

from __future__ import annotations

import pytest
import regex
import uniseg.wordbreak
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe.analysis import sample
from hf_bpe.analysis.metrics import words
from hf_bpe.analysis.metrics.words import indentation, words_of
from tests.support.text import difficult_text

WORD = r"[\p{Word_Break=ALetter}\p{Word_Break=Hebrew_Letter}\p{Word_Break=Numeric}]"
SPACELESS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Line_Break=SA}]"
TROUBLESOME = [
    "f('open', \"a\", `b`) # don't; it's 3.14,15 x_1_y _z_ a.b.c 1.a a:b 1:2 a..b 1,,2",
    "צה\"ל ג'ירפה ג' א\"b \u200da\u200db e\u0301\u200d' 1\u0301.2 a\u00adb a\u200e.b",
]


def found(text: str, mode: str = "unicode") -> list[str]:
    return [text[start:stop] for start, stop in words_of(text, mode).spans.tolist()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("('open') l'amour d’un rock'n'roll", ["open", "l'amour", "d’un", "rock'n'roll"]),
        ('צה״ל צה"ל ג\'ירפה ג\' "x"', ["צה״ל", 'צה"ל', "ג'ירפה", "ג'", "x"]),
        ("Don't panic, it’s 3.14!", ["Don't", "panic", "it’s", "3.14"]),
        ("snake_case _x __ 1,000 e-mail", ["snake_case", "_x", "1,000", "e", "mail"]),
        ("naïve cafe\u0301 Ⅷ ２", ["naïve", "cafe\u0301", "Ⅷ", "２"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("서울은 한국", ["서울은", "한국"]),
        ("... -- 👍🏽 !", []),
        ("", []),
    ],
)
def test_words_of_unicode(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    "text", ["中文字", "ひらがなとカタカナー", "สวัสดีครับ", "ភាសាខ្មែរ", "ພາສາລາວ", "မြန်မာ", "བོད་ཡིག", "ꦗꦮ", "ꆈꌠ"]
)
@pytest.mark.parametrize("mode", ["unicode", "whitespace"])
def test_scripts_without_spaces_have_no_words(text, mode):
    whole = words_of(f"{text} {text}", mode)
    assert len(whole.spans) == 0
    assert whole.letters == whole.spaceless > 0


def test_mixed_scripts_keep_the_words_that_there_are():
    assert found("Tokyo は 東京 in Japan") == ["Tokyo", "in", "Japan"]
    whole = words_of("ab 中文", "unicode")
    assert (whole.letters, whole.spaceless) == (4, 2)


@pytest.mark.parametrize("text", [*(" ".join(texts) for texts in sample.texts().values()), *TROUBLESOME])
def test_boundaries_are_those_of_uniseg(text):
    """But for what is in scripts without spaces, and for white space, punctuation and symbols, which are no words."""
    expected = [word for word in uniseg.wordbreak.words(text) if regex.search(WORD, word) and not regex.search(SPACELESS, word)]
    assert found(text) == expected


@given(difficult_text())
def test_words_between_white_space_are_those_of_split(text):
    spaceless = words_of(text, "unicode").spaceless
    ours = found(text, "whitespace")
    split = text.split()
    # str.split also cuts at the separators U+001C to U+001F, which Unicode does not call white space.
    if not spaceless and not any("\x1c" <= character <= "\x1f" for character in text):
        assert ours == split


@given(
    st.lists(st.sampled_from(["a", "it's", "\n", "x\u202fy", "中", " ", "  ", "1.5"]), max_size=12),
    st.sampled_from(words.MODES),
)
def test_stretches_that_come_again_are_found_again(parts, mode):
    text = "".join(parts)
    assert words_of(text, mode).spans.tolist() == words._matches(words._PATTERNS[mode], text).tolist()
    assert words_of(text, mode).letters == sum(map(len, regex.findall(words._LETTERS, text)))


@given(difficult_text(), st.sampled_from(words.MODES))
def test_looking_at_stretches_finds_what_looking_at_the_text_does(text, mode):
    assert words_of(text, mode).spans.tolist() == words._matches(words._PATTERNS[mode], text).tolist()


@given(difficult_text())
def test_spans_rise_and_hold_a_letter_or_a_number(text):
    spans = words_of(text, "unicode").spans
    assert (spans[:, 0] < spans[:, 1]).all()
    assert (spans[1:, 0] >= spans[:-1, 1]).all()
    assert all(regex.search(r"[\p{Alphabetic}\p{N}\p{Word_Break=ALetter}]", word) for word in found(text))


@given(st.text(" \tx\n", max_size=20))
def test_indentation_is_what_lines_begin_with(text):
    lines = text.split("\n")
    assert sum(stop - start for start, stop in indentation(text).tolist()) == sum(len(x) - len(x.lstrip(" \t")) for x in lines)
