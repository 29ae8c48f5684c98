"""`TrainingReport`: what a vocabulary is worth at every size, so that one can be chosen."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np

from hf_bpe.engine import Encoder
from hf_bpe.errors import TrainingError
from hf_bpe.files import write_atomically
from hf_bpe.pages import check_target
from hf_bpe.patterns import find_named_pattern
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.counting.merging import exact_sum
from hf_bpe.training.report.scripts import script_names, scripts_of
from hf_bpe.training.report.usage import Merges, Usage, usage_of
from hf_bpe.training.words import Words
from hf_bpe.vocabulary.findings import Finding, findings_of, twins
from hf_bpe.vocabulary.shown import shown, tokens_by_id

__all__ = ["ENDINGS", "TRAINING", "ReportTarget", "TrainingReport", "report_of"]

TRAINING = "training"
"""What the text that was learnt from is called among the texts of a report."""

ENDINGS = (".html", ".json")
"""Of the names that a report can be written under."""

_VERSION = 1
_BYTES = 256
_STEP = 1000
_POINTS = 200
_SHOWN = 50
_GROUPS_SHOWN = 20
_SAVINGS = (0.01, 0.005, 0.002, 0.001, 0.0005)


@dataclass(frozen=True)
class TrainingReport:
    """Figures of a training.

    content: plain data, as `to_json` writes it: `vocabulary`, `texts` (bytes, tokens and bytes per token of each), `curve` (bytes per
    token of each text at up to 200 sizes), `thousands` (what each thousand merges saves), `choice` (from which size on a further
    thousand saves less than a given share), `merges` (how often each was done), `token_lengths`, `longest_tokens`, `usage` (how many
    tokens are rare), `audit` (odd tokens, as `hf-bpe audit` finds them in a vocabulary), `scripts`.
    """

    content: Mapping[str, Any]

    def to_json(self) -> str:
        """The figures as JSON."""
        return json.dumps(self.content, indent=1)

    def to_html(self) -> str:
        """A page that needs no other file. Raises `ReportError` where matplotlib is not installed."""
        from hf_bpe.training.report.page import page_of

        return page_of(self.content)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write to a file, as HTML or as JSON by its name. Raises `ReportError` for another name."""
        content = self.to_html() if check_target(path, ENDINGS) == ".html" else self.to_json()
        write_atomically(Path(path).parent, {Path(path).name: content.encode()})


ReportTarget: TypeAlias = str | os.PathLike[str] | Callable[[TrainingReport], object]
"""Where a report goes: a file, or a function."""


def report_of(
    spec: TokenizerSpec, training: Words, others: Mapping[str, Words] | None = None, num_threads: int | None = None
) -> TrainingReport:
    """Measure a vocabulary on the words that it was learnt from, and on those of other texts by name: held-out text, single sources.

    All words must have been split as the vocabulary splits. Raises `TrainingError` for a vocabulary that no training makes, for a name
    that is taken, and for a text without words.

    >>> from hf_bpe.training import train
    >>> spec = train(["aaabdaaabac"], 259, pattern=None, progress=False)
    >>> report = report_of(spec, Words.of([(b"aaabdaaabac", 1)]))
    >>> report.content["curve"]["sizes"], report.content["curve"]["bytes_per_token"]["training"]
    ([256, 257, 258, 259], [1.0, 1.2222, 1.5714, 2.2])
    """
    if TRAINING in (others or {}):
        raise TrainingError(f"{TRAINING!r} is the name of the text that was learnt from; call the other text something else")
    texts = {TRAINING: training, **(others or {})}
    empty = [name for name, words in texts.items() if not len(words.counts)]
    if empty:
        raise TrainingError(f"the text {empty[0]!r} holds no words to measure")
    merges = Merges.of(spec)
    usages = {name: usage_of(merges, words, num_threads) for name, words in texts.items()}
    trained = usages[TRAINING]
    beside = spec.vocab_size - _BYTES - len(merges)
    return TrainingReport(
        {
            "version": _VERSION,
            "vocabulary": _vocabulary(spec, merges),
            "texts": {name: _text(usage) for name, usage in usages.items()},
            "curve": _curve(usages, beside, len(merges)),
            "thousands": _thousands(trained, beside),
            "choice": _choice(trained, beside),
            "merges": _merge_frequencies(merges, trained),
            "token_lengths": _lengths(spec),
            "longest_tokens": _longest(spec, trained),
            "usage": _rare(spec, trained),
            "audit": _audit(spec, trained),
            "scripts": _scripts(trained),
        }
    )


def _vocabulary(spec: TokenizerSpec, merges: Merges) -> dict[str, Any]:
    named = find_named_pattern(spec.pattern)
    return {
        "size": spec.vocab_size,
        "merges": len(merges),
        "special_tokens": len(spec.added_tokens),
        "pattern": named.name if named else spec.pattern,
        "fingerprint": spec.fingerprint,
        "provenance": dict(spec.provenance),
    }


def _text(usage: Usage) -> dict[str, Any]:
    tokens = exact_sum(usage.tokens)
    return {
        "bytes": usage.bytes,
        "words": exact_sum(usage.words.counts),
        "distinct_words": len(usage.words.counts),
        "tokens": tokens,
        "bytes_per_token": round(usage.bytes / tokens, 4),
    }


