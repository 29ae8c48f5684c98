"""`compare`: tokenizers measured on the same texts."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

import conversion
from hf_bpe.analysis import sample
from hf_bpe.analysis.comparison import VERSION, Comparison
from hf_bpe.analysis.metrics.corpora import NamedCorpus, common_cut
from hf_bpe.analysis.metrics.counting import TextCounts, TokenCounts, count_corpus
from hf_bpe.analysis.metrics.figures import about_text, about_tokens, parity
from hf_bpe.analysis.metrics.formats import read_records, tokens_by_format, written
from hf_bpe.analysis.metrics.indents import indentation_tokens
from hf_bpe.analysis.metrics.numbers import numbers_cut
from hf_bpe.analysis.metrics.usage import vocabulary_use
from hf_bpe.analysis.metrics.words import MODES, WordMode
from hf_bpe.engine import Encoder
from hf_bpe.errors import ComparisonError, some
from hf_bpe.progress import reporting_bytes
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.corpus import Corpus

__all__ = ["Compared", "compare"]

Compared: TypeAlias = Encoder | TokenizerSpec | str | os.PathLike[str]

_SAMPLE = "sample"


def compare(
    tokenizers: Mapping[str, Compared],
    corpora: Mapping[str, Corpus] | None = None,
    *,
    parallel: Mapping[str, Corpus] | None = None,
    reference: str | None = None,
    data: str | os.PathLike[str] | None = None,
    words: WordMode = "unicode",
    prices: Mapping[str, float] | None = None,
    currency: str = "USD",
    text_field: str = "text",
    separator: str | None = None,
    on_bad: Literal["raise", "skip"] = "raise",
    num_threads: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Measure tokenizers, each by its name, on corpora, each by its name. Special tokens that a text spells are text.

    tokenizers: what `conversion.load` reads, or what it gives.
    corpora: a path, a folder, a pattern, a list of these, "-" for standard input, or an iterable of texts. Read once, a block at a time.
    parallel: corpora that say the same, text for text: translations. They are measured too, and compared with `reference`, one of
        them (default: the first). Of text files each line is a text. With neither of the two, short texts written for this project are
        measured: the same sentences in twelve languages, and a program.
    data: a JSON file with objects to write in several formats; default: records written for this project.
    words: where words are: see `hf_bpe.analysis.metrics.words`.
    prices: name of a tokenizer -> price of a million tokens in `currency`.
    text_field: of JSON lines and Parquet. separator: ends a text in text files; "": a file is one text; default: that, and the lines of parallel files.
    on_bad: "skip" leaves out texts that cannot be read, and warns; parallel texts would not fit each other then, and always raise.
    num_threads: threads that encode; default: all processors. The figures do not depend on it.

    Raises `ComparisonError` for names that are unknown or doubled, prices that are none, and parallel corpora of different lengths;
    `CorpusError` and `FormatError` for what cannot be read, or is empty.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> found = compare({"bytes": spec}, {"greeting": iter(["hello world"])}, progress=False)
    >>> found.content["text"]["greeting"]["bytes"]["tokens_per_word"]
    5.5
    """
    _check(tokenizers, corpora, parallel, reference, prices or {}, words, on_bad)
    if any("\ud800" <= character <= "\udfff" for character in separator or ""):
        raise ComparisonError(f"separator {separator!r} holds a lone surrogate, which no file of UTF-8 can hold")
    loaded = {name: _loaded(name, given, (prices or {}).get(name)) for name, given in tokenizers.items()}
    encoders = {name: each.encoder for name, each in loaded.items()}
    records = sample.records() if data is None else read_records(data)
    texts = written(records)
    given = _named(corpora, parallel, [each.spec for each in encoders.values()], text_field, separator, on_bad == "skip")
    counted = _counted(given, list(encoders.values()), words, num_threads, progress)
    return Comparison(
        {
            "version": VERSION,
            "words": words,
            "currency": currency,
            "tokenizers": {name: each.describe() for name, each in loaded.items()},
            "corpora": {corpus.name: _about_corpus(corpus, counted[corpus.name].text) for corpus in given},
            "text": {name: each.figures(loaded) for name, each in counted.items()},
            "parity": _parity([corpus.name for corpus in given if corpus.parallel], reference, counted, list(loaded)),
            "vocabulary": {
                name: vocabulary_use(each.spec, np.sum([one.tokens[number].by_id for one in counted.values()], 0))
                for number, (name, each) in enumerate(encoders.items())
            },
            "formats": {
                "source": _SAMPLE if data is None else os.fspath(data),
                "records": len(records),
                "bytes": {format_: len(text.encode()) for format_, text in texts.items()},
                "tokens": {name: tokens_by_format(encoder, texts) for name, encoder in encoders.items()},
            },
            "numbers": {name: numbers_cut(encoder) for name, encoder in encoders.items()},
            "indentation": {name: indentation_tokens(encoder) for name, encoder in encoders.items()},
        }
    )


@dataclass(frozen=True)
class _Tokenizer:
    encoder: Encoder
    source: str | None
    price: float | None

    def describe(self) -> dict[str, Any]:
        spec = self.encoder.spec
        return {
            "source": self.source,
            "dialect": spec.dialect,
            "vocab_size": spec.vocab_size,
            "fingerprint": spec.fingerprint,
            "price_of_a_million_tokens": self.price,
        }

    @property
    def unknown(self) -> int | None:
        rules = self.encoder.spec.sentencepiece
        return None if rules is None else rules.unk_id


