"""Which characters stock classes give to the spaces that a SentencePiece model adds, or leaves one of."""

from __future__ import annotations

from hf_bpe.engine.arrays import Alignment
from hf_bpe.pieces import SentencePieceRules

__all__ = ["stock_places"]


def stock_places(text: str, found: Alignment, rules: SentencePieceRules) -> list[tuple[int, int]]:
    """First and last + 1 character of each id.

    A space put before a text stands where the first character does, one put behind it where the last does; of several of which
    one is left, that is the last. To SentencePiece the first two have no characters, and the third has all of them.

    >>> stock_places("a   b", encoder.align("a   b"), rules)  # doctest: +SKIP
    [(0, 1), (3, 5)]
    """
    places = list(zip(found.starts.tolist(), found.stops.tolist(), strict=True))
    added = found.added.tolist()
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
