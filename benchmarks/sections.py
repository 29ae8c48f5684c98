"""The sections of the report. Each gives cells; `Bench` runs a cell's contenders in turn, round by round."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cases import HOSTILE, short_strings
from benchmarks.corpora import size_of, up_to
from benchmarks.harness import OURS, Result
from benchmarks.peers import REFERENCE, VocabularyFiles
from benchmarks.processes import Outcome, run
from benchmarks.report import VERDICT, installed_version
from conversion.nasty_strings import nasty_strings

FORMS = {"lists": "encode_batch", "arrays": "encode_batch_array"}
FAR_BEHIND = 10
SINGLE_FORMS = {"lists": "encode", "arrays": "encode_array"}


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
    hostile_timeout: float = 10.0
    _expected: dict[tuple[str, str], list[str]] = field(default_factory=dict)

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

    def expected(self, files: VocabularyFiles, texts: str) -> list[str]:
        """The reference's ids of every text, as digests; computed once."""
        key = (files.name, texts)
        if key not in self._expected:
            outcome = run(self.job("fingerprints", REFERENCE, files, texts=texts, form="encode"), self.timeout)
            if outcome.refusal:
                raise SystemExit(f"{REFERENCE} cannot encode {texts}: {outcome.refusal}")
            self._expected[key] = outcome.answers[0]["digests"]
        return self._expected[key]

    def measure(self, phases: dict[str, Result], task: str, files: VocabularyFiles, **more: Any) -> None:
        """Run the contenders of a cell in turn, each in a fresh process, and file what each phase took.

        A worker hands back digests of the ids that the calls it timed gave; whoever differs from the reference leaves the
        cell, and all ends if it is us. Whoever is far behind in the first round is not measured again.
        """
        expected = self.expected(files, more["texts"]) if "form" in more and more["form"].startswith("encode") else None
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
        raise SystemExit(f"{title}: {reason} from {REFERENCE}")


# ---------------------------------------------------------------------------------------------------------------------


def exactness(bench: Bench) -> Iterator[Result]:
    """How many of the hostile strings come out otherwise than from the reference: comes first, and ends all if we differ."""
    texts = nasty_strings() + [make(2000) for make in HOSTILE.values()]
    path = bench.write("hostile", texts)
    for files in bench.vocabularies:
        expected = bench.expected(files, path)
        result = bench.cell("exactness", files.name, f"{len(texts)} hostile strings", unit=VERDICT)
        for contender in list(result.measured):
            outcome = run(bench.job("fingerprints", contender, files, texts=path, form="encode"), bench.timeout)
            reason = refusal(outcome, 0, expected)
            stop_if_ours_differs(result.title, contender, reason)
            result.refuse(contender, reason) if reason else result.measured[contender].append(1.0)
        yield result


def documents(bench: Bench) -> Iterator[Result]:
    """Encoding a corpus document by document: lists and arrays, one thread and all, the first pass and later ones."""
    for files in bench.vocabularies:
        for corpus, whole_corpus in bench.corpora.items():
            texts = up_to(whole_corpus, bench.megabytes)
            path = bench.write(corpus, texts)
            for shape, form in FORMS.items():
                for threads in sorted({1, bench.all_threads}):
                    threads_label = f"{threads} thread{'s' * (threads > 1)}"
                    phases = bench.cold_and_warm("documents", files.name, corpus, shape, threads_label, texts=texts)
                    bench.measure(phases, "passes", files, texts=path, form=form, threads=threads)
                    yield from phases.values()


def whole(bench: Bench) -> Iterator[Result]:
    """One string of many megabytes, one thread."""
    for files in bench.vocabularies:
        for corpus, texts in bench.corpora.items():
            text = "\n".join(texts).encode()[: int(bench.whole_megabytes * 1e6)].decode("utf-8", "ignore")
            path = bench.write(f"{corpus}-whole", [text])
            for shape, form in SINGLE_FORMS.items():
                phases = bench.cold_and_warm("one string", files.name, corpus, shape, texts=[text])
                bench.measure(phases, "whole", files, texts=path, form=form)
                yield from phases.values()


def short(bench: Bench) -> Iterator[Result]:
    """Single calls on short strings: the median of many different ones."""
    corpus, texts = next(iter(bench.corpora.items()))
    for files in bench.vocabularies:
        for length, count in ((25, 2000), (1000, 500)):
            path = bench.write(f"{corpus}-{length}", short_strings(texts, length, count))
            for shape, form in SINGLE_FORMS.items():
                result = bench.cell("short strings", files.name, corpus, f"{length} characters", shape)
                bench.measure({"warm": result}, "single_calls", files, texts=path, form=form)
                yield result


def decode(bench: Bench) -> Iterator[Result]:
    """Decoding the ids of a whole corpus at once."""
    for files in bench.vocabularies:
        for corpus, texts in bench.corpora.items():
            text = "\n".join(up_to(texts, bench.megabytes))
            path = bench.write(f"{corpus}-decode", [text])
            for shape, form in {"from a list": "decode", "from an array": "decode_array"}.items():
                result = bench.cell("decoding", files.name, corpus, shape, megabytes=size_of([text]) / 1e6)
                bench.measure({"warm": result}, "decoding", files, texts=path, form=form)
                yield result


def load(bench: Bench) -> Iterator[Result]:
    """From before the import to the first ids, and the memory that takes."""
    for files in bench.vocabularies:
        seconds = bench.cell("loading", files.name, "import, load, first ids")
        memory = bench.cell("loading", files.name, "memory", unit="MB")
        bench.measure({"warm": seconds, "megabytes": memory}, "loading", files)
        yield from (seconds, memory)


def hostile(bench: Bench) -> Iterator[Result]:
    """Long strings that are one piece or full of unknown pieces, each met for the first time; their time must grow in line."""
    for files in bench.vocabularies:
        for kind, make in HOSTILE.items():
            path = bench.write(f"hostile-{kind.replace(' ', '-')}", [make(size) for size in bench.hostile_sizes])
            expected = bench.expected(files, path)
            cells = [bench.cell("hostile", files.name, kind, f"{size // 1000} kB") for size in bench.hostile_sizes]
            for _ in range(bench.rounds):
                for contender in list(dict.fromkeys(name for cell in cells for name in cell.measured)):
                    job = bench.job("long_strings", contender, files, texts=path, form="encode")
                    file_sizes(cells, contender, run(job, bench.hostile_timeout), expected)
            yield from cells


def file_sizes(cells: list[Result], contender: str, outcome: Outcome, expected: list[str]) -> None:
    """The seconds of each size, as far as the worker came."""
    for number, cell in enumerate(cells):
        reason = refusal(outcome, number, expected[number : number + 1])
        stop_if_ours_differs(cell.title, contender, reason)
        if reason:
            cell.refuse(contender, reason)
        elif contender in cell.measured:
            cell.measured[contender].append(outcome.answers[number]["warm"])


SECTIONS = {
    "exactness": exactness,
    "documents": documents,
    "whole": whole,
    "short": short,
    "hostile": hostile,
    "decode": decode,
    "load": load,
}