@dataclass(frozen=True)
class _Counted:
    text: TextCounts
    tokens: list[TokenCounts]

    def figures(self, tokenizers: Mapping[str, _Tokenizer]) -> dict[str, Any]:
        pairs = zip(tokenizers.items(), self.tokens, strict=True)
        return {name: about_tokens(self.text, counts, each.unknown, each.price) for (name, each), counts in pairs}


def _check(
    tokenizers: Mapping[str, Compared],
    corpora: Mapping[str, Corpus] | None,
    parallel: Mapping[str, Corpus] | None,
    reference: str | None,
    prices: Mapping[str, float],
    words: str,
    on_bad: str,
) -> None:
    if not tokenizers:
        raise ComparisonError("there is no tokenizer to measure; name at least one")
    if words not in MODES:
        raise ValueError(f"words must be one of {', '.join(MODES)}, not {words!r}")
    if on_bad not in ("raise", "skip"):
        raise ValueError(f"on_bad must be 'raise' or 'skip', not {on_bad!r}")
    for name, price in prices.items():
        if name not in tokenizers:
            raise ComparisonError(f"there is a price for {name!r}, which is no tokenizer here; there are {_listed(tokenizers)}")
        if isinstance(price, bool) or not isinstance(price, int | float) or not (math.isfinite(price) and price >= 0):
            raise ComparisonError(f"the price of a million tokens of {name!r} must be a number from 0 up, not {price!r}")
    twice = [name for name in corpora or () if name in (parallel or ())]
    if twice:
        raise ComparisonError(f"two corpora are called {twice[0]!r}; give one of them another name")
    if parallel is not None and len(parallel) == 1:
        raise ComparisonError(
            f"{next(iter(parallel))!r} is the only parallel corpus; there is nothing to compare its length with"
        )
    known = parallel or ({} if corpora else sample.sentences())
    if reference is not None and reference not in known:
        there = f"there are {_listed(known)}" if known else "there are none"
        raise ComparisonError(f"the reference {reference!r} is not one of the parallel corpora; {there}")


def _listed(names: Mapping[str, Any]) -> str:
    return some(list(map(repr, names)))


def _loaded(name: str, given: Compared, price: float | None) -> _Tokenizer:
    if isinstance(given, str | os.PathLike):
        return _Tokenizer(Encoder(conversion.load(given)), os.fspath(given), price)
    if isinstance(given, TokenizerSpec):
        return _Tokenizer(Encoder(given), None, price)
    if isinstance(given, Encoder):
        return _Tokenizer(given, None, price)
    raise TypeError(f"tokenizer {name!r} must be a path, a TokenizerSpec or an Encoder, not {given!r:.80}")


def _named(
    corpora: Mapping[str, Corpus] | None,
    parallel: Mapping[str, Corpus] | None,
    specs: Sequence[TokenizerSpec],
    text_field: str,
    separator: str | None,
    skip_bad: bool,
) -> list[NamedCorpus]:
    if not corpora and not parallel:
        parallel = {name: iter(texts) for name, texts in sample.sentences().items()}
        corpora = {sample.CODE: iter([sample.code()])}
    cut = common_cut(specs)
    return [
        NamedCorpus.of(name, corpus, parallel=aligned, text_field=text_field, separator=separator, skip_bad=skip_bad, cut=cut)
        for group, aligned in ((parallel, True), (corpora, False))
        for name, corpus in (group or {}).items()
    ]


def _counted(
    corpora: Sequence[NamedCorpus], encoders: Sequence[Encoder], words: WordMode, num_threads: int | None, progress: bool
) -> dict[str, _Counted]:
    counted = {}
    sizes = [corpus.size for corpus in corpora]
    with reporting_bytes("measuring", None if None in sizes else sum(size or 0 for size in sizes), shown=progress) as report:
        before = 0
        for corpus, size in zip(corpora, sizes, strict=True):
            counted[corpus.name] = _Counted(
                *count_corpus(
                    corpus,
                    encoders,
                    words=words,
                    num_threads=num_threads,
                    report=lambda done, before=before: report(before + done),  # type: ignore[misc]
                )
            )
            before += size or 0
            report(before)
            if corpus.bad.count:
                warnings.warn(
                    f"corpus {corpus.name!r}: left out {corpus.bad.count:,} texts that cannot be read; the first: {corpus.bad.first}",
                    stacklevel=3,
                )
    return counted


def _about_corpus(corpus: NamedCorpus, text: TextCounts) -> dict[str, Any]:
    return {"source": corpus.source, "parallel": corpus.parallel, **about_text(text), "left_out": corpus.bad.count}


def _parity(
    names: Sequence[str], reference: str | None, counted: Mapping[str, _Counted], tokenizers: Sequence[str]
) -> dict[str, Any] | None:
    """How much longer than the reference each parallel corpus is. None without any."""
    if not names:
        return None
    reference = names[0] if reference is None else reference
    expected = counted[reference].text.documents
    unequal = [f"{name!r} has {n:,}" for name in names if (n := counted[name].text.documents) != expected]
    if unequal:
        raise ComparisonError(
            f"parallel corpora must have as many texts as {reference!r}, which has {expected:,}; {some(unequal)}. Align them, one "
            "text a line, or give them as corpora that are not parallel"
        )
    return {
        "reference": reference,
        "texts": expected,
        "bytes": parity(reference, {name: counted[name].text.bytes for name in names}),
        "tokens": {
            tokenizer: parity(reference, {name: counted[name].tokens[number].tokens for name in names})
            for number, tokenizer in enumerate(tokenizers)
        },
    }
