"""Where the ids of a row come from: `Recipe` says what a row becomes, `Recipe.align` makes it with everything known of each id.

This is the slow and complete way. Calls that ask for ids alone are served by `rows` and `tensors`, which give the same ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from hf_bpe.plugin.inputs import Row, Text, number_texts
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

    parts: the pieces of the template, with the text, or what is left of it, of those that stand for one.
    """

    __slots__ = ("_columns", "_padding", "_parts", "_ranges")

    def __init__(self, parts: Sequence[tuple[Piece, Stretch | None]], padding: Padding | None = None) -> None:
        self._parts, self._padding = parts, padding
        self._columns: Columns = {}
        self._ranges: dict[int, range] | None = None

    def __getstate__(self) -> tuple[Columns, dict[int, range]]:
        """All of it, without what it is made of."""
        return {name: self[name] for name in _OF_TEXT}, self.ranges

    def __setstate__(self, state: tuple[Columns, dict[int, range]]) -> None:
        self._columns, self._ranges = state
        self._parts, self._padding = (), None

    @property
    def ranges(self) -> dict[int, range]:
        """Which ids each of its texts has, by the number of the text (0 or 1)."""
        if self._ranges is None:
            lengths = [len(piece.ids if text is None else text) for piece, text in self._parts]
            is_moved = self._padding is not None and self._padding.side == "left"
            ends = list(accumulate(lengths, initial=len(self) - sum(lengths) if is_moved else 0))
            texts = zip(self._parts, pairwise(ends), strict=True)
            self._ranges = {"AB".index(piece.sequence): range(*ids) for (piece, _), ids in texts if piece.sequence}
        return self._ranges

    def __len__(self) -> int:
        return len(self["input_ids"])

    def __getitem__(self, name: str) -> list[Any]:
        column = self._columns.get(name)
        if column is None:
            of_piece, of_text = _OF_PIECE[name], _OF_TEXT[name]
            lists = [of_piece(piece) if text is None else of_text(piece, text) for piece, text in self._parts]
            column = lists[0] if len(lists) == 1 else list(chain.from_iterable(lists))
            if self._padding is not None:
                column = self._padding.fill_up(name, column)
            self._columns[name] = column
        return column

    def padded(self, padding: Padding) -> Aligned:
        """The row filled up."""
        return Aligned(self._parts, padding)


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

        def stretch(text: Text, of: range) -> Stretch:
            return Stretch(placed, placed.bounds[of.start], placed.bounds[of.stop], None if isinstance(text, str) else of.start)

        stretches = (
            [stretch(text, of) for text, of in zip(row, of_row, strict=True) if text is not None and of is not None]
            for row, of_row in zip(rows, numbers, strict=True)
        )
        return [self._align(of_row, windows) for of_row in stretches]

    def _align(self, texts: Sequence[Stretch], windows: bool) -> list[Aligned]:
        pieces = self.template.pieces(is_pair=len(texts) == 2)
        if self.cuts is None:
            return [
                Aligned(
                    [(piece, texts["AB".index(piece.sequence)] if piece.sequence else None) for piece in pieces], self.padding
                )
            ]
        second = len(texts[1]) if len(texts) == 2 else None
        kept = self.cuts[len(texts) - 1].windows(len(texts[0]), second)
        parts = [[text.cut(window) for window in kept_of] for text, kept_of in zip(texts, kept, strict=False)]
        numbers = ["AB".index(piece.sequence) for piece in pieces if piece.sequence]
        choices = _combinations([len(parts[number]) for number in numbers] if windows else [1] * len(numbers))
        return [
            self._assemble([parts[n][window] for n, window in zip(numbers, choice, strict=True)], pieces) for choice in choices
        ]

    def _assemble(self, texts: Sequence[Stretch], pieces: Sequence[Piece]) -> Aligned:
        """`texts`: in the order of the pieces that stand for one."""
        waiting = iter(texts)
        return Aligned([(piece, next(waiting) if piece.sequence else None) for piece in pieces], self.padding)


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
