"""`train_byte_level`: from a corpus to a `TokenizerSpec` of the byte-level dialect."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from tqdm import tqdm

from hf_bpe.batching import batched
from hf_bpe.cuts import can_cut
from hf_bpe.engine.backends import EngineName
from hf_bpe.errors import CorpusError, TrainingError
from hf_bpe.normalizers import NormalizerStep, as_steps
from hf_bpe.patterns import resolve_pattern
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.training.corpus import Corpus, corpus_paths, corpus_size, texts_of
from hf_bpe.training.counters import WordCounter, make_counter

__all__ = ["train_byte_level"]

_BATCH_CHARACTERS = 16 << 20
"""What the counter gets at once: enough to keep every thread busy, little enough to forget."""


def train_byte_level(
    corpus: Corpus,
    vocab_size: int,
    *,
    pattern: str | None = "cl100k",
    stages: Sequence[str] = (),
    unmatched: Literal["keep", "drop"] = "keep",
    normalizer: NormalizerStep | Sequence[NormalizerStep] = (),
    add_prefix_space: bool = False,
    special_tokens: Sequence[str] = (),
    min_frequency: int = 2,
    max_token_length: int | None = None,
    num_threads: int | None = None,
    progress: bool = True,
    engine: EngineName = "auto",
) -> TokenizerSpec:
    """Train a byte-level BPE.

    corpus: paths of UTF-8 text files (a `Path`, a list of them, a list of str that all name existing files), or any
        iterable of texts, such as a generator or a `datasets` column. Texts are counted as they come and not kept.
    vocab_size: ids in all: 256 bytes, merges, then the special tokens, which get the last ids.
    pattern: a name (`hf_bpe.NAMED_PATTERNS`), a pattern in the syntax of the `regex` module, or None: no split.
    stages: patterns that split the pieces further, one after the other.
    unmatched: what happens to text that the pattern leaves out: it is a piece of its own, or it is dropped.
    normalizer: what is done to a text before it is split, such as "NFC"; see `hf_bpe.normalizers`.
    add_prefix_space: put a space before each stretch of text that does not begin with one.
    special_tokens: text to keep whole; where the corpus holds it, it is cut out and nothing is learnt across it.
    min_frequency: pairs seen less often are not merged, so the vocabulary may stay smaller (with a warning).
    max_token_length: longest token in bytes.

    The result depends on how often each piece occurs and on nothing else: not on the number of threads, the order of the
    texts, or how they are cut into files. Each step merges the most frequent pair; of equally frequent ones the pair with
    the lowest ids, left id first.

    >>> train_byte_level(["aaabdaaabac"], 259, pattern=None, progress=False).merges
    ((b'a', b'a'), (b'a', b'b'), (b'aa', b'ab'))
    """
    wanted = _wanted_merges(vocab_size, special_tokens, min_frequency, max_token_length)
    resolved = resolve_pattern(pattern)
    bare = TokenizerSpec(  # says what is wrong with the rules before hours of counting
        vocab={bytes([byte]): byte for byte in range(256)},
        merges=(),
        pattern=resolved,
        stages=tuple(stages),
        unmatched=unmatched,
        normalizer=as_steps(normalizer),
        add_prefix_space=add_prefix_space,
    )
    counter = make_counter(bare, special_tokens, num_threads, engine)
    seen = _count_corpus(corpus, counter, bare, special_tokens, progress)
    with tqdm(total=wanted, desc="merging", unit=" merges", disable=not progress) as bar:
        merges = counter.learn(wanted, min_frequency, max_token_length, lambda done: bar.update(done - bar.n))
        bar.update(len(merges) - bar.n)
    if len(merges) < wanted:
        warnings.warn(
            f"only {len(merges):,} of the {wanted:,} merges asked for were found: no further pair occurs {min_frequency} times"
            + (f" and stays within {max_token_length} bytes" if max_token_length else "")
            + f". The vocabulary has {256 + len(merges) + len(special_tokens):,} ids instead of {vocab_size:,}; give more text, or "
            "lower min_frequency.",
            stacklevel=3,
        )
    provenance = {
        "made by": "hf_bpe.train",
        "trained on": f"{seen:,} bytes of text",  # and not which files: their names are nobody else\x27s business
        "pairs merged if seen": f"{min_frequency:,} times or more",
        "longest token": f"{max_token_length} bytes" if max_token_length else "no limit",
    }
    return _build_spec(merges, bare, special_tokens, provenance)


def _wanted_merges(vocab_size: int, special_tokens: Sequence[str], min_frequency: int, max_token_length: int | None) -> int:
    if isinstance(special_tokens, str):
        raise TrainingError(f"special_tokens must be a list of texts, not the one text {special_tokens!r}")
    repeated = [token for token, times in Counter(special_tokens).items() if times > 1]
    if repeated or "" in special_tokens:
        raise TrainingError(f"special tokens must be distinct and not empty: {repeated or ['']!r}")
    bytes_already = [token for token in special_tokens if len(token.encode("utf-8", "replace")) == 1]
    if bytes_already:
        raise TrainingError(
            f"special tokens {bytes_already!r} are single bytes, which are tokens already; give them a longer spelling"
        )
    smallest = 256 + len(special_tokens)
    if vocab_size < smallest:
        raise TrainingError(
            f"vocab_size {vocab_size} is too small: 256 bytes and {len(special_tokens)} special tokens need at least {smallest}"
        )
    if min_frequency < 1:
        raise TrainingError(f"min_frequency must be at least 1, not {min_frequency}")
    if max_token_length is not None and max_token_length < 1:
        raise TrainingError(f"max_token_length must be at least 1 byte, not {max_token_length}")
    return vocab_size - smallest


def _count_corpus(
    corpus: Corpus, counter: WordCounter, rules: TokenizerSpec, special_tokens: Sequence[str], progress: bool
) -> int:
    """Count a corpus, and return its size in bytes."""
    # Where a pattern is not one of the published ones, no cut of a file is known to be harmless: it is read whole.
    cuttable = can_cut(rules.pattern, rules.normalizer, rules.add_prefix_space)
    cuttable = cuttable and not any("\n" in token for token in special_tokens)
    total = corpus_size(corpus_paths(corpus))
    seen = 0
    with tqdm(total=total, desc="counting", unit="B", unit_scale=True, disable=not progress) as bar:
        for batch in batched(texts_of(corpus, cuttable=cuttable), len, _BATCH_CHARACTERS):
            counter.add(batch)
            size = sum(len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in batch)
            seen += size
            bar.update(size)
    if not seen:
        raise CorpusError("the corpus is empty: no text to learn from")
    return seen


def _build_spec(
    merges: list[tuple[int, int]], rules: TokenizerSpec, special_tokens: Sequence[str], provenance: dict[str, str]
) -> TokenizerSpec:
    tokens = [bytes([byte]) for byte in range(256)]
    pairs = []
    for left, right in merges:
        pairs.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
    added = (AddedToken(content, token_id) for token_id, content in enumerate(special_tokens, len(tokens)))
    return rules.replace(
        vocab={token: token_id for token_id, token in enumerate(tokens)},
        merges=tuple(pairs),
        added_tokens=tuple(added),
        provenance=provenance,
    )
