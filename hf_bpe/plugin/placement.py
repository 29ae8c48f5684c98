"""Texts encoded in one call, and where in them each id comes from, as stock classes have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hf_bpe.engine.backends import load_native
from hf_bpe.plugin.spaces import outer_spaces, stock_places, trimmed
from hf_bpe.plugin.template import SequenceTemplate
from hf_bpe.plugin.vocabulary import Vocabulary

__all__ = ["PlacedTexts", "Stretch"]

Place = tuple[int, int]
"""First and last + 1 character."""


class PlacedTexts:
    """The ids of texts and what is known of each. Lists cover all texts; cutting them takes less time than making one for each text.

    special: which added tokens that are special are matched. bounds: text n has the ids `bounds[n]:bounds[n + 1]`.
    """

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary, template: SequenceTemplate, special: Any) -> None:
        threads = 1 if len(texts) == 1 else None  # to ask how many processors there are takes as long as a short text
        encoder = vocabulary.encoder
        self._found = encoder.align_batch(texts, num_threads=threads, allowed_special=special, disallowed_special=())
        self._texts, self._vocabulary, self._template = texts, vocabulary, template
        self.ids: list[int] = self._found.ids.tolist()
        self.bounds: list[int] = self._found.bounds.tolist()

    @cached_property
    def offsets(self) -> list[Place]:
        """The characters of each id."""
        starts, stops = self._places
        if self._template.trims_offsets:
            starts, stops = self._trim(slice(None), is_first=False)
        native = load_native()
        return native.pairs(starts, stops) if native else list(zip(starts.tolist(), stops.tolist(), strict=True))

    def first_offset(self, number: int) -> Place:
        """The characters of an id that comes first in what is left of a text."""
        if not self._template.trims_offsets:
            return self.offsets[number]
        starts, stops = self._trim(slice(number, number + 1), is_first=True)
        return int(starts[0]), int(stops[0])

    @cached_property
    def pieces(self) -> list[int]:
        """The number of the piece of its text that each id is part of."""
        return self._found.pieces.tolist()

    @cached_property
    def text_numbers(self) -> list[int]:
        """The number of the text of each id."""
        return np.repeat(np.arange(len(self._texts)), np.diff(self._found.bounds)).tolist()

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        rules = self._vocabulary.spec.sentencepiece
        return (self._found.starts, self._found.stops) if rules is None else stock_places(self._texts, self._found, rules)

    def _trim(self, part: slice, *, is_first: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        starts, stops = (places[part] for places in self._places)
        return trimmed(starts, stops, self._spaces[part], keeps_one=(starts == 0) | is_first & self._template.prefixes_space)

    @cached_property
    def _spaces(self) -> NDArray[np.int32]:
        """How many spaces each id begins and ends with, shape (n, 2)."""
        ids, added = self._found.ids, self._found.added
        spaces = np.zeros((len(ids), 2), np.int32)
        spaces[~added] = self._vocabulary.outer_spaces.of(ids[~added])
        for number in np.flatnonzero(added).tolist():  # it may have taken more space along than it holds itself
            start, stop = (places[number] for places in self._places)
            spaces[number] = outer_spaces(self._texts[self.text_numbers[number]][start:stop])
        return spaces


@dataclass(frozen=True, slots=True)
class Stretch:
    """Ids `begin:end` of texts. first_word: the number of the text that is its first word; None for one text, or part of one."""

    texts: PlacedTexts
    begin: int
    end: int
    first_word: int | None

    def __len__(self) -> int:
        return self.end - self.begin

    def cut(self, kept: slice) -> Stretch:
        """Part of it."""
        return Stretch(self.texts, self.begin + kept.start, self.begin + kept.stop, self.first_word)

    @property
    def ids(self) -> list[int]:
        """Its ids."""
        return self.texts.ids[self.begin : self.end]

    @property
    def offsets(self) -> list[Place]:
        """The characters of each."""
        offsets = self.texts.offsets[self.begin : self.end]
        if offsets:
            offsets[0] = self.texts.first_offset(self.begin)
        return offsets

    @property
    def words(self) -> list[int]:
        """The word of each: a piece of the text, or the words that the caller passed."""
        if self.first_word is None:
            return self.texts.pieces[self.begin : self.end]
        return [number - self.first_word for number in self.texts.text_numbers[self.begin : self.end]]
