"""Published vocabularies to every format that holds them, run there by the format's own library; and from each to each and back."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import conversion
from benchmarks.vocabularies import sources
from conversion.equality import first_difference
from conversion.registry import FORMATS
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
    paths = sources(folder) | {"tekken": TEKKEN_FILE}
    for name in only or paths:
        with tempfile.TemporaryDirectory() as place:
            _check(name, _load(name, paths[name]), Path(place), corpus, tally)


def _load(name: str, path: Path) -> TokenizerSpec:
    spec = conversion.load(path, pattern=name) if path.suffix == ".tiktoken" else conversion.load(path)
    if spec.dialect == "byte_level" and not spec.added_tokens:
        spec = spec.replace(added_tokens=(AddedToken("<|endoftext|>", spec.n_vocab + 1),))  # behind a gap, as cl100k's is
    return spec


def _check(name: str, spec: TokenizerSpec, place: Path, corpus: Sequence[Path], tally: Tally) -> None:
    held: dict[str, TokenizerSpec] = {}
    for target in FORMATS:
        path = _written(spec, place / "there" / target, target)
        if path is not None:
            loader = "official" if target in _RUN_BY_ITS_LIBRARY else "own"
            report = conversion.verify(spec, path, corpus=corpus or None, loader=("own", loader))
            if not report.equal:
                raise Mismatch(f"{name} as {target}:\n{report.summary()}")
            held[target] = conversion.load(path)
            tally.add(f"{name} in {target}, documents", report.documents)
    for source, found in held.items():
        for target in held:
            path = _written(found, place / source / target, target)
            difference = "it is refused" if path is None else first_difference(spec, back := conversion.load(path))
            if difference is None and back.special_tokens != spec.special_tokens:
                difference = "the special tokens have other ids"
            if difference is not None:
                raise Mismatch(f"{name} from {source} to {target}: {difference}")
            tally.add(f"{name} there and back, pairs", 1)


def _written(spec: TokenizerSpec, folder: Path, target: str) -> Path | None:
    """Where it was written; None where the verdict is that it cannot be, exactly."""
    path = folder / _NAMES.get(target, f"x.{target}")
    if FORMATS[target].write is None or conversion.check(spec, target).kind in ("lossy", "impossible"):
        return None
    try:
        conversion.save(spec, path, format=target)
    except ConversionRefused as refusal:
        raise Mismatch(f"the verdict on {target} was exact, and saving refused: {refusal}") from None
    return path
