"""Words in the order in which a corpus brings them, for those who break ties by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hf_bpe.corpus.documents import Place
from hf_bpe.errors import CorpusError, TrainingError
from hf_bpe.progress import byte_bar
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.corpus import Corpus, inputs_of
from hf_bpe.training.counting.counters import ReferenceCounter
from hf_bpe.training.counting.rules import CountRules
from hf_bpe.training.counting.stages import given_counts
from hf_bpe.training.mixture import Mixture
from hf_bpe.training.words import Words

__all__ = ["words_in_order"]


@dataclass(frozen=True)
class OrderedWords:
    """Words in memory."""

    counted: Words

    def words(self) -> Words:
        """All of them."""
        return self.counted


@dataclass(frozen=True)
class InOrder:
    """The words of each stage, and the bytes of the text."""

    stages: Sequence[OrderedWords]
    text_bytes: int
    unit: int = 1
    by_source: Mapping[str, Sequence[OrderedWords]] = field(default_factory=dict)

    def provenance(self) -> dict[str, str]:
        """What a tokenizer trained on these words says of them."""
        return {"trained on": f"{self.text_bytes:,} bytes of text"}


def words_in_order(
    corpus: Corpus, stages: Sequence[TokenizerSpec], special_tokens: Sequence[str], *, text_field: str, progress: bool
) -> InOrder:
    """The words of each stage, those that come first in the corpus first. In memory, by the definition: this is for
    texts of a size that the trainers which break ties so can cope with.

    Raises `TrainingError` for word counts, which do not know the order any more, `CorpusError` for an empty corpus.
    """
    if isinstance(corpus, Mixture):
        raise TrainingError("tie_break='first-seen' needs texts in one order, and a mixture has none")
    if given_counts(corpus) is not None:
        raise TrainingError("tie_break='first-seen' needs the texts themselves: word counts do not know which word came first")
    counters = [ReferenceCounter(CountRules.from_spec(stage, special_tokens)) for stage in stages]
    seen = 0
    with byte_bar("counting", None, shown=progress) as bar:
        for source in inputs_of(corpus, field=text_field, cut=None):
            for batch in source.batches(Place()):
                for counter in counters:
                    counter.add(batch.data, batch.offsets)
                seen += len(batch.data)
                bar.update(len(batch.data))
    if not seen:
        raise CorpusError("the corpus is empty: no text to learn from")
    return InOrder([OrderedWords(counter.take_in_order()) for counter in counters], seen)
