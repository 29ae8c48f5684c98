"""`train_byte_level`: from a corpus to a `TokenizerSpec` of the byte-level dialect."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from hf_bpe.batching import batched
from hf_bpe.cuts import can_cut
from hf_bpe.engine.backends import EngineName
from hf_bpe.errors import CorpusError, TrainingError
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.training.corpus import Corpus, corpus_paths, corpus_size, texts_of
from hf_bpe.training.counters import make_counter
from hf_bpe.training.learning import Pair, learn
from hf_bpe.training.settings import ByteLevelSettings, byte_level_settings
from hf_bpe.training.words import Words

__all__ = ["train_byte_level"]

_BATCH_CHARACTERS = 16 << 20
"""What the counter gets at once: enough to keep every thread busy, little enough to forget."""


def train_byte_level(
    corpus: Corpus,
    vocab_size: int,
    *,
    like: TokenizerSpec | None = None,
    num_threads: int | None = None,
    progress: bool = True,
    engine: EngineName = "auto",
    **settings: Any,
) -> TokenizerSpec:
    """Train a byte-level BPE.

    corpus: paths of UTF-8 text files (a `Path`, a list of them, a list of str that all name existing files), or any
        iterable of texts, such as a generator or a `datasets` column. Texts are counted as they come and not kept.
    vocab_size: ids in all: 256 bytes, merges, then the special tokens, which get the last ids.
    like: a tokenizer whose pattern, stages, normalizer, special tokens and settings of training are the defaults.
    settings: see `ByteLevelSettings`.

    The result depends on how often each piece occurs and on nothing else: not on the number of threads, the order of the
    texts, or how they are cut into files. Each step merges the most frequent pair; of equally frequent ones the pair with
    the lowest ids, left id first.

    Raises `TrainingError` for settings that are impossible or contradict each other, `PatternError` for a pattern, `CorpusError` for a
    corpus that cannot be read or is empty.

    >>> train_byte_level(["aaabdaaabac"], 259, pattern=None, progress=False).merges
    ((b'a', b'a'), (b'a', b'b'), (b'aa', b'ab'))
    """
    chosen = byte_level_settings(settings, like)
    wanted = chosen.merges(vocab_size)
    words, seen = count_corpus(corpus, chosen, num_threads, engine, progress)
    merges = learn(chosen, vocab_size, words, engine, progress)
    _tell_shortfall(chosen, vocab_size, wanted, len(merges))
    provenance = {
        "made by": "hf_bpe.train",
        "trained on": f"{seen:,} bytes of text",  # and not which files: their names are nobody else\x27s business
        **chosen.provenance(),
    }
    return build_spec(merges, chosen, vocab_size, provenance)


def _tell_shortfall(settings: ByteLevelSettings, vocab_size: int, wanted: int, found: int) -> None:
    """Say how far it got and why, where there were not enough merges; unless the caller wants the rest to be reserved tokens."""
    if found == wanted or settings.shortfall == "reserve":
        return
    message = (
        f"only {found:,} of the {wanted:,} merges asked for were found: no further pair occurs {settings.min_frequency} times"
        + (f" and stays within {settings.max_token_length} bytes" if settings.max_token_length else "")
        + (" and is not forbidden" if settings.has_rules(True) else "")
        + f". The vocabulary has {vocab_size - wanted + found:,} ids instead of {vocab_size:,}; give more text, or lower min_frequency."
    )
    if settings.shortfall == "error":
        raise TrainingError(message)
    warnings.warn(message, stacklevel=4)


def count_corpus(
    corpus: Corpus, settings: ByteLevelSettings, num_threads: int | None, engine: EngineName, progress: bool
) -> tuple[list[Words], int]:
    """The words of each stage, counted in one pass over a corpus, and its size in bytes."""
    stages = [rules for rules in (settings.rules, settings.superword_rules) if rules is not None]
    counters = [make_counter(rules, settings.last_ids, num_threads, engine) for rules in stages]
    # Where a pattern is not one of the published ones, no cut of a file is known to be harmless: it is read whole.
    cuttable = all(can_cut(rules.pattern, rules.normalizer, rules.add_prefix_space) for rules in stages)
    cuttable = cuttable and not any("\n" in token for token in settings.last_ids)
    total = corpus_size(corpus_paths(corpus))
    seen = 0
    with tqdm(total=total, desc="counting", unit="B", unit_scale=True, disable=not progress) as bar:
        for batch in batched(texts_of(corpus, cuttable=cuttable), len, _BATCH_CHARACTERS):
            for counter in counters:
                counter.add(batch)
            size = sum(len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in batch)
            seen += size
            bar.update(size)
    if not seen:
        raise CorpusError("the corpus is empty: no text to learn from")
    return [counter.take() for counter in counters], seen


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
        vocab={token: token_id for token_id, token in enumerate(tokens)},
        merges=tuple(pairs),
        added_tokens=tuple(added),
        provenance=provenance,
    )
