"""The surroundings of a difference in a long text."""

from __future__ import annotations

from collections.abc import Iterator

from conversion.verification.difference import parting
from conversion.verification.side import Side

__all__ = ["around"]

_REACHES = (20, 200, 2000)


def around(a: Side, text: str, a_ids: list[int], b_ids: list[int]) -> Iterator[str]:
    """Ever larger surroundings of the place where ids part, as far as they are smaller than the text."""
    common = parting(a_ids, b_ids)
    place = len(a.decode([a_ids[:common]])[0]) if a_ids != b_ids else 0
    for reach in _REACHES:
        if 2 * reach < len(text):
            yield text[max(0, place - reach) : place + reach]
