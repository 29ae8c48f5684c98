"""The sections of the report, each a generator of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.bench import Bench, refusal, stop_if_ours_differs
from benchmarks.cases import HOSTILE, short_strings
from benchmarks.corpora import size_of, up_to
from benchmarks.harness import Result
from benchmarks.processes import Outcome, run
from benchmarks.report import VERDICT
from conversion.nasty_strings import nasty_strings

FORMS = {"lists": "encode_batch", "arrays": "encode_batch_array"}
SINGLE_FORMS = {"lists": "encode", "arrays": "encode_array"}


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


SECTIONS: dict[str, Callable[[Bench], Iterator[Result]]] = {
    "exactness": exactness,
    "documents": documents,
    "whole": whole,
    "short": short,
    "hostile": hostile,
    "decode": decode,
    "load": load,
}
