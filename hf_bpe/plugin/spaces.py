"""Which characters stock classes give to spaces: those that a SentencePiece model adds, or leaves one of, and those around tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hf_bpe.pattern_syntax import SPACE
from hf_bpe.pieces import SentencePieceRules

__all__ = ["OuterSpaces", "outer_spaces", "stock_places"]

Places = list[tuple[int, int]]
"""First and last + 1 character of each id."""

_SPACES = frozenset(chr(c) for span in SPACE for c in range(span.first, span.last + 1)) | {"Ġ"}


def outer_spaces(token: str) -> tuple[int, int]:
    """How many spaces a token begins and ends with.

    >>> outer_spaces("Ġhello")
    (1, 0)
    """
    return _leading_spaces(token), _leading_spaces(reversed(token))


def _leading_spaces(token: Iterable[str]) -> int:
    count = 0
    for character in token:
        if character not in _SPACES:
            break
        count += 1
    return count


class OuterSpaces(dict[int, tuple[int, int]]):
    """`outer_spaces` of tokens by their ids, counted when first asked for. `token_of`: how a token is written."""

    def __init__(self, token_of: Callable[[int], str]) -> None:
        super().__init__()
        self._token_of = token_of

    def __missing__(self, token_id: int) -> tuple[int, int]:
        return self.setdefault(token_id, outer_spaces(self._token_of(token_id)))


def stock_places(text: str, places: Places, added: Sequence[bool], rules: SentencePieceRules) -> Places:
    """The same places as stock classes have them. `added`: whether each id is an added token that was found.

    A space put before a text stands where the first character does, one put behind it where the last does; of several of which
    one is left, that is the last. To SentencePiece the first two have no characters, and the third has all of them.

    >>> stock_places("a   b", [(0, 1), (1, 5)], [False, False], rules)  # doctest: +SKIP
    [(0, 1), (3, 5)]
    """
    places = list(places)
    end = len(text)  # of the stretch between added tokens
    is_last = True
    for number in reversed(range(len(places))):
        start, stop = places[number]
        if added[number]:
            end, is_last = start, True
            continue
        if rules.treat_whitespace_as_suffix:
            start, stop = (end - 1 if start == stop else start), (end if is_last or start == stop else stop)
        elif start == stop:
            start, stop = min(start, end - 1), min(start, end - 1) + 1
        while rules.remove_extra_whitespaces and text[start : start + 2] == "  " and start + 1 < stop:
            start += 1
        places[number] = start, stop
        is_last = False
    return places
