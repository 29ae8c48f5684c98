"""Counts what tokenizers make of one corpus, in one pass over it; what is kept does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from hf_bpe.analysis.metrics.corpora import Block, NamedCorpus
from hf_bpe.analysis.metrics.words import Spans, WordMode, indentation, words_of
from hf_bpe.engine import Encoder
from hf_bpe.engine.arrays import Alignment
from hf_bpe.errors import CorpusError

__all__ = ["TextCounts", "TokenCounts", "count_corpus"]

Numbers = npt.NDArray[np.int64]

_SPACE = 0x20
_BETWEEN = "\n"
"""Between the texts of a block when words are looked for: no word reaches over it, and a line begins behind it."""


@dataclass
class TextCounts:
    """What a corpus holds, whoever encodes it. letters: with marks; spaceless: those of scripts without spaces between words."""

    documents: int = 0
    bytes: int = 0
    characters: int = 0
    words: int = 0
    letters: int = 0
    spaceless: int = 0

    @property
    def words_are_told(self) -> bool:
        """Whether figures for each word say something: there are words, and most letters are in scripts that have spaces."""
        return self.words > 0 and 2 * self.spaceless <= self.letters


@dataclass
class TokenCounts:
    """What one tokenizer makes of a corpus.

    by_id: how often each id stands there. touching: the tokens of each word, added up: those that hold some of it, and one that is the space
    before it and nothing else, as most vocabularies put that space into the first token of the word. whole: the words of one token.
    indenting: tokens that hold white space only, some of it before the first word of a line.
    """

    by_id: Numbers
    touching: int = 0
    whole: int = 0
    indenting: int = 0

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return int(self.by_id.sum())


@dataclass
class _Measured:
    """Where the words and the indentation of a block are, its texts joined. bases: where each of its texts begins.

    points: the code points. blanks: how much white space stands before each place, the end included.
    """

    bases: Numbers
    words: Spans
    indents: Spans
    points: npt.NDArray[np.uint32]
    blanks: Numbers


def count_corpus(
    corpus: NamedCorpus,
    encoders: Sequence[Encoder],
    *,
    words: WordMode,
    num_threads: int | None = None,
    report: Callable[[int], object] = lambda done: None,
) -> tuple[TextCounts, list[TokenCounts]]:
    """Read a corpus once. Raises `CorpusError` naming what cannot be read, and for a corpus without text.

    >>> from hf_bpe.analysis.metrics.corpora import NamedCorpus
    >>> from hf_bpe import Encoder, TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> corpus = NamedCorpus.of("x", iter(["a bc", "é"]))
    >>> text, (tokens,) = count_corpus(corpus, [Encoder(spec)], words="unicode")
    >>> text.words, tokens.tokens, tokens.touching, tokens.whole
    (3, 6, 6, 1)
    """
    text = TextCounts()
    found = [TokenCounts(np.zeros(encoder.n_vocab, np.int64)) for encoder in encoders]
    for block in corpus.blocks(report):
        measured = _measure(block, text, words)
        for encoder, counts in zip(encoders, found, strict=True):
            _add(counts, encoder.align_batch(block.texts, num_threads=num_threads, disallowed_special=()), measured)
    if not text.bytes:
        raise CorpusError(
            f"corpus {corpus.name!r}: holds no text, so there is nothing to measure; give another ({corpus.source})"
        )
    return text, found


def _measure(block: Block, counts: TextCounts, mode: WordMode) -> _Measured:
    joined = _BETWEEN.join(block.texts)
    found = words_of(joined, mode)
    counts.documents += block.finished
    counts.bytes += block.bytes
    counts.characters += sum(map(len, block.texts))
    counts.words += len(found.spans)
    counts.letters += found.letters
    counts.spaceless += found.spaceless
    lengths = [len(text) + len(_BETWEEN) for text in block.texts]
    bases = np.array([*accumulate(lengths, initial=0)][:-1], np.int64)
    points = np.frombuffer(joined.encode("utf-32-le"), np.uint32)
    return _Measured(bases, found.spans, indentation(joined), points, _blanks(points))


def _add(counts: TokenCounts, found: Alignment, text: _Measured) -> None:
    bases = np.repeat(text.bases, np.diff(found.bounds))
    counts.by_id += np.bincount(found.ids, minlength=len(counts.by_id))
    filled = found.stops > found.starts  # a space that a model adds is no part of the text
    starts, stops = (found.starts + bases)[filled], (found.stops + bases)[filled]
    blank = text.blanks[stops] - text.blanks[starts] == stops - starts
    spaces = starts[blank & (stops - starts == 1) & (text.points[starts] == _SPACE)]
    tokens = _overlapping(text.words, starts, stops) + np.isin(text.words[:, 0] - 1, spaces)
    counts.touching += int(tokens.sum())
    counts.whole += int((tokens == 1).sum())
    blanks = np.stack([starts[blank], stops[blank]], 1)
    counts.indenting += int((_overlapping(blanks, *text.indents.T) > 0).sum())


def _overlapping(spans: Spans, starts: Numbers, stops: Numbers) -> Numbers:
    """How many of the stretches from `starts` to `stops` share a character with each span.

    Those that begin before a span ends, less those that end before it begins: each is sorted by itself, as a normaliser may change the order.

    >>> _overlapping(np.array([[0, 3], [5, 6]]), np.array([0, 1, 3]), np.array([1, 3, 6])).tolist()
    [2, 1]
    """
    begun = np.searchsorted(np.sort(starts), spans[:, 1], "left")
    ended = np.searchsorted(np.sort(stops), spans[:, 0], "right")
    return begun - ended


def _blanks(points: npt.NDArray[np.uint32]) -> Numbers:
    """How much ASCII white space stands before each place of a text, its end included.

    >>> _blanks(np.array([97, 32, 98], np.uint32)).tolist()
    [0, 0, 1, 1]
    """
    before = np.zeros(len(points) + 1, np.int64)
    np.cumsum((points == _SPACE) | ((points >= 0x09) & (points <= 0x0D)), out=before[1:])
    return before
