"""`Mixture`: several sources of text by name, how much each counts, and which of their documents are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from hf_bpe.corpus.documents import Place
from hf_bpe.errors import CorpusError, TrainingError
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.corpus import Corpus, FileInput, inputs_of
from hf_bpe.training.counting.stages import counts_of, given_counts
from hf_bpe.training.counting.weights import Weight, as_fraction, as_integers
from hf_bpe.training.counting.word_counts import WordCounts

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from hf_bpe.training.counting.make import CountOptions

__all__ = ["Mixed", "Mixture", "sampled"]

_PARTS_OF_ONE = 1000
"""Shares become weights in thousandths."""


@dataclass(frozen=True)
class Mixed:
    """Counts of a mixture.

    stages: for each stage of training, all sources together. by_source: for each source, one of each stage, as often as its words occur.
    unit: what a word counts that counts once.
    """

    stages: list[WordCounts]
    by_source: dict[str, list[WordCounts]]
    unit: int

    def provenance(self) -> dict[str, str]:
        """What a tokenizer trained on these counts says of them: the size of the text as it is, not as it is weighted."""
        said = self.stages[0].provenance()
        if self.by_source:
            said["trained on"] = f"{sum(counts[0].text_bytes for counts in self.by_source.values()):,} bytes of text"
        return said


class Mixture:
    """Sources by name, for `train`.

    sources: name -> corpus, as for `train`.
    weights: name -> how many times each of its words counts; default 1.
    shares: instead, name -> its share of the bytes of all text that is learnt from, whatever its size. They need not add up to 1.
    sample: name -> the share of its documents that is read, the others being passed over; default 1. A document is a text, a row, or a line
        of a text file. Which ones follows from `seed`, the name of the source and the number of the document alone.

    `min_frequency` is compared with counts as weighted: a word of weight 3 that occurs twice counts 6. Raises `TrainingError` for numbers
    that are none, and for names of no source.

    >>> from hf_bpe.training import train
    >>> mixture = Mixture({"one": ["ab ab ab"], "two": ["cd cd"]}, weights={"two": 2})
    >>> train(mixture, 257, progress=False).merges
    ((b'c', b'd'),)
    """

    def __init__(
        self,
        sources: Mapping[str, Corpus],
        *,
        weights: Mapping[str, Weight] | None = None,
        shares: Mapping[str, Weight] | None = None,
        sample: Mapping[str, float] | None = None,
        seed: int = 0,
    ) -> None:
        self.sources, self.weights, self.shares = dict(sources), dict(weights or {}), dict(shares or {})
        self.sample, self.seed = dict(sample or {}), seed
        self._check()

    def _check(self) -> None:
        if not self.sources or not all(isinstance(name, str) and name for name in self.sources):
            raise TrainingError(f"a mixture needs sources with names, not {list(self.sources)!r}")
        for what, given in (("weights", self.weights), ("shares", self.shares), ("sample", self.sample)):
            unknown = [name for name in given if name not in self.sources]
            if unknown:
                raise TrainingError(
                    f"{what} names {unknown[0]!r}, which is no source; there are {', '.join(map(repr, self.sources))}"
                )
        if self.weights and self.shares:
            raise TrainingError("weights and shares both say how much a source counts; give one of them")
        without = [name for name in self.sources if name not in self.shares]
        if self.shares and without:
            raise TrainingError(f"shares must name every source; {without[0]!r} has none")
        for number in (*self.weights.values(), *self.shares.values()):
            as_fraction(number)
        for name, share in self.sample.items():
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
                raise TrainingError(f"of the source {name!r} a share above 0 and up to 1 can be read, not {share!r}")
        if type(self.seed) is not int:
            raise TrainingError(f"seed must be a whole number, not {self.seed!r}")

    def count(self, stages: Sequence[TokenizerSpec], special_tokens: Sequence[str], **options: Unpack[CountOptions]) -> Mixed:
        """Count every source, and put the counts together by their weights: as `counts_of`. A `CorpusError` names the source."""
        by_source = {name: self._count_one(name, stages, special_tokens, options) for name in self.sources}
        factors, unit = self._factors([counts[0].text_bytes for counts in by_source.values()])
        weights = factors if set(factors) != {1} else None
        merged = [WordCounts.merge(*stage, weights=weights) for stage in zip(*by_source.values(), strict=True)]
        return Mixed(merged, by_source, unit)

    def _count_one(
        self, name: str, stages: Sequence[TokenizerSpec], special_tokens: Sequence[str], options: CountOptions
    ) -> list[WordCounts]:
        corpus = self.sources[name]
        try:
            if self.sample.get(name, 1) < 1:
                if given_counts(corpus) is not None:
                    raise TrainingError(f"the source {name!r} is counted already, so that no documents can be chosen of it")
                corpus = sampled(corpus, name, self.sample[name], self.seed, options.get("text_field", "text"))
            return counts_of(corpus, stages, special_tokens, **options)
        except CorpusError as error:
            raise CorpusError(f"source {name!r}: {error}") from error

    def _factors(self, sizes: Sequence[int]) -> tuple[list[int], int]:
        """By how much to multiply the counts of each source, and what that makes of 1."""
        if self.shares:
            shares = [as_fraction(self.shares[name]) for name in self.sources]
            wanted = [share / sum(shares) * sum(sizes) / size for share, size in zip(shares, sizes, strict=True)]
            return [max(1, round(weight * _PARTS_OF_ONE)) for weight in wanted], _PARTS_OF_ONE
        weights = [as_fraction(self.weights.get(name, 1)) for name in self.sources]
        factors = as_integers(weights, len(weights))
        return factors, int(Fraction(factors[0]) / weights[0])

    def provenance(self) -> dict[str, str]:
        """What a tokenizer tells of the mixture it was trained on."""
        said = {"sources": ", ".join(self.sources)}
        for what, given in (("weights", self.weights), ("shares", self.shares), ("documents read", self.sample)):
            if given:
                said[f"{what} of sources"] = ", ".join(f"{name} {number}" for name, number in given.items())
        return said | ({"seed": str(self.seed)} if self.sample else {})


def sampled(corpus: Corpus, name: str, share: float, seed: int, text_field: str = "text") -> Iterator[str]:
    """Some documents of a corpus, each chosen by a hash of the seed, the name and its number.

    Alternative considered: a random generator that is asked once for each document. It gives others as soon as one source is read
    before another.

    >>> list(sampled(iter(["a", "b", "c", "d", "e", "f"]), "letters", 0.5, seed=4))
    ['c', 'd', 'e']
    """
    most = int(share * 2**64)
    for number, text in enumerate(_documents(corpus, text_field)):
        digest = blake2b(f"{seed}\0{name}\0{number}".encode(), digest_size=8).digest()
        if int.from_bytes(digest, "big") < most:
            yield text.decode()


def _documents(corpus: Corpus, text_field: str) -> Iterator[bytes]:
    """Texts, rows, or the lines of text files with their line feeds."""
    for each in inputs_of(corpus, field=text_field, separator=b"\n"):
        end_of_line = b"\n" if isinstance(each, FileInput) and each.source.format == "text" else b""
        begun: list[bytes] = []
        for batch in each.batches(Place()):
            bounds = batch.offsets.tolist()
            for number, (start, end) in enumerate(pairwise(bounds)):
                begun.append(batch.data[start:end])
                if not (batch.unfinished and number == len(bounds) - 2):
                    yield b"".join(begun) + end_of_line
                    begun = []
