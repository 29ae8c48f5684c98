"""`python -m tests.fuzz KIND` (see --help): exits with 1 and a reproducer at a mismatch."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz import (
    conversions,
    dialects,
    documents,
    patterns,
    pieces,
    random_specs,
    readers,
    short_strings,
    streams,
    tiktoken_face,
)
from tests.fuzz.subjects import Mismatch, Tally, subjects
from tests.fuzz.texts import Documents


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--seed", type=int, default=0, help="other input for every number (default 0)")
    texts = argparse.ArgumentParser(add_help=False, parents=[common])
    texts.add_argument("--vocabularies", type=Path, metavar="DIR", help="a folder of rank files besides those of packages")
    texts.add_argument("--only", nargs="+", default=[], metavar="NAME", help="not all vocabularies, but these")
    texts.add_argument("--corpus", type=Path, nargs="+", default=[], metavar="FILE", help="text to mutate (default: installed)")
    top = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    kinds = top.add_subparsers(dest="kind", required=True)
    long = kinds.add_parser("documents", parents=[texts], help="long documents, against tiktoken")
    long.add_argument("--megabytes", type=float, default=100.0, help="per vocabulary (default 100)")
    short = kinds.add_parser("strings", parents=[texts], help="short strings, against tiktoken and the reference")
    short.add_argument(
        "--count", type=int, default=10_000_000, help="in all, shared out over vocabularies (default 10 million)"
    )
    specs = kinds.add_parser("specs", parents=[common], help="random tokenizers, native against reference")
    specs.add_argument("--count", type=int, default=2000, help="how many (default 2,000)")
    models = kinds.add_parser("pieces", parents=[common], help="SentencePiece models, against sentencepiece")
    models.add_argument(
        "--count", type=int, default=1_000_000, help="strings in all, shared out over models (default 1 million)"
    )
    models.add_argument(
        "--engine", choices=["auto", "native", "reference"], default="auto", help="which of ours (default auto)"
    )
    models.add_argument("--only", nargs="+", default=[], metavar="NAME", help="not all models, but these")
    models.add_argument(
        "--corpus", type=Path, nargs="+", default=[], metavar="FILE", help="text to mutate (default: installed)"
    )
    published = kinds.add_parser("conversions", help="published vocabularies to every format and back")
    published.add_argument("--vocabularies", type=Path, metavar="DIR", help="a folder of rank files besides those of packages")
    published.add_argument("--only", nargs="+", default=[], metavar="NAME", help="not all vocabularies, but these")
    published.add_argument(
        "--corpus", type=Path, nargs="+", default=[], metavar="FILE", help="documents beside the built-in strings"
    )
    edited = kinds.add_parser("edits", parents=[texts], help="published vocabularies extended, pruned, with tokens replaced")
    edited.add_argument("--count", type=int, default=20_000, help="texts (default 20,000)")
    splits = kinds.add_parser("patterns", parents=[common], help="random split patterns, in every engine")
    splits.add_argument("--count", type=int, default=1000, help="how many (default 1,000)")
    read = kinds.add_parser("dialects", parents=[common], help="random texts of patterns, each read as its own engine reads it")
    read.add_argument("--count", type=int, default=20_000, help="how many (default 20,000)")
    files = kinds.add_parser("readers", parents=[common], help="damaged files of every format")
    files.add_argument("--count", type=int, default=200_000, help="files in all, shared out over formats (default 200,000)")
    files.add_argument("--only", nargs="+", default=[], metavar="FORMAT", help="not all formats, but these")
    calls = kinds.add_parser("calls", parents=[common], help="calls of HfBpeTokenizer, against transformers")
    calls.add_argument("--count", type=int, default=200_000, help="how many (default 200,000)")
    streams = kinds.add_parser("streams", parents=[common], help="ids and texts bit by bit, and the borders of texts")
    streams.add_argument(
        "--count",
        type=int,
        default=1_000_000,
        help="runs of ids (default 1 million); a tenth as many texts, a thousandth borders",
    )
    face = kinds.add_parser("tiktoken", parents=[common], help="every method of hf_bpe.tiktoken.Encoding, against tiktoken")
    face.add_argument("--count", type=int, default=1_000_000, help="calls in all (default 1 million)")
    face.add_argument("--vocabularies", type=Path, metavar="DIR", help="a folder of rank files such as o200k_base.tiktoken")
    return top


def run(arguments: argparse.Namespace, tally: Tally) -> None:
    """Do what was asked for. Raises `Mismatch`."""
    without_files = {"specs": random_specs, "patterns": patterns, "dialects": dialects, "streams": streams}.get(arguments.kind)
    if without_files is not None:
        without_files.run(arguments.count, arguments.seed, tally)
        return
    if arguments.kind == "conversions":
        conversions.run(arguments.vocabularies, arguments.only, arguments.corpus, tally)
        return
    if arguments.kind == "readers":
        readers.run(arguments.count, arguments.only, arguments.seed, tally)
        return
    if arguments.kind == "calls":
        from tests.fuzz import calls  # imports transformers, which takes seconds

        calls.run(arguments.count, arguments.seed, tally)
        return
    if arguments.kind == "edits":
        from tests.fuzz import edits  # likewise

        edits.run(arguments.vocabularies, arguments.only, arguments.corpus, arguments.count, arguments.seed, tally)
        return
    if arguments.kind == "tiktoken":
        tiktoken_face.run(arguments.count, arguments.vocabularies, arguments.seed, tally)
        return
    if arguments.kind == "pieces":
        source = Documents(arguments.corpus)
        pieces.run(source, arguments.count, arguments.engine, arguments.only, arguments.seed, tally)
        return
    loaders = subjects(arguments.vocabularies, arguments.only)
    source = Documents(arguments.corpus)
    for load in loaders.values():
        if arguments.kind == "documents":
            documents.run(load(), source, arguments.megabytes, arguments.seed, tally)
        else:
            short_strings.run(load(), source, arguments.count // len(loaders), arguments.seed, tally)


def main(given: Sequence[str] | None = None) -> int:
    """The exit code: 0, 1 for a mismatch, 130 for Ctrl-C."""
    arguments = parser().parse_args(given)
    units = {
        "documents": "MB",
        "strings": "million strings",
        "specs": "tokenizers",
        "pieces": "strings",
        "readers": "files",
        "patterns": "patterns",
        "dialects": "patterns",
        "calls": "calls",
        "streams": "cases",
        "tiktoken": "calls",
    }
    tally = Tally(units.get(arguments.kind, ""))
    try:
        run(arguments, tally)
    except Mismatch as mismatch:
        print(f"\nMISMATCH {mismatch}\nbefore that, no mismatch in {tally}")  # noqa: T201
        return 1
    except KeyboardInterrupt:
        print(f"\nstopped; no mismatch in {tally}")  # noqa: T201
        return 130
    print(f"no mismatch in {tally}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
