"""Counters: what counts the pieces of texts, in Rust or by definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from hf_bpe.engine.backends import EngineName, choose_native, native_normalizer, native_pattern, native_stages
from hf_bpe.engine.normalizer_reference import NormalizerReference
from hf_bpe.engine.reference import as_unicode, pretokenize, split_on_added_tokens
from hf_bpe.engine.threads import thread_count
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.training.words import Words

__all__ = ["WordCounter", "make_counter"]


class WordCounter(Protocol):
    """Counts pieces."""

    def add(self, texts: list[str]) -> None:
        """Count the pieces of texts."""

    def take(self) -> Words:
        """What was counted so far. Counting begins anew."""


class _ReferenceCounter:
    """The definition."""

    def __init__(self, rules: TokenizerSpec, special_tokens: Sequence[str]) -> None:
        self._normalizer = NormalizerReference(rules.normalizer, rules.add_prefix_space)
        self._split = rules.pattern, rules.unmatched, rules.stages
        self._specials = [AddedToken(content, number) for number, content in enumerate(special_tokens)]
        self._counts: Counter[bytes] = Counter()

    def add(self, texts: list[str]) -> None:
        for text in map(as_unicode, texts):
            for part in split_on_added_tokens(text, self._specials):
                if isinstance(part, str):
                    stretch = self._normalizer.prefixed(self._normalizer.apply(part))
                    self._counts.update(piece.encode() for piece in pretokenize(stretch, *self._split))

    def take(self) -> Words:
        words = Words.of(self._counts.items())
        self._counts = Counter()
        return words


class _NativeCounter:
    """The same in Rust, on several threads."""

    def __init__(self, counter: Any, num_threads: int) -> None:
        self._counter = counter
        self._num_threads = num_threads

    def add(self, texts: list[str]) -> None:
        self._counter.add(texts, self._num_threads)

    def take(self) -> Words:
        return Words(*self._counter.take_words())


def make_counter(
    rules: TokenizerSpec, special_tokens: Sequence[str], num_threads: int | None, engine: EngineName
) -> WordCounter:
    """A counter for the pieces that these rules split text into; special tokens are cut out and not counted."""
    threads = thread_count(num_threads)
    native = choose_native(engine)
    if native is None:
        return _ReferenceCounter(rules, special_tokens)
    counter = native.WordCounter(
        **native_normalizer(rules.normalizer, rules.add_prefix_space),
        **native_pattern(rules.pattern),
        stages=native_stages(rules.stages),
        keep_unmatched=rules.unmatched == "keep",
        special_tokens=list(special_tokens),
    )
    return _NativeCounter(counter, threads)
