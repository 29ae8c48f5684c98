"""Where a long text may be cut so that its parts are split into the same pieces as the whole."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hf_bpe.normalizers import NormalizerStep
from hf_bpe.patterns import find_named_pattern

__all__ = ["can_cut", "last_cut", "normalizes_parts"]

# A published pattern always starts a piece at an ASCII letter or digit that follows a line break, and splits what stands
# before it as it would at the end of the text, provided the line break does not follow other white space: no alternative
# reaches over the break, and the only look-ahead, \s+(?!\S), cannot shorten a run of one. Hence text may be cut there.
_IN_TEXT = re.compile(r"(?<=\S\n)(?=[A-Za-z0-9])")
_IN_UTF8 = re.compile(rb"(?<=[!-~]\n)(?=[A-Za-z0-9])")  # a byte beyond ASCII may be the last of white space

_SEARCHED = 1 << 16
"""Characters or bytes at the end of a text that nearly always hold a cut; a text in which they do not is kept whole."""


# Nothing joins with a line break or an ASCII letter in front of it, and what is no white space does not end in some once these
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
    """Whether the parts of a text are normalised as the whole is, if an ASCII letter follows each part.

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
    found = _IN_TEXT.finditer(text, start, end) if isinstance(text, str) else _IN_UTF8.finditer(text, start, end)
    return max((match.start() for match in found), default=0)
