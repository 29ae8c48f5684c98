"""Texts encoded in one call, and where in them each id comes from, as stock classes have it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hf_bpe.engine.arrays import Alignment
from hf_bpe.engine.backends import load_native
from hf_bpe.plugin.spaces import outer_spaces, trimmed
from hf_bpe.plugin.template import Place, SequenceTemplate
from hf_bpe.plugin.vocabulary import Vocabulary

__all__ = ["PlacedTexts", "Stretch"]

T = TypeVar("T")


class PlacedTexts:
    """The ids of texts, and what is known of each id: a list for each text, made when first asked for.

    special: which added tokens that are special are matched.
    """

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary, template: SequenceTemplate, special: Any) -> None:
        threads = 1 if len(texts) == 1 else None  # to ask how many processors there are takes as long as a short text
        self._found = vocabulary.encoder.place_batch(texts, num_threads=threads, allowed_special=special, disallowed_special=())
        self._texts, self._vocabulary, self._template = texts, vocabulary, template

    def new_ids(self) -> list[list[int]]:
        """The ids, the caller's own."""
        return self._found.ids()

    def new_offsets(self) -> list[list[Place]]:
        """The characters of each id, the caller's own."""
        if not self._template.trims:
            return self._found.offsets()
        starts, stops = self._trim(slice(None), first_of=None)
        native, bounds = load_native(), self._found.arrays()[-1]
        if native is not None:
            pairs: list[list[Place]] = native.pairs(starts, stops, bounds)
            return pairs
        places = list(zip(starts.tolist(), stops.tolist(), strict=True))
        return [places[begin:end] for begin, end in pairwise(self.bounds)]

    @cached_property
    def bounds(self) -> list[int]:
        """Where each text's ids begin, and where the last one's end."""
        return self._found.bounds()

    @cached_property
    def ids(self) -> list[list[int]]:
        """The ids, to be kept as they are."""
        return self.new_ids()

    @cached_property
    def offsets(self) -> list[list[Place]]:
        """The characters of each id, to be kept as they are."""
        return self.new_offsets()

    @cached_property
    def pieces(self) -> list[list[int]]:
        """The number of the piece of its text that each id is part of."""
        return self._found.pieces()

    def from_first(self, offsets: list[Place], texts: range, start: int, *, is_second: bool) -> list[Place]:
        """The offsets of ids of some texts, the first of which is the id `start`, as they are where nothing comes before it.

        is_second: those of the second text of a pair.
        """
        if not offsets or not self._template.trims:
            return offsets
        number = self.bounds[texts.start] + start
        (begin,), (end,) = self._trim(slice(number, number + 1), first_of=int(is_second))
        return [(int(begin), int(end)), *offsets[1:]]

    @cached_property
    def _arrays(self) -> Alignment:
        return Alignment(*self._found.arrays())

    def _trim(self, part: slice, *, first_of: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        starts, stops = self._arrays.starts[part], self._arrays.stops[part]
        for trim in self._template.trims:
            is_first = first_of is not None and not trim.behind_token[first_of]
            keeps_one = ((starts == 0) | is_first) & trim.prefixes_space
            starts, stops = trimmed(starts, stops, self._spaces[part], keeps_one)
        return starts, stops

    @cached_property
    def _spaces(self) -> NDArray[np.int32]:
        """How many spaces each id begins and ends with, shape (n, 2)."""
        ids, starts, stops, _, added, _ = self._arrays
        spaces = np.zeros((len(ids), 2), np.int32)
        spaces[~added] = self._vocabulary.outer_spaces.of(ids[~added])
        for number in np.flatnonzero(added).tolist():  # it may have taken more space along than it holds itself
            text = self._texts[bisect(self.bounds, number) - 1][int(starts[number]) : int(stops[number])]
            spaces[number] = outer_spaces(self._vocabulary.found_token_of(int(ids[number]), text))
        return spaces


@dataclass(slots=True)
class Stretch:
    """The ids of a text, or of some that are the words of one, or part of them.

    of: which of the texts. is_second: of a pair. kept: which of their ids; None: all.
    """

    texts: PlacedTexts
    of: range
    is_words: bool
    is_second: bool
    kept: slice | None = None

    def __len__(self) -> int:
        bounds = self.texts.bounds
        return bounds[self.of.stop] - bounds[self.of.start] if self.kept is None else self.kept.stop - self.kept.start

    def cut(self, kept: slice) -> Stretch:
        """Part of a whole one."""
        return Stretch(self.texts, self.of, self.is_words, self.is_second, kept)

    @property
    def ids(self) -> list[int]:
        """Its ids."""
        return self._part(self.texts.ids)

    @property
    def offsets(self) -> list[Place]:
        """The characters of each, of the word or of the text."""
        start = 0 if self.kept is None else self.kept.start
        return self.texts.from_first(self._part(self.texts.offsets), self.of, start, is_second=self.is_second)

    @property
    def words(self) -> list[int]:
        """The word of each: a piece of the text, or a word that the caller passed."""
        if not self.is_words:
            return self._part(self.texts.pieces)
        numbers = [word for word, number in enumerate(self.of) for _ in self.texts.ids[number]]
        return numbers if self.kept is None else numbers[self.kept]

    def _part(self, lists: list[list[T]]) -> list[T]:
        whole = lists[self.of.start] if len(self.of) == 1 else list(chain.from_iterable(lists[self.of.start : self.of.stop]))
        return whole if self.kept is None else whole[self.kept]
