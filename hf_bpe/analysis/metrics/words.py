r"""Where the words of a text are.

"unicode": what the default word boundaries of Unicode (UAX #29) hold together, if it has a letter or a digit. "whitespace": what stands
between white space, punctuation with it.

Neither finds the words of Chinese, Japanese, Thai and other scripts that put no spaces between them: the boundaries of Unicode stand
after nearly each character there. So nothing in such a script is a word here, and `WordSpans.spaceless` says how much of the text is in
them. Alternative considered: a dictionary for each such language. Tokenizers would then be measured by what the dictionary holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import regex

__all__ = ["MODES", "Spans", "WordMode", "WordSpans", "indentation", "words_of"]

WordMode: TypeAlias = Literal["unicode", "whitespace"]
MODES: tuple[WordMode, ...] = ("unicode", "whitespace")

Numbers: TypeAlias = npt.NDArray[np.int64]
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
_SPACELESS_LETTERS = rf"(?V1)[{_WITHOUT_SPACES}&&[\p{{Alphabetic}}\p{{M}}]]++"
_INDENTATION = r"(?mV1)^[ \t]++"


@dataclass(frozen=True, eq=False)
class WordSpans:
    """The words of a text. letters: how many letters and marks the text holds; spaceless: of these, those of scripts without spaces."""

    spans: Spans
    letters: int
    spaceless: int


def words_of(text: str, mode: WordMode) -> WordSpans:
    """The words of a text.

    What stands between spaces and line breaks is looked at once, however often it comes: that takes half the time of looking through the text.

    >>> text = "It's 3.14 词 long"
    >>> [text[start:stop] for start, stop in words_of(text, "unicode").spans.tolist()]
    ["It's", '3.14', 'long']
    """
    stretches = text.replace("\n", " ").split(" ")  # no word holds one of these; of other white space some do (U+202F)
    numbers: dict[str, int] = {}
    which = np.fromiter((numbers.setdefault(stretch, len(numbers)) for stretch in stretches), np.int64, len(stretches))
    distinct = _Distinct.of(list(numbers))
    starts = _starts(stretches)
    found = distinct.spans(_PATTERNS[mode])
    times = np.bincount(which, minlength=len(numbers))
    letters, spaceless = (int(times @ distinct.covered(pattern)) for pattern in (_LETTERS, _SPACELESS_LETTERS))
    return WordSpans(found.repeated(which, starts), letters, spaceless)


def indentation(text: str) -> Spans:
    r"""The spaces and tabs that lines begin with.

    >>> indentation("a\n  b").tolist()
    [[2, 4]]
    """
    return _matches(_INDENTATION, text)


@dataclass(frozen=True, eq=False)
class _Ragged:
    """Spans in each of several texts: text n has `spans[bounds[n]:bounds[n + 1]]`."""

    spans: Spans
    bounds: Numbers

    def repeated(self, which: Numbers, starts: Numbers) -> Spans:
        """Those of a text in which text `which[n]` begins at `starts[n]`."""
        counts = np.diff(self.bounds)[which]
        before = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(self.bounds[which] - before, counts)
        spans: Spans = self.spans[places] + np.repeat(starts, counts)[:, None]
        return spans


@dataclass(frozen=True, eq=False)
class _Distinct:
    """Texts one below the other: nothing that is looked for reaches over the end of a line. starts: where each begins."""

    text: str
    starts: Numbers

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Distinct:
        return cls("\n".join(texts), _starts(texts))

    def spans(self, pattern: str) -> _Ragged:
        """The matches in each text, counted from where it begins."""
        spans = _matches(pattern, self.text)
        text = np.searchsorted(self.starts, spans[:, 0], "right") - 1
        bounds = np.searchsorted(text, np.arange(len(self.starts) + 1))
        return _Ragged(spans - self.starts[text][:, None], bounds)

    def covered(self, pattern: str) -> Numbers:
        """How many characters of each text are in matches."""
        found = self.spans(pattern)
        ends = np.concatenate([[0], np.cumsum(found.spans[:, 1] - found.spans[:, 0])])
        return np.diff(ends[found.bounds])


def _starts(texts: Sequence[str]) -> Numbers:
    """Where each of these begins when they are joined by one character."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    return np.cumsum(lengths) - lengths


def _matches(pattern: str, text: str) -> Spans:
    """A list of them would take forty times the memory of the text."""
    spans = (match.span() for match in _compiled(pattern).finditer(text))
    return np.fromiter(chain.from_iterable(spans), np.int64).reshape(-1, 2)


@cache
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern)
