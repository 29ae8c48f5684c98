"""A batch made into the columns of a result, in one of four ways that give the same: as lists or arrays, with offsets, in windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hf_bpe.plugin.alignment import Recipe
from hf_bpe.plugin.encoding import Encoding
from hf_bpe.plugin.inputs import Batch, Numbers, number_texts
from hf_bpe.plugin.placement import PlacedTexts
from hf_bpe.plugin.shaping import Columns, Padding
from hf_bpe.plugin.template import Place
from hf_bpe.plugin.tensors import Rectangle, cut_rows

__all__ = [
    "ChoosePadding",
    "EncodedRow",
    "Result",
    "columns",
    "in_lists",
    "in_windows",
    "plain",
    "with_offsets",
]

T = TypeVar("T")

EncodedRow = tuple[list[int], list[int] | None]
"""The ids of a text and of the one that goes with it, if any."""

PlacedRow = tuple[list[Place], list[Place] | None]
"""The same with the characters of each id."""

ChoosePadding = Callable[[list[int]], Padding | None]
"""From how long rows are, how they are filled up."""


class Result(NamedTuple):
    """Columns of rows, how long each row is, which row of the batch each comes from, and what else is known of each."""

    columns: dict[str, Any]
    lengths: list[int]
    samples: list[int]
    encodings: list[Encoding] | None


def plain(recipe: Recipe, batch: Batch, names: Sequence[str], choose: ChoosePadding, tensors: Any) -> Result:
    """What takes the least time where neither offsets nor windows are wanted. Alignment is found out when asked for."""
    if batch.is_batched and tensors in ("np", "pt"):
        result = _in_arrays(recipe, batch, names, choose, as_rows=tensors == "pt")
        if result is not None:
            return result
    texts, numbers = number_texts(batch.rows)
    encoder = recipe.vocabulary.encoder
    if len(texts) == 1:  # no need to start threads
        found = [encoder.encode(texts[0], allowed_special=recipe.special, disallowed_special=())]
    else:
        found = encoder.encode_batch(texts, allowed_special=recipe.special, disallowed_special=())
    return in_lists(recipe, batch, _by_row(found, numbers), names, choose)


def _by_row(lists: Sequence[list[T]], numbers: Sequence[Numbers]) -> list[tuple[list[T], list[T] | None]]:
    """Lists of texts put together for rows."""

    def one(of: range) -> list[T]:
        return lists[of.start] if len(of) == 1 else list(chain.from_iterable(lists[of.start : of.stop]))

    return [(one(first), None if second is None else one(second)) for first, second in numbers]


def in_lists(
    recipe: Recipe, batch: Batch, encoded: Sequence[EncodedRow], names: Sequence[str], choose: ChoosePadding
) -> Result:
    """What is made of encoded rows: cut, with special tokens, filled up."""
    recipe, rows = _filled_up(recipe, [columns(recipe, row, names) for row in encoded], choose)
    return _stacked(rows, names, list(range(len(rows))), [Encoding(recipe, row) for row in batch.rows])


def with_offsets(recipe: Recipe, batch: Batch, names: Sequence[str], choose: ChoosePadding) -> Result:
    """The same with offsets."""
    if recipe.template.trims:  # which go by where windows begin
        return in_windows(recipe, batch, names, choose, windows=False)
    texts, numbers = number_texts(batch.rows)
    placed = PlacedTexts(texts, recipe.vocabulary, recipe.template, recipe.special)
    ids, offsets = _by_row(placed.new_ids(), numbers), _by_row(placed.new_offsets(), numbers)
    rows = [columns(recipe, row, names, places) for row, places in zip(ids, offsets, strict=True)]
    recipe, rows = _filled_up(recipe, rows, choose)
    encodings = [Encoding(recipe, row, placed=(placed, of_row)) for row, of_row in zip(batch.rows, numbers, strict=True)]
    return _stacked(rows, names, list(range(len(rows))), encodings)


def _filled_up(recipe: Recipe, rows: list[Columns], choose: ChoosePadding) -> tuple[Recipe, list[Columns]]:
    padding = choose([len(row["input_ids"]) for row in rows])
    if padding is None:
        return recipe, rows
    return recipe._replace(padding=padding), [padding.apply(row) for row in rows]


def columns(recipe: Recipe, row: EncodedRow, names: Sequence[str], offsets: PlacedRow | None = None) -> Columns:
    """What is made of one row: its ids, and the columns named beside them. offsets: those of the ids, if they are wanted."""
    template = recipe.template
    first, second = row
    if recipe.cuts is not None:
        kept = recipe.cuts[second is not None].kept(len(first), None if second is None else len(second))
        first, second = _cut(row, kept)
        offsets = None if offsets is None else _cut(offsets, kept)
    ids = template.ids(first, second)
    made: Columns = {"input_ids": ids}
    for name in names:
        if name == "attention_mask":
            made[name] = [1] * len(ids)
        elif name == "token_type_ids":
            made[name] = template.type_ids(len(first), None if second is None else len(second))
        elif name == "special_tokens_mask":
            made[name] = template.special_mask(len(first), None if second is None else len(second))
    if offsets is not None:
        made["offset_mapping"] = template.offsets(*offsets)
    return made


def _cut(row: tuple[list[T], list[T] | None], kept: tuple[slice, slice]) -> tuple[list[T], list[T] | None]:
    first, second = row
    return first[kept[0]], None if second is None else second[kept[1]]


def in_windows(recipe: Recipe, batch: Batch, names: Sequence[str], choose: ChoosePadding, *, windows: bool = True) -> Result:
    """The same; with `windows` those that were cut off are rows of their own."""
    found = recipe.align(batch.rows, windows=windows)
    padding = choose([len(first) for first, *_ in found])
    recipe = recipe._replace(padding=padding)
    rows: list[Columns] = []
    encodings, samples = [], []
    for number, (row, of_row) in enumerate(zip(batch.rows, found, strict=True)):
        for place, window in enumerate(of_row):
            filled = window if padding is None else window.padded(padding)
            encodings.append(Encoding(recipe, None if place else row, filled))
            rows.append({name: list(filled[name]) for name in names})  # what the caller does to them is not seen there
            samples.append(number)
    return _stacked(rows, names, samples, encodings)


def _stacked(rows: Sequence[Columns], names: Sequence[str], samples: list[int], encodings: list[Encoding] | None) -> Result:
    stacked = {name: [row[name] for row in rows] for name in names}
    return Result(stacked, [len(ids) for ids in stacked["input_ids"]], samples, encodings)


def _in_arrays(recipe: Recipe, batch: Batch, names: Sequence[str], choose: ChoosePadding, *, as_rows: bool) -> Result | None:
    """The same for tensors, without a Python object for each id; None for what is not a rectangle of single texts.

    as_rows: columns as lists of arrays, which transformers makes torch tensors of at once.
    """
    texts = [first for first, second in batch.rows if second is None and isinstance(first, str)]
    if not texts or len(texts) < len(batch.rows) or [piece.sequence for piece in recipe.template.single].count("A") != 1:
        return None
    found = recipe.vocabulary.encoder.encode_batch_to_numpy(texts, allowed_special=recipe.special, disallowed_special=())
    if recipe.cuts is not None:
        found = cut_rows(found, recipe.cuts[0])
    rectangle = Rectangle(found, recipe.template)
    padding = choose(rectangle.lengths.tolist())
    length = int(rectangle.lengths.max())
    if (padding is None and int(rectangle.lengths.min()) < length) or (padding is not None and padding.length < length):
        return None
    made: dict[str, Any] = dict(rectangle.columns(names, padding))
    if as_rows:
        made = {name: list(column) for name, column in made.items()}
    recipe = recipe._replace(padding=padding)
    lengths = np.full(len(texts), length if padding is None else padding.length).tolist()
    return Result(made, lengths, list(range(len(texts))), [Encoding(recipe, row) for row in batch.rows])
