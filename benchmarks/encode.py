"""Encoding, decoding and loading beside other libraries: `python -m benchmarks.encode [--corpus FILE ...]`.

A contender is timed only where its ids equal the reference's on every text of the cell; ours must. The reference is tiktoken,
and for SentencePiece models sentencepiece. A quick look:

    python -m benchmarks.encode --sections documents --vocabulary gpt2 --peers tiktoken gigatoken --megabytes 1 --rounds 1
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.corpora import corpora, size_of
from benchmarks.derived import growth, scaling
from benchmarks.harness import FACES, OURS, Result
from benchmarks.peers import PEERS
from benchmarks.report import describe_machine, report
from benchmarks.sections import SECTIONS
from benchmarks.vocabularies import prepare, sources


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], help="UTF-8 files; default: text of installed packages")
    parser.add_argument("--vocabularies", type=Path, help="folder of more: <pattern name>.tiktoken and *.model")
    parser.add_argument("--vocabulary", nargs="*", help="only these, by name")
    parser.add_argument("--sections", nargs="*", choices=SECTIONS, default=list(SECTIONS))
    others = [peer for peer in PEERS if peer not in FACES]
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=others, help="the reference is always there")
    parser.add_argument("--megabytes", type=float, default=8, help="of each corpus")
    parser.add_argument("--whole-megabytes", type=float, default=16, help="of the one long string, if the corpus has them")
    parser.add_argument("--hostile-kilobytes", type=int, nargs="*", default=[100, 200], help="lengths of hostile strings")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="for repeating one measurement within a round")
    parser.add_argument("--timeout", type=float, default=120, help="seconds after which a worker is stopped")
    parser.add_argument("--hostile-timeout", type=float, default=30, help="the same, for hostile strings")
    parser.add_argument("--output", type=Path, help="for the raw seconds; default: benchmarks/results/encode.json")
    parser.add_argument("--plot", type=Path, help="draw the main figures into this SVG file")
    return parser.parse_args()


def main() -> None:
    """Measure, report, draw."""
    options = parse()
    texts = corpora(options.corpus, max(options.megabytes, options.whole_megabytes if "whole" in options.sections else 0))
    with tempfile.TemporaryDirectory(prefix="hf-bpe-bench-") as folder:
        bench = make_bench(options, texts, Path(folder))
        results = measure(bench, options.sections)
    results += [*scaling(results), *growth(results)]
    sizes = {name: f"{size_of(documents) / 1e6:.1f} MB in {len(documents)} documents" for name, documents in texts.items()}
    used = {key: str(value) for key, value in vars(options).items()} | {"corpora": sizes}
    path = report("encode", describe_machine(bench.contenders), results, used, options.output)
    print(f"raw seconds: {path}")
    if options.plot:
        from benchmarks.plot import draw

        draw(path, options.plot)


def make_bench(options: argparse.Namespace, texts: dict[str, list[str]], folder: Path) -> Bench:
    """What the options ask for, with the vocabularies written into the folder."""
    found = sources(options.vocabularies)
    names = options.vocabulary or list(found)
    if unknown := set(names) - set(found):
        raise SystemExit(f"no vocabulary {', '.join(unknown)}; there are {', '.join(found)}")
    vocabularies = [prepare(name, found[name], folder) for name in names]
    return Bench(
        contenders=list(dict.fromkeys([OURS, *(files.reference for files in vocabularies), *options.peers])),
        vocabularies=vocabularies,
        corpora=texts,
        megabytes=options.megabytes,
        folder=folder,
        all_threads=os.cpu_count() or 1,
        rounds=options.rounds,
        seconds=options.seconds,
        timeout=options.timeout,
        whole_megabytes=options.whole_megabytes,
        hostile_sizes=tuple(1000 * size for size in options.hostile_kilobytes),
        hostile_timeout=options.hostile_timeout,
    )


def measure(bench: Bench, sections: list[str]) -> list[Result]:
    """The cells of the sections, each named when it is done. Ctrl-C ends measuring, and what was measured is reported."""
    results: list[Result] = []
    try:
        for section in sections:
            for result in SECTIONS[section](bench):
                print(f"{result.section}: {result.title}", flush=True)
                results.append(result)
    except KeyboardInterrupt:
        print("stopped")
    return results


if __name__ == "__main__":
    main()
