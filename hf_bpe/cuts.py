"""Where a long text may be cut so that its parts are split into the same pieces as the whole."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hf_bpe.normalizers import NormalizerStep
from hf_bpe.patterns import find_named_pattern

__all__ = ["can_cut", "last_cut", "normalizes_parts"]

# A published pattern always starts a piece at a letter or ASCII digit that follows a line break, and splits what stands
# before it as it would at the end of the text, provided the line break does not follow other white space: no alternative
# reaches over the break, and the only look-ahead, \s+(?!\S), cannot shorten a run of one. Hence text may be cut there.
# The letters are those that most lines begin with: ASCII, alpha to omega, Cyrillic, Hebrew, Arabic, Devanagari, kana, Han, Hangul.
_IN_TEXT = re.compile(
    r"(?<=\S\n)(?=[A-Za-z0-9\u03B1-\u03C9\u0410-\u044F\u05D0-\u05EA\u0627-\u063A\u0641-\u064A\u0905-\u0939\u3041-\u3096"
    r"\u30A1-\u30FA\u4E00-\u9FBF\uAC00-\uD77F])"
)
_IN_UTF8 = re.compile(
    rb"""(?:(?<=[\x00-\x08\x0E-\x1B!-\x7F]\n) | (?<=[\x80-\xBF]\n)  # the last byte of a character that is none of the white space beyond ASCII:
            (?<!\xC2[\x85\xA0]\n) (?<!\xE1\x9A\x80\n) (?<!\xE2\x80[\x80-\x8A\xA8\xA9\xAF]\n) (?<!\xE2\x81\x9F\n) (?<!\xE3\x80\x80\n))
         (?= [A-Za-z0-9] | \xCE[\xB1-\xBF] | \xCF[\x80-\x89] | \xD0[\x90-\xBF] | \xD1[\x80-\x8F] | \xD7[\x90-\xAA]
           | \xD8[\xA7-\xBA] | \xD9[\x81-\x8A] | \xE0\xA4[\x85-\xB9]
           | \xE3\x81[\x81-\xBF] | \xE3\x82[\x80-\x96\xA1-\xBF] | \xE3\x83[\x80-\xBA]
           | \xE4[\xB8-\xBF][\x80-\xBF] | [\xE5-\xE8][\x80-\xBF]{2} | \xE9[\x80-\xBE][\x80-\xBF]
           | \xEA[\xB0-\xBF][\x80-\xBF] | [\xEB-\xEC][\x80-\xBF]{2} | \xED[\x80-\x9D][\x80-\xBF])""",
    re.VERBOSE,
)

_SEARCHED = 1 << 16
"""Characters or bytes at the end of a text that nearly always hold a cut: a text in which they do not is kept whole."""


# Nothing joins with a line break in front of it, and what is no white space does not end in some once these
# are done. Stripped marks could uncover white space, and the others depend on where a text begins or on more of it.
_NORMALIZES_PARTS = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"}


def can_cut(pattern: str | None, normalizer: Sequence[NormalizerStep] = (), add_prefix_space: bool = False) -> bool:
    """Whether text that is normalised and split like this may be cut at all: known only of the published patterns.

    >>> from hf_bpe.patterns import resolve_pattern
    >>> can_cut(resolve_pattern("gpt2"), ["NFC"]), can_cut(resolve_pattern("gpt2"), ["Strip"])
    (True, False)
    """
    if not normalizes_parts(normalizer, add_prefix_space):
        return False
    return pattern is not None and find_named_pattern(pattern) is not None


def normalizes_parts(normalizer: Sequence[NormalizerStep], add_prefix_space: bool) -> bool:
    """Whether the parts of a text are normalised as the whole is, if a letter follows each part.

    >>> normalizes_parts(["NFC", "Lowercase"], False), normalizes_parts(["Strip"], False)
    (True, False)
    """
    return not add_prefix_space and all(step in _NORMALIZES_PARTS for step in normalizer)


def last_cut(text: str | bytes | bytearray, end: int | None = None) -> int:
    r"""The last place before `end`, and near it, at which to cut; 0 if there is none.

    >>> last_cut("one\ntwo\nthree"), last_cut("one \ntwo")
    (8, 0)
    """
    end = len(text) if end is None else end
    start = max(0, end - _SEARCHED)
    # Line by line from the end: one search through all that may hold a cut took a fifth of the time of counting words.
    behind = end
    while (behind := _line_break_before(text, start, behind)) >= 0:
        cut = behind + 1
        if _IN_TEXT.match(text, cut, end) if isinstance(text, str) else _IN_UTF8.match(text, cut, end):
            return cut
    return 0


def _line_break_before(text: str | bytes | bytearray, start: int, end: int) -> int:
    return text.rfind("\n", start, end) if isinstance(text, str) else text.rfind(b"\n", start, end)
