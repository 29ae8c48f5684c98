"""Words in the order in which a corpus brings them, for those who break ties by it."""

from __future__ import annotations

from collections.abc import Sequence

from tqdm import tqdm

from hf_bpe.corpus.documents import Place
from hf_bpe.errors import CorpusError, TrainingError
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.corpus import Corpus, inputs_of
from hf_bpe.training.counting.counters import ReferenceCounter
from hf_bpe.training.counting.rules import CountRules
from hf_bpe.training.counting.stages import given_counts
from hf_bpe.training.words import Words

__all__ = ["words_in_order"]


def words_in_order(
    corpus: Corpus, stages: Sequence[TokenizerSpec], special_tokens: Sequence[str], *, text_field: str, progress: bool
) -> tuple[list[Words], int]:
    """The words of each stage, those that come first in the corpus first, and the bytes of text. In memory, by the definition: this is for
    texts of a size that the trainers which break ties so can cope with.

    Raises `TrainingError` for word counts, which do not know the order any more, `CorpusError` for an empty corpus.
    """
    if given_counts(corpus) is not None:
        raise TrainingError("tie_break='first-seen' needs the texts themselves: word counts do not know which word came first")
    counters = [ReferenceCounter(CountRules.from_spec(stage, special_tokens)) for stage in stages]
    seen = 0
    with tqdm(desc="counting", unit="B", unit_scale=True, disable=not progress) as bar:
        for source in inputs_of(corpus, field=text_field, cut=None):
            for batch in source.batches(Place()):
                for counter in counters:
                    counter.add(batch.data, batch.offsets)
                seen += len(batch.data)
                bar.update(len(batch.data))
    if not seen:
        raise CorpusError("the corpus is empty: no text to learn from")
    return [counter.take_in_order() for counter in counters], seen
