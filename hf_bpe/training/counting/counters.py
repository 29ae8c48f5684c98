"""Counters: what counts the pieces of texts, in Rust or by definition."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, Protocol

from hf_bpe.corpus.documents import Offsets
from hf_bpe.engine.backends import EngineName, choose_native, native_normalizer, native_pattern, native_stages
from hf_bpe.engine.normalizer_reference import NormalizerReference
from hf_bpe.engine.reference import pretokenize, split_on_added_tokens
from hf_bpe.engine.threads import thread_count
from hf_bpe.spec import AddedToken
from hf_bpe.training.counting.merging import sorted_words
from hf_bpe.training.counting.rules import CountRules
from hf_bpe.training.words import Words

__all__ = ["ReferenceCounter", "WordCounter", "make_counter"]


class WordCounter(Protocol):
    """Counts pieces."""

    @property
    def nbytes(self) -> int:
        """What it takes up in memory."""

    def add(self, data: bytes, offsets: Offsets) -> None:
        """Count the pieces of texts: text `n` is `data[offsets[n]:offsets[n + 1]]`, UTF-8."""

    def take(self) -> Words:
        """What was counted so far. Counting begins anew."""

    def absorb(self, other: Any) -> None:
        """Add all that another counter of the same kind has counted, which begins anew."""


class ReferenceCounter:
    """The definition."""

    def __init__(self, rules: CountRules) -> None:
        self._normalizer = NormalizerReference(rules.normalizer, rules.add_prefix_space)
        self._split = rules.pattern, rules.unmatched, rules.stages
        self._specials = [AddedToken(content, number) for number, content in enumerate(rules.special_tokens)]
        self._counts: Counter[bytes] = Counter()

    @property
    def nbytes(self) -> int:
        """About what it takes up in memory."""
        # As measured for words of eight bytes: the objects, and their places in the table.
        return 150 * len(self._counts)

    def add(self, data: bytes, offsets: Offsets) -> None:
        """Count the pieces of texts."""
        for start, end in pairwise(offsets.tolist()):
            for part in split_on_added_tokens(data[start:end].decode(), self._specials):
                if isinstance(part, str):
                    stretch = self._normalizer.prefixed(self._normalizer.apply(part))
                    self._counts.update(piece.encode() for piece in pretokenize(stretch, *self._split))

    def take(self) -> Words:
        """What was counted so far, sorted. Counting begins anew."""
        words = sorted_words(self._counts.items())
        self._counts = Counter()
        return words

    def take_in_order(self) -> Words:
        """The same, words that were seen first first."""
        words = Words.of(self._counts.items())
        self._counts = Counter()
        return words

    def absorb(self, other: ReferenceCounter) -> None:
        """Add all that another has counted, which begins anew."""
        self._counts.update(other._counts)
        other._counts = Counter()


class _NativeCounter:
    """The same in Rust, on several threads."""

    def __init__(self, native: Any, rules: CountRules, num_threads: int) -> None:
        self._num_threads = num_threads
        self._counter = native.WordCounter(
            **native_normalizer(rules.normalizer, rules.add_prefix_space),
            **native_pattern(rules.pattern),
            stages=native_stages(rules.stages),
            keep_unmatched=rules.unmatched == "keep",
            special_tokens=list(rules.special_tokens),
        )

    @property
    def nbytes(self) -> int:
        size: int = self._counter.nbytes
        return size

    def add(self, data: bytes, offsets: Offsets) -> None:
        self._counter.add_utf8(data, offsets, self._num_threads)

    def take(self) -> Words:
        return Words(*self._counter.take_words())

    def absorb(self, other: _NativeCounter) -> None:
        self._counter.absorb(other._counter)


def make_counter(rules: CountRules, num_threads: int | None, engine: EngineName) -> WordCounter:
    """A counter for the pieces that these rules split text into; special tokens are cut out and not counted."""
    threads = thread_count(num_threads)
    native = choose_native(engine)
    return ReferenceCounter(rules) if native is None else _NativeCounter(native, rules, threads)
