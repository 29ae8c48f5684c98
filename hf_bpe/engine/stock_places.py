"""Which characters stock classes give to the spaces that a SentencePiece model adds, or leaves one of."""

from __future__ import annotations

from collections.abc import Sequence

from hf_bpe.engine.reference import Placed
from hf_bpe.pieces import SentencePieceRules

__all__ = ["stock_places"]


def stock_places(text: str, places: Sequence[Placed], rules: SentencePieceRules) -> list[Placed]:
    """Places in characters as the `tokenizers` library has them, from those that SentencePiece has.

    A space put before a text stands where the first character does, one put behind it where the last does; of several of which
    one is left, that is the last. To SentencePiece the first two have no characters, and the third has all of them.
    """
    moved = list(places)
    end = len(text)  # of the stretch between added tokens
    is_last = True
    for number, placed in reversed(list(enumerate(places))):
        start, stop = placed.start, placed.stop
        if placed.is_added:
            end, is_last = start, True
            continue
        if rules.treat_whitespace_as_suffix:
            start, stop = (end - 1 if start == stop else start), (end if is_last or start == stop else stop)
        elif start == stop:
            start, stop = min(start, end - 1), min(start, end - 1) + 1
        while rules.remove_extra_whitespaces and text[start : start + 2] == "  " and start + 1 < stop:
            start += 1
        moved[number] = placed._replace(start=start, stop=stop)
        is_last = False
    return moved
