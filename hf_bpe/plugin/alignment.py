"""Where the ids of a row come from: `Recipe` says what a row becomes, `Recipe.align` makes it with everything known of each id.

This is the slow and complete way. Calls that ask for ids alone are served by `rows` and `tensors`, which give the same ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from hf_bpe.plugin.inputs import Numbers, Row, number_texts
from hf_bpe.plugin.placement import PlacedTexts, Stretch
from hf_bpe.plugin.shaping import Columns, Padding, Truncation
from hf_bpe.plugin.template import Piece, SequenceTemplate
from hf_bpe.plugin.vocabulary import Vocabulary

__all__ = ["Aligned", "Recipe"]


_OF_PIECE: dict[str, Callable[[Piece], list[Any]]] = {
    "input_ids": lambda piece: list(piece.ids),
    "token_type_ids": lambda piece: [piece.type_id] * len(piece.ids),
    "attention_mask": lambda piece: [1] * len(piece.ids),
    "special_tokens_mask": lambda piece: [1] * len(piece.ids),
    "offset_mapping": lambda piece: [(0, 0)] * len(piece.ids),
    "words": lambda piece: [None] * len(piece.ids),
}
"""What each column has for the tokens that the template adds."""

_OF_TEXT: dict[str, Callable[[Piece, Stretch], list[Any]]] = {
    "input_ids": lambda piece, text: text.ids,
    "token_type_ids": lambda piece, text: [piece.type_id] * len(text),
    "attention_mask": lambda piece, text: [1] * len(text),
    "special_tokens_mask": lambda piece, text: [0] * len(text),
    "offset_mapping": lambda piece, text: text.offsets,
    "words": lambda piece, text: text.words,
}
"""The same for those of texts."""


class Aligned:
    """A row of a result. Each of its columns is made when first asked for: few callers ask for all.

    pieces: of the template. texts: for those that stand for one, in their order: the text, or what is left of it.
    """

    __slots__ = ("_columns", "_padding", "_pieces", "_ranges", "_texts")

    def __init__(self, pieces: Sequence[Piece], texts: Sequence[Stretch], padding: Padding | None) -> None:
        self._pieces, self._texts, self._padding = pieces, texts, padding
        self._columns: Columns = {}
        self._ranges: dict[int, range] | None = None

    def __getstate__(self) -> tuple[Columns, dict[int, range]]:
        """All of it, without what it is made of."""
        return {name: self[name] for name in _OF_TEXT}, self.ranges

    def __setstate__(self, state: tuple[Columns, dict[int, range]]) -> None:
        self._columns, self._ranges = state
        self._pieces, self._texts, self._padding = (), (), None

    @property
    def ranges(self) -> dict[int, range]:
        """Which ids each of its texts has, by the number of the text (0 or 1)."""
        if self._ranges is None:
            texts = iter(self._texts)
            lengths = [len(next(texts) if piece.sequence else piece.ids) for piece in self._pieces]
            is_moved = self._padding is not None and self._padding.side == "left"
            ends = accumulate(lengths, initial=len(self) - sum(lengths) if is_moved else 0)
            ids = zip(self._pieces, pairwise(ends), strict=True)
            self._ranges = {"AB".index(piece.sequence): range(*its) for piece, its in ids if piece.sequence}
        return self._ranges

    def __len__(self) -> int:
        return len(self["input_ids"])

    def __getitem__(self, name: str) -> list[Any]:
        column = self._columns.get(name)
        if column is None:
            of_piece, of_text, texts = _OF_PIECE[name], _OF_TEXT[name], iter(self._texts)
            lists = [of_text(piece, next(texts)) if piece.sequence else of_piece(piece) for piece in self._pieces]
            column = lists[0] if len(lists) == 1 else list(chain.from_iterable(lists))
            if self._padding is not None:
                column = self._padding.fill_up(name, column)
            self._columns[name] = column
        return column

    def padded(self, padding: Padding) -> Aligned:
        """The row filled up."""
        return Aligned(self._pieces, self._texts, padding)


class Recipe(NamedTuple):
    """All that decides what a row becomes: one for a call.

    template: with the special tokens that are wanted. special: which added tokens that are special are matched. cuts: how
    single texts and pairs are cut.
    """

    vocabulary: Vocabulary
    template: SequenceTemplate
    special: Any
    cuts: tuple[Truncation, Truncation] | None = None
    padding: Padding | None = None

    def align(self, rows: Sequence[Row], *, windows: bool) -> list[list[Aligned]]:
        """What each row becomes: itself, and with `windows` also what was cut off it, in windows of the same size."""
        texts, numbers = number_texts(rows)
        placed = PlacedTexts(texts, self.vocabulary, self.template, self.special)
        return [self.align_placed(row, placed, of_row, windows=windows) for row, of_row in zip(rows, numbers, strict=True)]

    def align_placed(self, row: Row, placed: PlacedTexts, numbers: Numbers, *, windows: bool) -> list[Aligned]:
        """The same for a row whose texts were encoded already. numbers: which of them those are."""
        texts = [
            Stretch(placed, of, not isinstance(text, str), is_second=place == 1)
            for place, (text, of) in enumerate(zip(row, numbers, strict=True))
            if of is not None
        ]
        return self._align(texts, windows)

    def _align(self, texts: Sequence[Stretch], windows: bool) -> list[Aligned]:
        pieces = self.template.pieces(is_pair=len(texts) == 2)
        numbers = ["AB".index(piece.sequence) for piece in pieces if piece.sequence]
        if self.cuts is None:
            return [Aligned(pieces, [texts[number] for number in numbers], self.padding)]
        second = len(texts[1]) if len(texts) == 2 else None
        kept = self.cuts[len(texts) - 1].windows(len(texts[0]), second)
        parts = [[texts[number].cut(window) for window in kept[number]] for number in numbers]
        choices = _combinations(list(map(len, parts)) if windows else [1] * len(parts))
        return [Aligned(pieces, [part[n] for part, n in zip(parts, choice, strict=True)], self.padding) for choice in choices]


def _combinations(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Which window of each text goes into which row, in the order of the stock class. First the first of each.

    >>> _combinations([2, 2])
    [(0, 0), (1, 0), (1, 1), (0, 1)]
    """
    kept: tuple[int, ...] = ()
    others: list[tuple[int, ...]] = []
    for count in counts:
        others = [(*other, n) for other in others for n in range(count)] + [(*kept, n) for n in range(1, count)]
        kept = (*kept, 0)
    return [kept, *others]
