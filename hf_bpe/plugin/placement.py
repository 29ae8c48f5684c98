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

from hf_bpe.engine.backends import load_native
from hf_bpe.plugin.spaces import outer_spaces, stock_places, trimmed
from hf_bpe.plugin.template import SequenceTemplate
from hf_bpe.plugin.vocabulary import Vocabulary

__all__ = ["PlacedTexts", "Stretch"]

T = TypeVar("T")
Place = tuple[int, int]
"""First and last + 1 character."""


class PlacedTexts:
    """The ids of texts, and what is known of each id: a list for each text, made when first asked for.

    special: which added tokens that are special are matched.
    """

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary, template: SequenceTemplate, special: Any) -> None:
        threads = 1 if len(texts) == 1 else None  # to ask how many processors there are takes as long as a short text
        encoder = vocabulary.encoder
        self._found = encoder.align_batch(texts, num_threads=threads, allowed_special=special, disallowed_special=())
        self._texts, self._vocabulary, self._template = texts, vocabulary, template
        self._bounds: list[int] = self._found.bounds.tolist()

    def length(self, texts: range) -> int:
        """How many ids some texts have, one after the other."""
        return self._bounds[texts.stop] - self._bounds[texts.start]

    @cached_property
    def ids(self) -> list[list[int]]:
        """The ids."""
        return self._lists(self._found.ids)

    @cached_property
    def pieces(self) -> list[list[int]]:
        """The number of the piece of its text that each id is part of."""
        return self._lists(self._found.pieces)

    @cached_property
    def offsets(self) -> list[list[Place]]:
        """The characters of each id."""
        starts, stops = self._places
        if self._template.trims_offsets:
            starts, stops = self._trim(slice(None), is_first=False)
        native = load_native()
        if native is not None:
            pairs: list[list[Place]] = native.pairs(starts, stops, self._found.bounds)
            return pairs
        return [list(zip(*columns, strict=True)) for columns in zip(self._lists(starts), self._lists(stops), strict=True)]

    def from_first(self, offsets: list[Place], texts: range, start: int) -> list[Place]:
        """The offsets of ids of some texts, the first of which is the id `start`, as they are where nothing comes before it."""
        if not offsets or not self._template.trims_offsets:
            return offsets
        number = self._bounds[texts.start] + start
        (begin,), (end,) = self._trim(slice(number, number + 1), is_first=True)
        return [(int(begin), int(end)), *offsets[1:]]

    def _lists(self, column: NDArray[Any]) -> list[list[int]]:
        # Not parts of one long list: the garbage collector goes through that again and again.
        return [column[begin:end].tolist() for begin, end in pairwise(self._bounds)]

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        rules = self._vocabulary.spec.sentencepiece
        return (self._found.starts, self._found.stops) if rules is None else stock_places(self._texts, self._found, rules)

    def _trim(self, part: slice, *, is_first: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        starts, stops = (places[part] for places in self._places)
        return trimmed(starts, stops, self._spaces[part], keeps_one=((starts == 0) | is_first) & self._template.prefixes_space)

    @cached_property
    def _spaces(self) -> NDArray[np.int32]:
        """How many spaces each id begins and ends with, shape (n, 2)."""
        ids, added = self._found.ids, self._found.added
        spaces = np.zeros((len(ids), 2), np.int32)
        spaces[~added] = self._vocabulary.outer_spaces.of(ids[~added])
        for number in np.flatnonzero(added).tolist():  # it may have taken more space along than it holds itself
            start, stop = (places[number] for places in self._places)
            text = self._texts[bisect(self._bounds, number) - 1]
            spaces[number] = outer_spaces(self._vocabulary.found_token_of(int(ids[number]), text[start:stop]))
        return spaces


@dataclass(slots=True)
class Stretch:
    """The ids of a text, or of some that are the words of one, or part of them.

    of: which of the texts. kept: which of their ids; None: all.
    """

    texts: PlacedTexts
    of: range
    is_words: bool
    kept: slice | None = None

    def __len__(self) -> int:
        return self.texts.length(self.of) if self.kept is None else self.kept.stop - self.kept.start

    def cut(self, kept: slice) -> Stretch:
        """Part of a whole one."""
        return Stretch(self.texts, self.of, self.is_words, kept)

    @property
    def ids(self) -> list[int]:
        """Its ids."""
        return self._part(self.texts.ids)

    @property
    def offsets(self) -> list[Place]:
        """The characters of each, of the word or of the text."""
        return self.texts.from_first(self._part(self.texts.offsets), self.of, 0 if self.kept is None else self.kept.start)

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
