"""Training beside other trainers: `python -m benchmarks.train [--corpus FILE ...]`.

All read the same list of texts, split by the same pattern, learn as many merges, and use every core. Tie-breaks differ
between libraries, so equality is judged by how well the result compresses the corpus (bytes per token, within 0.1 %).
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

import hf_bpe
from benchmarks.corpora import documents, size_of
from benchmarks.harness import OURS, interleave
from benchmarks.report import describe_machine, report
from hf_bpe.patterns import NAMED_PATTERNS, pattern_for

PATTERN = "llama3"
TOLERANCE = 0.001


def train_ours(texts: list[str], vocab_size: int) -> hf_bpe.TokenizerSpec:
    """`hf_bpe.train`."""
    return hf_bpe.train(iter(texts), vocab_size, pattern=PATTERN, min_frequency=1, progress=False)


def train_tokenizers(texts: list[str], vocab_size: int) -> Tokenizer:
    """`tokenizers`' BpeTrainer over the same split."""
    pattern = NAMED_PATTERNS[PATTERN].pattern
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(pattern_for(pattern, "oniguruma")), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def train_rustbpe(texts: list[str], vocab_size: int) -> Any:
    """`rustbpe`, if it is installed."""
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(iter(texts), vocab_size, pattern=NAMED_PATTERNS[PATTERN].pattern)
    return tokenizer


def bytes_per_token(encode: Any, texts: list[str]) -> float:
    """Compression on a sample of the corpus."""
    sample = texts[:: max(1, len(texts) // 200)]
    return size_of(sample) / sum(len(encode(text)) for text in sample)


def main() -> None:
    """Parse the command line, compare, measure, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], help="UTF-8 files; default: installed sources")
    parser.add_argument("--megabytes", type=int, default=80)
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    texts, size = documents(options.corpus, options.megabytes), options.vocab_size

    ours = bytes_per_token(hf_bpe.Encoder(train_ours(texts, size)).encode_ordinary, texts)
    stock = train_tokenizers(texts, size)
    theirs = bytes_per_token(lambda text: stock.encode(text).ids, texts)
    print(f"bytes per token: hf_bpe {ours:.4f}, tokenizers {theirs:.4f}")
    if abs(ours / theirs - 1) > TOLERANCE:
        raise SystemExit("the two vocabularies compress differently; no timing before that is explained")

    contenders = {OURS: lambda: train_ours(texts, size), "tokenizers": lambda: train_tokenizers(texts, size)}
    if importlib.util.find_spec("rustbpe"):
        contenders["rustbpe"] = lambda: train_rustbpe(texts, size)
    result = interleave(f"{size:,} ids from {size_of(texts) / 1e6:.0f} MB", size_of(texts) / 1e6, contenders, options.rounds)
    report("train", describe_machine([OURS, "tokenizers", "rustbpe"]), [result])


if __name__ == "__main__":
    main()
