"""Measuring side by side: every contender once per round, the rounds repeated, so that a drifting machine hurts all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

OURS = "hf-bpe"
FACES = ("hf_bpe.tiktoken",)
"""The same engine under another library's names: measured where asked for, and not counted among the others."""

Contender = Callable[[], object]


@dataclass
class Result:
    """What each round measured in one cell, by contender: seconds, or the unit that is named; and why others have nothing.

    `labels` say which cell it is, from the vocabulary to the details; cells of a section have as many, in the same order.
    `megabytes` is what one measurement works through, where a rate says more than seconds.
    """

    labels: tuple[str, ...]
    megabytes: float | None
    measured: dict[str, list[float]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    section: str = ""
    unit: str = "seconds"

    @property
    def title(self) -> str:
        """The labels in one line."""
        return ", ".join(self.labels)

    def median(self, name: str) -> float:
        """Of the rounds."""
        return statistics.median(self.measured[name])

    def rate(self, name: str) -> float:
        """Median MB/s."""
        if self.megabytes is None:
            raise ValueError(f"{self.title} is not measured in MB/s")
        return self.megabytes / self.median(name)

    def ratio(self, name: str) -> float | None:
        """How many times the other's measure holds ours: the median of the rounds' own ratios. None without one of ours."""
        if OURS not in self.measured:
            return None
        rounds = zip(self.measured[OURS], self.measured[name], strict=False)  # who is far behind has no later rounds
        return statistics.median(theirs / mine for mine, theirs in rounds)

    def best_peer(self) -> str | None:
        """The other with the least."""
        return min((name for name in self.measured if name not in (OURS, *FACES)), key=self.median, default=None)

    def refuse(self, name: str, reason: str) -> None:
        """Take a contender out of the cell."""
        self.measured.pop(name, None)
        self.refused[name] = reason


def interleave(title: str, megabytes: float, contenders: dict[str, Contender], rounds: int) -> Result:
    """Run all contenders in turn, `rounds` times."""
    result = Result((title,), megabytes, {name: [] for name in contenders})
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            result.measured[name].append(time.perf_counter() - start)
    return result
