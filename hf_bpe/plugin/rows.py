"""A batch made into the columns of a result, in one of three ways that give the same: `in_lists`, `in_arrays`, `aligned`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from hf_bpe.plugin.alignment import Aligned, Recipe
from hf_bpe.plugin.encoding import Encoding
from hf_bpe.plugin.inputs import Batch, number_texts
from hf_bpe.plugin.shaping import Columns, Padding
from hf_bpe.plugin.tensors import Rectangle, cut_rows

__all__ = ["ChoosePadding", "EncodedRow", "Result", "aligned", "columns", "in_lists", "plain"]

EncodedRow = tuple[list[int], list[int] | None]
"""The ids of a text and of the one that goes with it, if any."""

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
    return in_lists(recipe, batch, _encode(recipe, batch), names, choose)


def _encode(recipe: Recipe, batch: Batch) -> list[EncodedRow]:
    texts, numbers = number_texts(batch.rows)
    encoder = recipe.vocabulary.encoder
    if len(texts) == 1:  # no need to start threads
        found = [encoder.encode(texts[0], allowed_special=recipe.special, disallowed_special=())]
    else:
        found = encoder.encode_batch(texts, allowed_special=recipe.special, disallowed_special=())

    def ids(of: range) -> list[int]:
        return found[of.start] if len(of) == 1 else list(chain.from_iterable(found[of.start : of.stop]))

    return [(ids(first), None if second is None else ids(second)) for first, second in numbers]


def in_lists(
    recipe: Recipe, batch: Batch, encoded: Sequence[EncodedRow], names: Sequence[str], choose: ChoosePadding
) -> Result:
    """What is made of encoded rows: cut, with special tokens, filled up."""
    rows = [columns(recipe, *row, names) for row in encoded]
    padding = choose([len(row["input_ids"]) for row in rows])
    if padding is not None:
        recipe = recipe._replace(padding=padding)
        rows = [padding.apply(row) for row in rows]
    return _stacked(rows, names, list(range(len(rows))), [Encoding(recipe, row) for row in batch.rows])


def columns(recipe: Recipe, first: list[int], second: list[int] | None, names: Sequence[str]) -> Columns:
    """What is made of one row: its ids, and the columns named beside them, but for offsets."""
    template = recipe.template
    if recipe.cuts is not None:
        kept = recipe.cuts[second is not None].kept(len(first), None if second is None else len(second))
        first, second = first[kept[0]], None if second is None else second[kept[1]]
    lengths = len(first), None if second is None else len(second)
    ids = template.ids(first, second)
    made: Columns = {"input_ids": ids}
    for name in names:
        if name == "attention_mask":
            made[name] = [1] * len(ids)
        elif name == "token_type_ids":
            made[name] = template.type_ids(*lengths)
        elif name == "special_tokens_mask":
            made[name] = template.special_mask(*lengths)
    return made


def aligned(recipe: Recipe, batch: Batch, names: Sequence[str], choose: ChoosePadding, *, windows: bool) -> Result:
    """The same with offsets, and with the windows that were cut off as rows of their own."""
    found = recipe.align(batch.rows, windows=windows)
    padding = choose([len(first) for first, *_ in found])
    recipe = recipe._replace(padding=padding)
    rows: list[Aligned] = []
    encodings, samples = [], []
    for number, (row, of_row) in enumerate(zip(batch.rows, found, strict=True)):
        for place, window in enumerate(of_row):
            filled = window if padding is None else window.padded(padding)
            encodings.append(Encoding(recipe, None if place else row, filled))
            rows.append(filled)
            samples.append(number)
    return _stacked(rows, names, samples, encodings)


def _stacked(
    rows: Sequence[Columns | Aligned], names: Sequence[str], samples: list[int], encodings: list[Encoding] | None
) -> Result:
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
