"""Filling a cell: its contenders in turn, round by round, each in a fresh process, each answer checked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.corpora import size_of
from benchmarks.harness import OURS, Result
from benchmarks.peers import VocabularyFiles
from benchmarks.processes import Outcome, run
from benchmarks.report import installed_version

FAR_BEHIND = 10  # times the fastest's first round


@dataclass
class Bench:
    """What all sections share."""

    contenders: list[str]
    vocabularies: list[VocabularyFiles]
    corpora: dict[str, list[str]]
    folder: Path
    all_threads: int
    rounds: int = 3
    seconds: float = 1.0
    timeout: float = 120.0
    megabytes: float = 8.0
    whole_megabytes: float = 16.0
    hostile_sizes: tuple[int, ...] = (100_000, 200_000)
    hostile_timeout: float = 30.0
    _expected: dict[tuple[str, ...], list[str]] = field(default_factory=dict)

    def job(self, task: str, contender: str, files: VocabularyFiles, **more: Any) -> dict[str, Any]:
        """What a worker is told."""
        common = {"task": task, "contender": contender, "vocabulary": files.name, "folder": str(files.folder)}
        return {**common, "threads": 1, "seconds": self.seconds, **more}

    def write(self, name: str, texts: list[str]) -> str:
        """A file of texts for workers."""
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(texts), "utf-8")
        return str(path)

    def cell(self, section: str, *labels: str, megabytes: float | None = None, unit: str = "seconds") -> Result:
        """A cell with all contenders that are installed."""
        result = Result(labels, megabytes, section=section, unit=unit)
        for contender in self.contenders:
            if installed_version(contender) is None:
                result.refuse(contender, "not installed")
            else:
                result.measured[contender] = []
        return result

    def expected(self, files: VocabularyFiles, texts: str, form: str = "encode") -> list[str]:
        """The reference's ids of every text, or what it decodes them to, as digests; computed once."""
        task, form = ("decoding", "decode") if form.startswith("decode") else ("fingerprints", "encode")
        key = (files.name, texts, form)
        if key not in self._expected:
            outcome = run(self.job(task, files.reference, files, texts=texts, form=form), self.timeout)
            if outcome.refusal:
                raise SystemExit(f"{files.reference} cannot {form} {texts}: {outcome.refusal}")
            self._expected[key] = outcome.answers[0]["digests"]
        return self._expected[key]

    def measure(self, phases: dict[str, Result], task: str, files: VocabularyFiles, **more: Any) -> None:
        """Run the contenders of a cell in turn, each in a fresh process, and file what each phase took.

        A worker hands back digests of what the calls it timed gave; whoever differs from the reference leaves the
        cell, and all ends if it is us. Whoever is far behind in the first round is not measured again.
        """
        expected = self.expected(files, more["texts"], more["form"]) if "form" in more else None
        first = next(iter(phases.values()))
        for number in range(self.rounds):
            for contender in within_reach(first) if number else list(first.measured):
                outcome = run(self.job(task, contender, files, **more), self.timeout)
                reason = refusal(outcome, 0, expected)
                stop_if_ours_differs(first.title, contender, reason)
                for phase, result in phases.items():
                    if reason:
                        result.refuse(contender, reason)
                    else:
                        result.measured[contender].append(outcome.answers[0][phase])

    def cold_and_warm(self, section: str, *labels: str, texts: list[str]) -> dict[str, Result]:
        """The two cells that one worker fills."""
        size = size_of(texts) / 1e6
        return {phase: self.cell(section, *labels, phase, megabytes=size) for phase in ("cold", "warm")}


def within_reach(result: Result) -> list[str]:
    """Us, and those whose first round took less than so many times that of the fastest."""
    fastest = min((rounds[0] for rounds in result.measured.values()), default=0.0)
    return [name for name, rounds in result.measured.items() if name == OURS or rounds[0] < FAR_BEHIND * fastest]


def refusal(outcome: Outcome, number: int, expected: list[str] | None) -> str | None:
    """Why an answer does not count, if it does not."""
    if number >= len(outcome.answers):
        return outcome.refusal or "no answer"
    if expected is None:
        return None
    different = sum(a != b for a, b in zip(expected, outcome.answers[number]["digests"], strict=True))
    return f"{different} of {len(expected)} texts differ" if different else None


def stop_if_ours_differs(title: str, contender: str, reason: str | None) -> None:
    """No timing before that is mended."""
    if contender == OURS and reason and "differ" in reason:
        raise SystemExit(f"{title}: {reason} from the reference")
