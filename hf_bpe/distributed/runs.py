"""The tree by which the counts of parts become one file: each node a word-count file, named after all that it is made from.

Its name says what a file holds, and that is all that going on after an interruption needs: a file that is there is right, whoever
wrote it, and one of other texts or other settings has another name. No list of what is done must be kept in step with the files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hf_bpe.batching import batched
from hf_bpe.corpus.sources import Source

__all__ = ["FAN_IN", "Run", "merged_by_fan_in", "run_of_sources"]

FAN_IN = 16
"""How many files are merged into one: one block of each is in memory."""


@dataclass(frozen=True)
class Run:
    """A word-count file that is there or is to be made: counts of sources, or the sum of others.

    size: bytes to read for it, of texts.
    """

    name: str
    sources: tuple[Source, ...] = ()
    parts: tuple[Run, ...] = ()
    size: int = 0

    def __str__(self) -> str:
        if self.parts:
            return f"merging {len(self.parts)} counts into {self.name}"
        return " and ".join([str(self.sources[0].path), f"{len(self.sources) - 1:,} more"][: len(self.sources)]) or self.name


def run_of_sources(sources: Sequence[Source], settings: dict[str, Any]) -> Run:
    """Counts of files. settings: all that decides what is counted of them."""
    described = [source.describe() for source in sources]
    return Run(_name(["counted", settings, described]), tuple(sources), size=sum(source.size for source in sources))


def merged_by_fan_in(runs: Iterable[Run]) -> list[Run]:
    """At most `FAN_IN` runs that hold all, in their order."""
    level = list(runs)
    while len(level) > FAN_IN:
        level = [_sum(parts) for parts in batched(level, lambda _: 1, FAN_IN)]
    return level


def _sum(parts: list[Run]) -> Run:
    return parts[0] if len(parts) == 1 else Run(_name(["merged", *(part.name for part in parts)]), parts=tuple(parts))


def _name(content: list[Any]) -> str:
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest() + ".parquet"
