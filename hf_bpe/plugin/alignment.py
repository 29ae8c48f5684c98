"""Where the ids of a row come from: `Recipe` says what a row becomes, `Recipe.align` makes it with everything known of each id.

This is the slow and complete way. Calls that ask for ids alone are served by `rows` and `tensors`, which give the same ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from hf_bpe.plugin.inputs import Row, serve
from hf_bpe.plugin.shaping import Columns, Padding, Truncation
from hf_bpe.plugin.spaces import outer_spaces, stock_places
from hf_bpe.plugin.template import SequenceTemplate
from hf_bpe.plugin.vocabulary import Vocabulary

__all__ = ["Aligned", "Recipe"]


class Aligned(NamedTuple):
    """A row. ranges: which ids each of its texts has, by the number of the text (0 or 1)."""

    columns: Columns
    ranges: dict[int, range]

    def padded(self, padding: Padding) -> Aligned:
        """The row filled up."""
        before = padding.missing(len(self.columns["input_ids"])) if padding.side == "left" else 0
        moved = {number: range(ids.start + before, ids.stop + before) for number, ids in self.ranges.items()}
        return Aligned(padding.apply(self.columns), moved)


class _Placed(NamedTuple):
    """The ids of a text, their characters, their words, and how many spaces each begins and ends with."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    words: list[int]
    spaces: list[tuple[int, int]]

    def cut(self, kept: slice) -> _Placed:
        """Part of it."""
        return _Placed(*(column[kept] for column in self))  # type: ignore[arg-type]


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
        placed = serve(rows, self._place, _joined)
        return [self._align([text for text in texts if text is not None], windows) for texts in placed]

    def _align(self, texts: Sequence[_Placed], windows: bool) -> list[Aligned]:
        pieces = self.template.pieces(is_pair=len(texts) == 2)
        parts = [[text.cut(kept) for kept in kept_of] for text, kept_of in zip(texts, self._windows(texts), strict=True)]
        numbers = ["AB".index(piece.sequence) for piece in pieces if piece.sequence]
        choices = _combinations([len(parts[number]) for number in numbers] if windows else [1] * len(numbers))
        rows = (
            self._assemble([parts[n][window] for n, window in zip(numbers, choice, strict=True)], pieces) for choice in choices
        )
        return [row if self.padding is None else row.padded(self.padding) for row in rows]

    def _windows(self, texts: Sequence[_Placed]) -> Sequence[list[slice]]:
        lengths = [len(text.ids) for text in texts]
        if self.cuts is None:
            return [[slice(0, length)] for length in lengths]
        second = lengths[1] if len(lengths) == 2 else None
        return self.cuts[len(texts) - 1].windows(lengths[0], second)[: len(texts)]

    def _place(self, texts: list[str]) -> Iterator[_Placed]:
        found = self.vocabulary.encoder.align_batch(texts, allowed_special=self.special, disallowed_special=())
        # Lists of the whole batch, cut: for short texts, to make lists of slices of arrays takes as long as to encode.
        places = list(zip(found.starts.tolist(), found.stops.tolist(), strict=True))
        columns = found.ids.tolist(), places, found.pieces.tolist(), found.added.tolist()
        for text, (begin, end) in zip(texts, pairwise(found.bounds.tolist()), strict=True):
            yield self._place_text(text, *(column[begin:end] for column in columns))

    def _place_text(
        self, text: str, ids: list[int], places: list[tuple[int, int]], words: list[int], added: list[bool]
    ) -> _Placed:
        rules, spaces = self.vocabulary.spec.sentencepiece, []
        if rules is not None:
            places = stock_places(text, places, added, rules)
        if self.template.trims_offsets:
            merged = self.vocabulary.outer_spaces
            spaces = [  # an added token that was found may have taken more space along than it holds itself
                outer_spaces(text[start:stop]) if is_added else merged[token_id]
                for token_id, (start, stop), is_added in zip(ids, places, added, strict=True)
            ]
        return _Placed(ids, places, words, spaces)

    def _assemble(self, parts: Sequence[_Placed], pieces: Sequence[Any]) -> Aligned:
        columns: Columns = {
            name: [] for name in ("input_ids", "token_type_ids", "special_tokens_mask", "offset_mapping", "words")
        }
        ranges: dict[int, range] = {}
        texts = iter(parts)
        for piece in pieces:
            begin = len(columns["input_ids"])
            if piece.sequence is None:
                length = len(piece.ids)
                columns["input_ids"] += piece.ids
                columns["offset_mapping"] += [(0, 0)] * length
                columns["words"] += [None] * length
            else:
                text = next(texts)
                length = len(text.ids)
                columns["input_ids"] += text.ids
                columns["offset_mapping"] += _trimmed(text, self.template) if text.spaces else text.offsets
                columns["words"] += text.words
                ranges["AB".index(piece.sequence)] = range(begin, begin + length)
            columns["token_type_ids"] += [piece.type_id] * length
            columns["special_tokens_mask"] += [int(piece.sequence is None)] * length
        columns["attention_mask"] = [1] * len(columns["input_ids"])
        return Aligned(columns, ranges)


def _joined(words: list[_Placed]) -> _Placed:
    """The words of a text. Each has characters of its own."""

    def column(name: str) -> list[Any]:
        return [value for word in words for value in getattr(word, name)]

    numbers = [number for number, word in enumerate(words) for _ in word.ids]
    return _Placed(column("ids"), column("offsets"), numbers, column("spaces"))


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


def _trimmed(text: _Placed, template: SequenceTemplate) -> Iterator[tuple[int, int]]:
    """Offsets without the spaces that tokens begin and end with: what a ByteLevel post-processor with `trim_offsets` does."""
    for number, ((start, stop), (leading, trailing)) in enumerate(zip(text.offsets, text.spaces, strict=True)):
        is_prefix = template.prefixes_space and leading == 1 and (number == 0 or start == 0)  # not in the text
        begin = start if is_prefix else min(start + leading, stop)
        yield begin, max(stop - trailing, begin) if stop >= trailing else stop
