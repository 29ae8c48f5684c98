"""A text that two sides treat differently, shown around the place where they part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conversion.verification.causes import Cause
from conversion.verification.side import Reading, Side

__all__ = ["Difference", "Row", "Token", "difference_of", "parting"]

_CONTEXT = 40
_SHOWN_IDS = 12
_ROWS_BEFORE, _ROWS_AFTER = 3, 2


@dataclass(frozen=True)
class Token:
    """An id and what it stands for, bytes that are not UTF-8 as `\\\\x80`."""

    id: int
    text: str


@dataclass(frozen=True)
class Row:
    """The tokens of both sides up to the next place at which both begin a token. same: whether their ids are the same."""

    a: tuple[Token, ...]
    b: tuple[Token, ...]
    same: bool


@dataclass(frozen=True)
class Difference:
    """A text that the two encode, or decode, differently.

    text: the surroundings of the place where the ids part, which begins at `offset` (in characters) of the document.
    a_ids, b_ids: the next ids of each, after `ids_in_common`. rows: the tokens around that place, side by side.
    a_decoded, b_decoded: where the ids are the same, and they decode to different texts.
    """

    where: str
    reading: Reading
    cause: Cause
    text: str
    offset: int
    ids_in_common: int
    a_ids: tuple[int, ...]
    b_ids: tuple[int, ...]
    rows: tuple[Row, ...]
    a_decoded: str | None = None
    b_decoded: str | None = None

    def __str__(self) -> str:
        head = f"{self.where}, {self.reading}: {self.text!r} (cause: {self.cause})\n"
        if self.a_decoded is not None:
            return f"{head}  {self.ids_in_common} ids in common, decoded by a: {self.a_decoded!r}, by b: {self.b_decoded!r}"
        return f"{head}  after {self.ids_in_common} ids in common, a: {list(self.a_ids)}, b: {list(self.b_ids)}"


def parting(a_ids: Sequence[object], b_ids: Sequence[object]) -> int:
    """How many items two sequences have in common at their beginning.

    >>> parting([1, 2, 3], [1, 2, 4])
    2
    """
    shorter = min(len(a_ids), len(b_ids))
    if a_ids[:shorter] == b_ids[:shorter]:
        return shorter
    return next(place for place in range(shorter) if a_ids[place] != b_ids[place])


def difference_of(
    a: Side, b: Side, where: str, text: str, reading: Reading, cause: Cause, a_ids: list[int], b_ids: list[int]
) -> Difference:
    """What to show of a difference."""
    common = parting(a_ids, b_ids)
    decoded: tuple[str | None, str | None] = None, None
    if cause == "decoder":
        texts = a.decode([a_ids])[0], b.decode([b_ids])[0]
        offset = parting(*texts)
        decoded = (
            texts[0][max(0, offset - _CONTEXT) : offset + _CONTEXT],
            texts[1][max(0, offset - _CONTEXT) : offset + _CONTEXT],
        )
    else:
        offset = len(a.decode([a_ids[:common]])[0]) if common else 0
    start = max(0, min(offset, len(text)) - _CONTEXT)
    return Difference(
        where=where,
        reading=reading,
        cause=cause,
        text=text[start : start + 2 * _CONTEXT],
        offset=start,
        ids_in_common=common,
        a_ids=tuple(a_ids[common : common + _SHOWN_IDS]),
        b_ids=tuple(b_ids[common : common + _SHOWN_IDS]),
        rows=tuple(_rows(a, b, a_ids, b_ids, common)),
        a_decoded=decoded[0],
        b_decoded=decoded[1],
    )


def _rows(a: Side, b: Side, a_ids: list[int], b_ids: list[int], common: int) -> Iterator[Row]:
    first = max(0, common - _ROWS_BEFORE)
    yield from (Row((_token(a, token_id),), (_token(b, token_id),), True) for token_id in a_ids[first:common])
    places, after = [common, common], 0
    while places[0] < len(a_ids) or places[1] < len(b_ids):
        row, places = _next_row(a, b, a_ids, b_ids, places)
        yield row
        after += row.same
        if after == _ROWS_AFTER or places[0] - common > _SHOWN_IDS or places[1] - common > _SHOWN_IDS:
            return


def _next_row(a: Side, b: Side, a_ids: list[int], b_ids: list[int], places: list[int]) -> tuple[Row, list[int]]:
    """The tokens up to where both have given equally many bytes, but for very many tokens."""
    sides, ids = (a, b), (a_ids, b_ids)
    taken: tuple[list[int], list[int]] = ([], [])
    lengths = [0, 0]
    places = list(places)
    while True:
        behind = 0 if lengths[0] <= lengths[1] else 1
        if places[behind] >= len(ids[behind]):
            behind = 1 - behind
        if places[behind] >= len(ids[behind]):
            break
        token_id = ids[behind][places[behind]]
        taken[behind].append(token_id)
        lengths[behind] += len(sides[behind].token(token_id))
        places[behind] += 1
        if lengths[0] == lengths[1] or len(taken[behind]) == _SHOWN_IDS:
            break
    shown = [tuple(_token(side, token_id) for token_id in row) for side, row in zip(sides, taken, strict=True)]
    return Row(shown[0], shown[1], taken[0] == taken[1]), places


def _token(side: Side, token_id: int) -> Token:
    return Token(token_id, side.token(token_id).decode("utf-8", "backslashreplace"))
