"""Which characters stock classes give to spaces: those that a SentencePiece model adds, or leaves one of, and those around tokens."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hf_bpe.engine.arrays import Alignment
from hf_bpe.pattern_syntax import SPACE
from hf_bpe.pieces import SentencePieceRules

__all__ = ["OuterSpaces", "outer_spaces", "stock_places", "trimmed"]

Array = NDArray[np.int64]

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


class OuterSpaces:
    """`outer_spaces` of the tokens of a vocabulary, each counted when first asked for. `token_of`: how one is written."""

    def __init__(self, n_vocab: int, token_of: Callable[[int], str]) -> None:
        self._token_of = token_of
        self._counts = np.full((n_vocab, 2), -1, np.int32)

    def of(self, ids: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Those of tokens by their ids, shape (n, 2)."""
        for token_id in np.unique(ids[self._counts[ids, 0] < 0]).tolist():
            self._counts[token_id] = outer_spaces(self._token_of(token_id))
        return self._counts[ids]


def trimmed(starts: Array, stops: Array, spaces: NDArray[np.int32], keeps_one: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Places without the spaces that tokens begin and end with: what a ByteLevel post-processor with `trim_offsets` does.

    spaces: how many, shape (n, 2). keeps_one: where a single space at the beginning is none of the text.

    >>> trimmed(np.array([0, 2]), np.array([2, 5]), np.array([[1, 0], [1, 1]]), np.array([True, False]))
    (array([0, 3]), array([2, 4]))
    """
    leading, trailing = spaces[:, 0], spaces[:, 1]
    begins = np.where(keeps_one & (leading == 1), starts, np.minimum(starts + leading, stops))
    return begins, np.where(stops >= trailing, np.maximum(stops - trailing, begins), stops)


def stock_places(texts: Sequence[str], found: Alignment, rules: SentencePieceRules) -> tuple[Array, Array]:
    """First and last + 1 character of each id of texts.

    A space put before a text stands where the first character does, one put behind it where the last does; of several of which
    one is left, that is the last. To SentencePiece the first two have no characters, and the third has all of them.

    >>> stock_places(["a   b"], encoder.align_batch(["a   b"]), rules)  # doctest: +SKIP
    (array([0, 3]), array([1, 5]))
    """
    starts, stops, bounds = found.starts.copy(), found.stops.copy(), found.bounds.tolist()
    concerned = [number for number, text in enumerate(texts) if _may_move_others(text, rules)]
    for number in concerned:
        part = slice(bounds[number], bounds[number + 1])
        places = zip(starts[part].tolist(), stops[part].tolist(), strict=True)
        moved = _stock_places(texts[number], list(places), found.added[part].tolist(), rules)
        if moved:
            starts[part], stops[part] = zip(*moved, strict=True)
    # Of the other texts only ids without characters move: half of the texts have one, which is no reason to go through all ids.
    added = np.flatnonzero(found.added).tolist()
    for place in np.flatnonzero((starts == stops) & ~found.added).tolist():
        number = bisect(bounds, place) - 1
        following = bisect(added, place)
        is_followed = following < len(added) and added[following] < bounds[number + 1]
        end = int(starts[added[following]]) if is_followed else len(texts[number])
        starts[place] = min(int(starts[place]), end - 1)
        stops[place] = starts[place] + 1
    return starts, stops


def _may_move_others(text: str, rules: SentencePieceRules) -> bool:
    """Whether places change of ids that have characters."""
    return rules.treat_whitespace_as_suffix or (rules.remove_extra_whitespaces and "  " in text)


def _stock_places(
    text: str, places: list[tuple[int, int]], added: Sequence[bool], rules: SentencePieceRules
) -> list[tuple[int, int]]:
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
