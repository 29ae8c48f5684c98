"""Real vocabularies extended, pruned, with tokens replaced: what that promises, on every text, here and in stock classes."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tqdm import tqdm

from hf_bpe import TokenizerSpec
from hf_bpe.editing import extend, prune, replace_tokens
from tests.editing.checks import check_extended, check_pruned, check_replaced, check_stock, leaf_ids
from tests.fuzz.conversions import published
from tests.fuzz.subjects import Mismatch, Tally
from tests.fuzz.texts import Documents

GREEK = ["Ἐν ἀρχῇ ἦν ὁ λόγος, καὶ ὁ λόγος ἦν πρὸς τὸν θεόν, καὶ θεὸς ἦν ὁ λόγος. " * 3, "qzxqzx qzxj qzx" * 3] * 5
SPECIAL = ["<|tool|>", "<|image_0|>", "<|image_1|>"]
_LEARNT = 6
_STOCK_TEXTS = 2000


def extended(spec: TokenizerSpec, texts: list[str], place: Path) -> tuple[int, int]:
    """Learn tokens, and add special ones. How many texts are as they were, and how many are not."""
    found = extend(spec, GREEK, _LEARNT, progress=False)
    texts = [*texts, *GREEK[:2]]
    shorter = check_extended(spec, found, texts)
    with_special = found.spec.with_added_tokens(SPECIAL)
    check_stock(with_special, place / "extended", [*texts[-_STOCK_TEXTS:], f"{GREEK[1]}<|image_1|> x<|tool|>"])
    return len(texts) - shorter, shorter


def pruned(spec: TokenizerSpec, texts: list[str], place: Path) -> tuple[int, int]:
    """Remove a script and the tokens that are used least, down to nine tenths."""
    gone = prune(spec, scripts=["Cyrillic"], corpus=texts[::2], vocab_size=spec.vocab_size * 9 // 10)
    counts = check_pruned(spec, gone, texts)
    check_stock(gone.spec, place / "pruned", texts[-_STOCK_TEXTS:])
    return counts


def without_unwanted(spec: TokenizerSpec, texts: list[str], place: Path) -> tuple[int, int]:
    """Remove what a quarter of the texts uses and another does not: no text of the second changes."""
    wanted = texts[::4]
    gone = prune(spec, corpus=wanted, unwanted=texts[1::4])
    assert check_pruned(spec, gone, wanted) == (len(wanted), 0)
    counts = check_pruned(spec, gone, texts)
    check_stock(gone.spec, place / "without", texts[-_STOCK_TEXTS:])
    return counts


def replaced(spec: TokenizerSpec, texts: list[str], place: Path) -> tuple[int, int]:
    """Put tokens that are learnt in the places of the last ones that no others are made of."""
    learnt = [*extend(spec, GREEK, 3, min_frequency=1, progress=False).learnt.values()]
    found = replace_tokens(spec, dict(zip(leaf_ids(spec)[-len(learnt) :], learnt, strict=True)))
    texts = [*texts, *GREEK[:2], *(old.decode("utf-8", "replace") for old, _ in found.replaced.values())]
    counts = check_replaced(spec, found, texts)
    check_stock(found.spec, place / "replaced", texts[-_STOCK_TEXTS:])
    return counts


EDITS: dict[str, Callable[[TokenizerSpec, list[str], Path], tuple[int, int]]] = {
    "extend": extended,
    "prune": pruned,
    "prune unwanted": without_unwanted,
    "replace": replaced,
}


def run(folder: Path | None, only: Sequence[str], corpus: Sequence[Path], count: int, seed: int, tally: Tally) -> None:
    """Every edit of every vocabulary, on so many texts: stretches of the corpus, half of them mutated. Raises `Mismatch`."""
    source, generator = Documents([*corpus]), random.Random(seed)
    texts = [source.stretch(generator, 2000) for _ in range(count // 2)]
    texts += [source.document(generator)[:20_000] for _ in range(count - len(texts))]
    for name, spec in published(folder, only):
        for edit, check in tqdm(EDITS.items(), desc=name, unit=" edits"):
            with tempfile.TemporaryDirectory() as place:
                try:
                    as_before, changed = check(spec, texts, Path(place))
                except AssertionError as error:
                    raise Mismatch(f"{name}, {edit}: {error}") from error
            tally.add(f"{name}, {edit}: texts with the ids they had", as_before)
            tally.add(f"{name}, {edit}: texts with others", changed)
