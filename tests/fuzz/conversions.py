"""Published vocabularies to every format that holds them, run there by the format's own library; and from each to each and back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

import conversion
from benchmarks.vocabularies import sources
from conversion.equality import first_difference
from conversion.registry import FORMATS
from conversion.verdict import Checks
from hf_bpe import AddedToken, ConversionRefused, TokenizerSpec
from tests.fuzz.subjects import Mismatch, Tally
from tests.support.vocabularies import TEKKEN_FILE

_NAMES = {
    "gpt2": "pair",
    "vocab-merges": "pair",
    "tiktoken-plugin": "my_encoding",
    "tokenizer.json": "tokenizer.json",
    "tekken": "tekken.json",
    "minbpe": "x.model",
    "sentencepiece": "x.model",
    "sentencepiece-vocab": "x.vocab",
}
_RUN_BY_ITS_LIBRARY = ("tiktoken", "gpt2", "vocab-merges", "tokenizer.json", "sentencepiece")


def run(folder: Path | None, only: Sequence[str], corpus: Sequence[Path], tally: Tally) -> None:
    """Every format that holds a vocabulary, and every pair of them. Raises `Mismatch`."""
    for name, spec in published(folder, only):
        with tempfile.TemporaryDirectory() as place:
            _check(name, spec, Path(place), corpus, tally)


def published(folder: Path | None, only: Sequence[str]) -> Iterator[tuple[str, TokenizerSpec]]:
    """The vocabularies of packages, and the rank files of a folder, by name."""
    paths = sources(folder) | {"tekken": TEKKEN_FILE}
    for name in only or paths:
        yield name, _load(name, paths[name])


def _load(name: str, path: Path) -> TokenizerSpec:
    spec = conversion.load(path, pattern=name) if path.suffix == ".tiktoken" else conversion.load(path)
    if spec.dialect == "byte_level" and not spec.added_tokens:
        spec = spec.replace(added_tokens=(AddedToken("<|endoftext|>", spec.n_vocab + 1),))  # behind a gap, as cl100k's is
    return spec


def _check(name: str, spec: TokenizerSpec, place: Path, corpus: Sequence[Path], tally: Tally) -> None:
    held: dict[str, TokenizerSpec] = {}
    for target in tqdm(FORMATS, desc=name, unit=" formats"):
        path = _written(spec, place / target, target)
        if path is None:
            continue
        loader = "official" if target in _RUN_BY_ITS_LIBRARY else "own"
        report = conversion.verify(spec, path, corpus=corpus or None, loader=("own", loader))
        if not report.equal:
            raise Mismatch(f"{name} as {target}:\n{report.summary()}")
        held[target] = found = conversion.load(path)
        difference = first_difference(spec, found)
        if difference is not None or found.special_tokens != spec.special_tokens:
            raise Mismatch(f"{name} back from {target}: {difference or 'the special tokens have other ids'}")
        tally.add(f"{name} in {target}, documents", report.documents)
    # Reading what is the same byte for byte gives the same again, so each file has been read once, above.
    expected = {target: _contents(spec, target) for target in held}
    for source, found in tqdm(held.items(), desc=f"{name}, from each to each", unit=" formats"):
        for target in held:
            if _contents(found, target) != expected[target]:
                path = _written(found, place / source / target, target)
                difference = "it is refused" if path is None else first_difference(spec, conversion.load(path))
                if difference is not None:
                    raise Mismatch(f"{name} from {source} to {target}: {difference}")
            tally.add(f"{name} there and back, pairs", 1)


def _written(spec: TokenizerSpec, folder: Path, target: str) -> Path | None:
    """Where it was written; None where the verdict is that it cannot be, exactly."""
    path = folder / _NAMES.get(target, f"x.{target}")
    if FORMATS[target].write is None:
        return None
    try:
        conversion.save(spec, path, format=target)
    except ConversionRefused as refusal:
        verdict = conversion.check(spec, target)
        if verdict.kind not in ("lossy", "impossible"):
            raise Mismatch(f"the verdict on {target} is {verdict.kind}, and saving refused: {refusal}") from None
        return None
    return path


def _contents(spec: TokenizerSpec, target: str) -> dict[str, bytes] | None:
    """What would be written."""
    chosen, checks = FORMATS[target], Checks()
    name = _NAMES.get(target, f"x.{target}")
    try:
        return chosen.write(chosen.converted(spec, checks) if chosen.converted else spec, name, checks)
    except ConversionRefused:
        return None
