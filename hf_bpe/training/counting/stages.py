"""The counts that a training learns from: those it is given, or those of a corpus, for each of its stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hf_bpe.errors import TrainingError
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.corpus import Corpus
from hf_bpe.training.counting.rules import CountRules
from hf_bpe.training.counting.word_counts import WordCounts

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from hf_bpe.training.counting.make import CountOptions

__all__ = ["counts_of", "given_counts", "rule_settings"]


def given_counts(corpus: Corpus) -> list[WordCounts] | None:
    """The counts that a corpus consists of, one for each stage of training; None if it is texts."""
    if isinstance(corpus, WordCounts):
        return [corpus]
    if isinstance(corpus, list | tuple) and corpus and all(isinstance(each, WordCounts) for each in corpus):
        return list(corpus)
    return None


def rule_settings(corpus: Corpus) -> dict[str, Any]:
    """How the words of given counts were cut: the settings of a training that are not to be guessed. Of texts: none."""
    given = given_counts(corpus)
    return {} if given is None else dict(vars(given[0].rules))


def counts_of(
    corpus: Corpus, stages: Sequence[TokenizerSpec], special_tokens: Sequence[str], **options: Unpack[CountOptions]
) -> list[WordCounts]:
    """The words of each stage: counted in one pass over a corpus, or given.

    stages: split text as each stage does. Raises `WordCountsMismatch` where given counts were made in another way, `TrainingError` where
    there are not as many as there are stages.
    """
    rules = [CountRules.from_spec(stage, special_tokens) for stage in stages]
    given = given_counts(corpus)
    if given is None:
        return WordCounts.count_stages(rules, corpus, **options)
    if len(given) != len(rules):
        raise TrainingError(
            f"training in {len(rules)} stages needs word counts for each, in a list, and {len(given)} were given: text is cut otherwise "
            "in each stage"
        )
    for counts, wanted in zip(given, rules, strict=True):
        counts.refuse_other_rules(wanted)
    return given
