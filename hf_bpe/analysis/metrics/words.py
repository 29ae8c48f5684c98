r"""Where the words of a text are.

"unicode": what the default word boundaries of Unicode (UAX #29) hold together, if it has a letter or a digit. "whitespace": what stands
between white space, punctuation with it.

Neither finds the words of Chinese, Japanese, Thai and other scripts that put no spaces between them: the boundaries of Unicode stand
after nearly each character there. So nothing in such a script is a word here, and `WordSpans.spaceless` says how much of the text is in
them. Alternative considered: a dictionary for each such language. Tokenizers would then be measured by what the dictionary holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import regex

__all__ = ["MODES", "Spans", "WordMode", "WordSpans", "indentation", "words_of"]

WordMode: TypeAlias = Literal["unicode", "whitespace"]
MODES: tuple[WordMode, ...] = ("unicode", "whitespace")

Spans: TypeAlias = npt.NDArray[np.int64]
"""Shape (n, 2): first and last + 1 character of each."""

_WITHOUT_SPACES = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Yi}\p{Tibetan}\p{Javanese}\p{Balinese}\p{Line_Break=SA}\p{Word_Break=Katakana}]"


def _unicode_word() -> str:
    r"""The rules WB4 to WB13b for letters and digits. Katakana, which they know too, is written without spaces.

    Alternative considered: `\b` of the `regex` library with its flag WORD, which has rules of its own for apostrophes: in ('open') it
    finds no boundary before the o.
    """
    ignored = r"\p{Word_Break=Extend}\p{Word_Break=Format}\p{Word_Break=ZWJ}"
    hebrew, digit = r"\p{Word_Break=Hebrew_Letter}", r"0-9\p{Word_Break=Numeric}"
    letter = rf"A-Za-z\p{{Word_Break=ALetter}}{hebrew}"  # the commonest first, which takes a third off the time
    joiner = rf"\p{{Word_Break=ExtendNumLet}}[{ignored}]*+"
    in_word = r"\p{Word_Break=MidLetter}\p{Word_Break=MidNumLet}\p{Word_Break=Single_Quote}"
    in_number = r"\p{Word_Break=MidNum}\p{Word_Break=MidNumLet}\p{Word_Break=Single_Quote}"
    letters = rf"[{letter}][{letter}{ignored}]*+(?:[{in_word}][{ignored}]*+(?=[{letter}]))?+"
    digits = rf"[{digit}][{digit}{ignored}]*+(?:[{in_number}][{ignored}]*+(?=[{digit}]))?+"
    quoted = rf"'(?<={hebrew}[{ignored}]*')|\"(?<={hebrew}[{ignored}]*\")(?=[{ignored}]*{hebrew})"
    rest = rf"(?:{letters}|{digits}|{joiner}|(?:{quoted})[{ignored}]*+)*+"
    return rf"(?V1)(?:{joiner})*+(?!{_WITHOUT_SPACES})(?:{letters}|{digits}){rest}"


_PATTERNS = {
    "unicode": _unicode_word(),
    "whitespace": rf"(?V1)(?<!\S)[\S--{_WITHOUT_SPACES}]++(?!\S)",
}
_LETTERS = r"(?V1)[\p{Alphabetic}\p{M}]++"
_INDENTATION = r"(?mV1)^[ \t]++"


@dataclass(frozen=True, eq=False)
class WordSpans:
    """The words of a text. letters: how many letters and marks the text holds; spaceless: of these, those of scripts without spaces."""

    spans: Spans
    letters: int
    spaceless: int


def words_of(text: str, mode: WordMode) -> WordSpans:
    """The words of a text.

    >>> text = "It's 3.14 词 long"
    >>> [text[start:stop] for start, stop in words_of(text, "unicode").spans.tolist()]
    ["It's", '3.14', 'long']
    """
    letters = sum(stop - start for start, stop in _found(_LETTERS, text))
    spaceless = sum(stop - start for start, stop in _found(rf"(?V1)[{_WITHOUT_SPACES}&&[\p{{Alphabetic}}\p{{M}}]]++", text))
    return WordSpans(_array(_found(_PATTERNS[mode], text)), letters, spaceless)


def indentation(text: str) -> Spans:
    r"""The spaces and tabs that lines begin with.

    >>> indentation("a\n  b").tolist()
    [[2, 4]]
    """
    return _array(_found(_INDENTATION, text))


def _found(pattern: str, text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _compiled(pattern).finditer(text)]


@cache
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern)


def _array(spans: list[tuple[int, int]]) -> Spans:
    return np.array(spans, np.int64).reshape(-1, 2)