def _curve(usages: Mapping[str, Usage], beside: int, merges: int) -> dict[str, Any]:
    """Compression at sizes that lie close at first, as most is gained there; special tokens are in each size."""
    places = sorted({0, merges, *np.geomspace(1, merges + 1, _POINTS).astype(int).clip(0, merges).tolist()})
    values = {name: [round(usage.bytes_per_token(place), 4) for place in places] for name, usage in usages.items()}
    return {"sizes": [_BYTES + beside + place for place in places], "bytes_per_token": values}


def _thousands(usage: Usage, beside: int) -> list[dict[str, Any]]:
    """What each thousand merges saves, as a share of the tokens that there were without them."""
    tokens = usage.tokens_by_merges
    starts = range(0, len(tokens) - 1, _STEP)
    rows = [(start, min(start + _STEP, len(tokens) - 1)) for start in starts]
    return [
        {
            "from": _BYTES + beside + start,
            "to": _BYTES + beside + stop,
            "bytes_per_token": round(usage.bytes_per_token(stop), 4),
            "saves": round(float(1 - tokens[stop] / tokens[start]), 6),
            "least_frequent_merge": int(usage.applied[start:stop].min()),
        }
        for start, stop in rows
    ]


def _choice(usage: Usage, beside: int) -> list[dict[str, Any]]:
    """From which size on a thousand merges more save less than some share of all tokens; None: they never save so little."""
    tokens = usage.tokens_by_merges
    saved = 1 - tokens[_STEP:] / tokens[:-_STEP] if len(tokens) > _STEP else np.zeros(0)
    found = []
    for least in _SAVINGS:
        enough = np.flatnonzero(saved >= least)
        after = int(enough[-1]) + 1 if len(enough) else 0
        found.append({"saves_less_than": least, "from_size": _BYTES + beside + after if after < len(saved) else None})
    return found


def _merge_frequencies(merges: Merges, usage: Usage) -> dict[str, Any]:
    counts = usage.applied
    ranks = sorted(set(np.geomspace(1, max(len(counts), 1), _POINTS).astype(int).tolist())) if len(counts) else []
    pairs = zip(merges.spec.merges[:_SHOWN], counts.tolist(), strict=False)
    return {
        "first": [{"left": shown(left), "right": shown(right), "times": times} for (left, right), times in pairs],
        "times_at_rank": [[rank, int(counts[rank - 1])] for rank in ranks],
    }


def _lengths(spec: TokenizerSpec) -> dict[str, int]:
    lengths = np.bincount([len(token) for token in spec.vocab])
    return {str(length): int(number) for length, number in enumerate(lengths) if number}


def _longest(spec: TokenizerSpec, usage: Usage) -> list[dict[str, Any]]:
    longest = sorted(spec.vocab, key=lambda token: (-len(token), spec.vocab[token]))[:_SHOWN]
    return [
        {"id": spec.vocab[token], "bytes": len(token), "token": shown(token), "times": int(usage.tokens[spec.vocab[token]])}
        for token in longest
    ]


def _rare(spec: TokenizerSpec, usage: Usage) -> dict[str, int]:
    """How many tokens of the vocabulary are left so seldom in the text itself that a model hardly sees them."""
    times = usage.tokens[list(spec.vocab.values())]
    return {
        "tokens": len(times),
        "never": int((times == 0).sum()),
        "up_to_10_times": int((times <= 10).sum()),
        "up_to_100_times": int((times <= 100).sum()),
    }


def _audit(spec: TokenizerSpec, usage: Usage) -> dict[str, Any]:
    """Odd tokens, by what is odd: how many, and the first few of each."""
    found: defaultdict[Finding, list[int]] = defaultdict(list)
    for token_id, findings in findings_of(Encoder(spec), usage.tokens).items():
        for finding in findings:
            found[finding].append(token_id)
    texts = {token_id: shown(token) for token_id, token in tokens_by_id(spec).items()}
    alike = twins(spec)
    return {
        "findings": {
            finding: {
                "tokens": len(found[finding]),
                "first": [{"id": token_id, "token": texts[token_id]} for token_id in found[finding][:_SHOWN]],
            }
            for finding in get_args(Finding)
            if finding in found
        },
        "groups_that_differ_in_case_or_space": len(alike),
        "largest_groups": [[texts[token_id] for token_id in group] for group in alike[:_GROUPS_SHOWN]],
    }


def _scripts(usage: Usage) -> dict[str, dict[str, Any]]:
    words = usage.words
    script, lengths = scripts_of(words), words.lengths
    sizes = {}
    for number, name in enumerate(script_names()):
        chosen = script == number
        if chosen.any():
            counts = words.counts[chosen].astype(np.float64)
            in_bytes, tokens = float(lengths[chosen] @ counts), float(usage.per_word[chosen] @ counts)
            sizes[name] = {
                "share_of_bytes": round(in_bytes / usage.bytes, 4),
                "share_of_words": round(float(counts.sum()) / exact_sum(words.counts), 4),
                "bytes_per_token": round(in_bytes / tokens, 4),
                "tokens_per_word": round(tokens / float(counts.sum()), 4),
            }
    return dict(sorted(sizes.items(), key=lambda item: -item[1]["share_of_bytes"]))
