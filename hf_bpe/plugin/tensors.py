"""Batches of single texts as arrays, straight from the engine's: no Python object for each id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hf_bpe.engine.arrays import Ragged
from hf_bpe.plugin.shaping import Padding, Truncation
from hf_bpe.plugin.template import SequenceTemplate

__all__ = ["Rectangle", "cut_rows"]

Array = NDArray[np.int64]


def cut_rows(batch: Ragged, cut: Truncation) -> Ragged:
    """What truncation leaves of each text."""
    lengths = np.diff(batch.offsets).tolist()
    kept = [cut.kept(length, None)[0] for length in lengths]
    if all(piece.stop - piece.start == length for piece, length in zip(kept, lengths, strict=True)):
        return batch
    rows = [row[piece] for row, piece in zip(batch.rows(), kept, strict=True)]
    return Ragged(np.concatenate(rows), np.cumsum([0, *map(len, rows)]))


class Rectangle:
    """A batch of texts, with what the template puts around each, filled up to one length."""

    def __init__(self, batch: Ragged, template: SequenceTemplate) -> None:
        middle = next(number for number, piece in enumerate(template.single) if piece.sequence)
        self._before, self._text, self._after = template.single[:middle], template.single[middle], template.single[middle + 1 :]
        self._batch = batch
        self._texts = np.diff(batch.offsets)
        self._begin = sum(len(piece.ids) for piece in self._before)
        self.lengths = self._texts + template.count_added(pair=False)

    def columns(self, names: Iterable[str], padding: Padding | None) -> dict[str, Array]:
        """The columns asked for, of shape (texts, length). Without padding, all texts must have one length."""
        length = int(self.lengths.max()) if padding is None else padding.length
        fill = {} if padding is None else padding.fill
        place = np.arange(length)
        skipped = length - self.lengths if padding is not None and padding.side == "left" else np.zeros_like(self.lengths)
        starts = (skipped + self._begin)[:, None]
        in_text = (place >= starts) & (place < starts + self._texts[:, None])

        def column(text: Any, around: Any, empty: int) -> Array:
            """From what is put in the text's places, what each piece around it gives, and what fills the rest."""
            array = np.full(in_text.shape, empty, dtype=np.int64)
            array[in_text] = text
            for pieces, at in ((self._before, skipped), (self._after, skipped + self._begin + self._texts)):
                values = [value for piece in pieces for value in around(piece)]
                array[np.arange(len(array))[:, None], at[:, None] + np.arange(len(values))] = values
            return array

        makers: dict[str, tuple[Any, Any]] = {
            "input_ids": (self._batch.ids, lambda piece: piece.ids),
            "token_type_ids": (self._text.type_id, lambda piece: [piece.type_id] * len(piece.ids)),
            "attention_mask": (1, lambda piece: [1] * len(piece.ids)),
            "special_tokens_mask": (0, lambda piece: [1] * len(piece.ids)),
        }
        return {name: column(*makers[name], fill.get(name, 0)) for name in names}
