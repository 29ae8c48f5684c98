"""Merging counted words: parts at hand into one, and sorted streams of any length into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from hf_bpe.corpus.documents import offsets_of
from hf_bpe.engine.backends import load_native
from hf_bpe.errors import CorpusError
from hf_bpe.training.words import Words

__all__ = ["dropped_below", "exact_sum", "joined", "merge_streams", "merge_words", "multiplied", "sorted_words"]

MOST = 2**63 - 1


def sorted_words(counted: Iterable[tuple[bytes, int]]) -> Words:
    """Words in ascending order of their bytes. Raises `CorpusError` for a count outside of 1..2^63 - 1.

    >>> list(sorted_words([(b"b", 1), (b"a", 2)]).items())
    [(b'a', 2), (b'b', 1)]
    """
    ordered = sorted(counted)
    for word, count in ordered:
        if not 0 < count <= MOST:
            raise CorpusError(f"the word {word!r:.80} is counted {count} times; counts lie in 1..2^63 - 1")
    return Words.of(ordered)


def merge_words(parts: Sequence[Words]) -> Words:
    """Sorted words of sorted parts; counts of the same word are added up. Raises `CorpusError` for more than 63 bits.

    >>> list(merge_words([Words.of([(b"a", 1)]), Words.of([(b"a", 1), (b"b", 1)])]).items())
    [(b'a', 2), (b'b', 1)]
    """
    if len(parts) == 1:
        return parts[0]
    native = load_native()
    return _merged_by_definition(parts) if native is None else Words(*native.merge_sorted_words(parts))


def _merged_by_definition(parts: Iterable[Words]) -> Words:
    """What `native.merge_sorted_words` must give; runs where the native engine is missing."""
    counts: Counter[bytes] = Counter()
    for part in parts:
        for word, count in part.items():
            counts[word] += count
    return sorted_words(counts.items())


def merge_streams(streams: Sequence[Iterator[Words]]) -> Iterator[Words]:
    """One sorted stream of distinct words out of several, holding one block of each.

    Each step takes, of every block at hand, the words up to the smallest of the blocks' last ones: no stream holds any of
    them further on.
    """
    heads = [(block, stream) for stream in streams if (block := _next(stream)) is not None]
    while heads:
        last = min(block.word(block.size - 1) for block, _ in heads)
        taken, rest = [], []
        for block, stream in heads:
            cut = block.up_to(last)
            if cut:
                taken.append(block.part(0, cut))
            following = block.part(cut, block.size) if cut < block.size else _next(stream)
            if following is not None:
                rest.append((following, stream))
        yield merge_words(taken)
        heads = rest


def _next(stream: Iterator[Words]) -> Words | None:
    return next((block for block in stream if block.size), None)


def joined(blocks: Sequence[Words]) -> Words:
    """The words of blocks that follow each other, as one.

    >>> joined([Words.of([(b"a", 2)]), Words.of([(b"b", 1)])]).word(1)
    b'b'
    """
    if len(blocks) == 1:
        return blocks[0]
    lengths = [block.lengths for block in blocks]
    return Words(
        np.concatenate([np.zeros(0, np.uint8), *(block.bytes[block.bounds[0] : block.bounds[-1]] for block in blocks)]),
        offsets_of(np.concatenate([np.zeros(0, np.int64), *lengths])),
        np.concatenate([np.zeros(0, np.int64), *(block.counts for block in blocks)]),
    )


def multiplied(words: Words, factor: int) -> Words:
    """The same words, counted `factor` times as often. Raises `CorpusError` for more than 63 bits.

    >>> list(multiplied(Words.of([(b"a", 2)]), 3).items())
    [(b'a', 6)]
    """
    if factor == 1 or not words.size:
        return words
    if int(words.counts.max()) * factor > MOST:
        raise CorpusError(f"a count multiplied by the weight {factor} is more than 2^63 - 1; lower the weights")
    return Words(words.bytes, words.bounds, words.counts * factor)


def dropped_below(words: Words, least: int) -> Words:
    """The words counted at least so often.

    >>> list(dropped_below(Words.of([(b"a", 2), (b"b", 1)]), 2).items())
    [(b'a', 2)]
    """
    kept: npt.NDArray[np.bool_] = words.counts >= least
    lengths = words.lengths
    content = words.bytes[words.bounds[0] : words.bounds[-1]][np.repeat(kept, lengths)]
    return Words(content, offsets_of(lengths[kept]), words.counts[kept])


def exact_sum(counts: npt.NDArray[np.int64]) -> int:
    """The sum of counts, which may be more than 64 bits hold.

    >>> exact_sum(np.array([2**62, 2**62, 2**62, 1]))
    13835058055282163713
    """
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())
