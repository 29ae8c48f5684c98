"""How often counted words use each merge and each token, at every size of the vocabulary at once.

Merging by rank does the merges of a word in the order of their ranks, and each token of a trained vocabulary is made by one merge. So
one encoding of each distinct word says all: a token that is left was made by its merge out of its two parts, which were made by
theirs; and with the first n merges alone, a word has as many tokens as it has bytes, less those of the first n merges that it used.
Alternative considered: to encode the words anew at each of a hundred sizes, which takes a hundred times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hf_bpe.engine import Encoder
from hf_bpe.errors import TrainingError
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.counting.merging import exact_sum
from hf_bpe.training.words import Words

__all__ = ["Merges", "Numbers", "Usage", "usage_of"]

Numbers = npt.NDArray[np.int64]

_BLOCK = 1 << 20
"""Words encoded at a time: their ids are some ten megabytes."""


@dataclass(frozen=True, eq=False)
class Merges:
    """The merges of a vocabulary as ids: the n-th makes `made[n]` out of `left[n]` and `right[n]`."""

    spec: TokenizerSpec
    left: Numbers
    right: Numbers
    made: Numbers

    @classmethod
    def of(cls, spec: TokenizerSpec) -> Merges:
        """Raises `TrainingError` for a vocabulary in which a token is made in two ways, or by no merge."""
        if spec.sentencepiece is not None:
            raise TrainingError(
                "a report is made of byte-level vocabularies; that of a SentencePiece model has no list of merges"
            )
        pairs = spec.merges
        made = [spec.vocab[left + right] for left, right in pairs]
        if len(set(made)) < len(made) or len(made) + 256 < len(spec.vocab) - len(_only_added(spec)):
            raise TrainingError("a report needs a vocabulary in which each token is made by one merge, as training makes them")
        columns = ([spec.vocab[left] for left, _ in pairs], [spec.vocab[right] for _, right in pairs], made)
        return cls(spec, *(np.array(column, np.int64) for column in columns))

    @cached_property
    def encoder(self) -> Encoder:
        """Encodes words that were split already."""
        plain = self.spec.replace(
            pattern=None,
            stages=(),
            unmatched="keep",
            normalizer=(),
            add_prefix_space=False,
            added_tokens=(),
            ignore_merges=False,
        )
        return Encoder(plain)

    def __len__(self) -> int:
        return len(self.made)


def _only_added(spec: TokenizerSpec) -> set[bytes]:
    return {token.content.encode() for token in spec.added_tokens} & set(spec.vocab)


@dataclass(frozen=True, eq=False)
class Usage:
    """What a vocabulary makes of some words.

    applied: how often each merge is done. tokens: how often each id is left at the end. per_word: tokens of each distinct word.
    """

    words: Words
    applied: Numbers
    tokens: Numbers
    per_word: Numbers

    @cached_property
    def bytes(self) -> int:
        """Of all words, as often as they occur."""
        return _weighted(self.words.lengths, self.words.counts)

    @cached_property
    def tokens_by_merges(self) -> npt.NDArray[np.float64]:
        """Tokens of all words with the first 0, 1, 2, ... merges."""
        return self.bytes - np.concatenate([[0.0], np.cumsum(self.applied, dtype=np.float64)])

    def bytes_per_token(self, merges: int) -> float:
        """Compression with the first so many merges."""
        return self.bytes / float(self.tokens_by_merges[merges])


def usage_of(merges: Merges, words: Words, num_threads: int | None = None) -> Usage:
    """Encode each distinct word once, and count."""
    tokens = np.zeros(merges.spec.n_vocab, np.int64)
    per_word = [np.zeros(0, np.int64)]
    for start in range(0, len(words.counts), _BLOCK):
        bounds, counts = words.bounds[start : start + _BLOCK + 1], words.counts[start : start + _BLOCK]
        first, last = int(bounds[0]), int(bounds[-1])
        encoded = merges.encoder.encode_ordinary_utf8(words.bytes[first:last], bounds - first, num_threads=num_threads)
        lengths = np.diff(encoded.offsets)
        np.add.at(tokens, encoded.ids, np.repeat(counts, lengths))
        per_word.append(lengths)
    if np.any(tokens < 0):
        raise TrainingError("the words hold more than 2^63 tokens; count them with smaller weights")
    return Usage(words, _applied(merges, tokens), tokens, np.concatenate(per_word))


def _applied(merges: Merges, tokens: Numbers) -> Numbers:
    """From what is left, last merge first, back to all that was ever made."""
    made = tokens.tolist()
    applied = [0] * len(merges)
    steps = zip(merges.left.tolist(), merges.right.tolist(), merges.made.tolist(), strict=True)
    for number, (left, right, new) in reversed(list(enumerate(steps))):
        applied[number] = made[new]
        made[left] += made[new]
        made[right] += made[new]
    return np.array(applied, np.int64)


def _weighted(lengths: Numbers, counts: Numbers) -> int:
    """The sum of products, which 64 bits may not hold."""
    return sum(exact_sum(counts[lengths == length]) * int(length) for length in np.unique(lengths))
