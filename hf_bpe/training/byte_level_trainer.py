"""`train_byte_level`: from a corpus to a `TokenizerSpec` of the byte-level dialect."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from hf_bpe.engine.backends import EngineName
from hf_bpe.errors import TrainingError
from hf_bpe.pages import check_target
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.training.corpus import Corpus
from hf_bpe.training.counting.memory import DEFAULT_MEMORY
from hf_bpe.training.counting.stages import counts_of, rule_settings
from hf_bpe.training.given_settings import byte_level_settings
from hf_bpe.training.in_order import InOrder, words_in_order
from hf_bpe.training.learning import Pair, learn
from hf_bpe.training.mixture import Mixed, Mixture
from hf_bpe.training.report.report import ENDINGS, ReportTarget, report_of
from hf_bpe.training.settings import ByteLevelSettings

__all__ = ["train_byte_level"]


def train_byte_level(
    corpus: Corpus,
    vocab_size: int,
    *,
    like: TokenizerSpec | None = None,
    text_field: str = "text",
    memory_limit: int | str = DEFAULT_MEMORY,
    temporary_folder: str | os.PathLike[str] | None = None,
    drop_words_below: int | None = None,
    skip_bad_files: bool = False,
    report: ReportTarget | None = None,
    held_out: Corpus | Mapping[str, Corpus] | None = None,
    num_threads: int | None = None,
    progress: bool = True,
    engine: EngineName = "auto",
    **settings: Any,
) -> TokenizerSpec:
    """Train a byte-level BPE.

    corpus: what `WordCounts.count` takes: files of several formats, folders, patterns, `datasets`, any iterable of texts. Or `WordCounts`
        that were made before, whose pattern, normalizer and special tokens are the defaults then; a list of two for superwords. Or a
        `Mixture` of several sources.
    vocab_size: ids in all: 256 bytes, merges, then the special tokens, which get the last ids.
    like: a tokenizer whose pattern, stages, normalizer, special tokens and settings of training are the defaults.
    text_field, memory_limit, temporary_folder, drop_words_below, skip_bad_files: see `WordCounts.count`. Learning needs memory for all
        distinct words, whatever the limit for counting them.
    report: a file to write a `TrainingReport` to, as HTML or JSON by its name; or a function that gets it. held_out: other text to measure
        for it, or several by name.
    settings: see `ByteLevelSettings`.

    The result depends on how often each piece occurs and on nothing else: not on the number of threads, the order of the
    texts, or how they are cut into files. Each step merges the most frequent pair; of equally frequent ones the pair with
    the lowest ids, left id first, unless `tie_break` says otherwise ("first-seen" depends on the order of the texts).

    Raises `TrainingError` for settings that are impossible or contradict each other, `PatternError` for a pattern, `CorpusError` for a
    corpus that cannot be read or is empty.

    >>> train_byte_level(["aaabdaaabac"], 259, pattern=None, progress=False).merges
    ((b'a', b'a'), (b'a', b'b'), (b'aa', b'ab'))
    """
    chosen = byte_level_settings(rule_settings(corpus) | settings, like)
    wanted = chosen.merges(vocab_size)
    if report is not None and not callable(report):
        check_target(report, ENDINGS)
    if report is None and held_out is not None:
        raise TrainingError("held_out is text to measure for a report; name a file for it with report=")
    stages = [rules for rules in (chosen.rules, chosen.superword_rules) if rules is not None]
    count = partial(
        _counted if chosen.tie_break != "first-seen" else _counted_in_order,
        special_tokens=chosen.last_ids,
        text_field=text_field,
        memory_limit=memory_limit,
        temporary_folder=temporary_folder,
        drop_words_below=drop_words_below,
        skip_bad_files=skip_bad_files,
        num_threads=num_threads,
        progress=progress,
        engine=engine,
    )
    counts = count(corpus, stages)
    words = [each.words() for each in counts.stages]
    merges = learn(chosen, vocab_size, words, counts.unit, engine, progress)
    _tell_shortfall(chosen, vocab_size, wanted, len(merges))
    provenance = {
        "made by": "hf_bpe.train",
        **counts.provenance(),
        **(corpus.provenance() if isinstance(corpus, Mixture) else {}),
        **chosen.provenance(),
    }
    spec = build_spec(merges, chosen, vocab_size, provenance)
    if report is not None:
        measured = {name: each[-1].words() for name, each in counts.by_source.items()}
        for name, text in (held_out if isinstance(held_out, Mapping) else {"held out": held_out}).items():
            if text is not None:
                measured[name] = count(text, stages[-1:]).stages[0].words()
        made = report_of(spec, words[-1], measured, num_threads)
        if callable(report):
            report(made)
        else:
            made.write(report)
    return spec


def _counted(corpus: Corpus, stages: Sequence[TokenizerSpec], special_tokens: Sequence[str], **options: Any) -> Mixed:
    """The counts of each stage; of a mixture also those of each source."""
    if isinstance(corpus, Mixture):
        return corpus.count(stages, special_tokens, **options)
    return Mixed(counts_of(corpus, stages, special_tokens, **options), {}, 1)


def _counted_in_order(
    corpus: Corpus, stages: Sequence[TokenizerSpec], special_tokens: Sequence[str], **options: Any
) -> InOrder:
    """The same, the words that come first in the corpus first."""
    return words_in_order(corpus, stages, special_tokens, text_field=options["text_field"], progress=options["progress"])


def _tell_shortfall(settings: ByteLevelSettings, vocab_size: int, wanted: int, found: int) -> None:
    """Say how far it got and why, where there were not enough merges; unless the caller wants the rest to be reserved tokens."""
    if found == wanted or settings.shortfall == "reserve":
        return
    message = (
        f"only {found:,} of the {wanted:,} merges asked for were found: no further pair occurs {settings.min_frequency} times"
        + (f" and stays within {settings.max_token_length} bytes" if settings.max_token_length else "")
        + (" and is not forbidden" if settings.has_rules(is_first_stage=False) else "")
        + f". The vocabulary has {vocab_size - wanted + found:,} ids instead of {vocab_size:,}; give more text, or lower min_frequency."
    )
    if settings.shortfall == "error":
        raise TrainingError(message)
    warnings.warn(message, stacklevel=5)


def build_spec(
    merges: Sequence[Pair], settings: ByteLevelSettings, vocab_size: int, provenance: dict[str, str]
) -> TokenizerSpec:
    """The tokenizer that these merges and settings make."""
    tokens = [bytes([byte]) for byte in range(256)]
    pairs = []
    for left, right in merges:
        pairs.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
    last = list(settings.last_ids)
    if settings.shortfall == "reserve":
        last += settings.reserved_names(vocab_size - len(tokens) - len(last), taken=settings.last_ids)
    added = (AddedToken(content, token_id) for token_id, content in enumerate(last, len(tokens)))
    return (settings.superword_rules or settings.rules).replace(
        vocab=dict(zip(tokens, range(len(tokens)), strict=True)),
        merges=tuple(pairs),
        added_tokens=tuple(added),
        provenance=provenance,
    )
