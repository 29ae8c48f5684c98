"""`train`: from a corpus to a `TokenizerSpec`."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from hf_bpe.engine.encoder import EngineName, load_native
from hf_bpe.engine.reference import pretokenize, split_on_added_tokens, train_merges
from hf_bpe.errors import CorpusError, EngineUnavailableError, TrainingError
from hf_bpe.pattern_syntax import parse, render
from hf_bpe.patterns import find_named_pattern, resolve_pattern
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.training.corpus import Corpus, open_corpus

__all__ = ["train"]


def train(
    corpus: Corpus,
    vocab_size: int,
    *,
    pattern: str | None = "cl100k",
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
    special_tokens: text to keep whole; where the corpus holds it, it is cut out and nothing is learnt across it.
    min_frequency: pairs seen less often are not merged, so the vocabulary may stay smaller (with a warning).
    max_token_length: longest token in bytes.

    The result depends on how often each piece occurs and on nothing else: not on the number of threads, the order of the
    texts, or how they are cut into files. Each step merges the most frequent pair; of equally frequent ones the pair with
    the lowest ids, left id first.

    >>> train(["aaabdaaabac"], 259, pattern=None, progress=False).merges
    ((b'a', b'a'), (b'a', b'b'), (b'aa', b'ab'))
    """
    raise NotImplementedError
