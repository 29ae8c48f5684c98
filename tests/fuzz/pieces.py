"""Strings and documents against sentencepiece: models out of packages, trained ones, random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

from tqdm import tqdm

from conversion.sentencepiece.model import parse_model
from hf_bpe import Encoder, TokenizerSpec
from tests.fuzz.subjects import Mismatch, Tally, shown, shrink
from tests.fuzz.texts import Documents, any_character, strings
from tests.support.pieces import PACKAGED, TRAINED, difference, model, processor, random_pieces_spec, serialised, spliced

BATCH = 1000
DOCUMENT_EVERY = 20
TABLE = "random pieces"


def check(spec: TokenizerSpec, encoder: Encoder, official: Any, text: str, where: str) -> None:
    """Ids, offsets and decoded text. Raises `Mismatch` with a text as short as can be."""
    found = difference(encoder, official, text)
    if found is None:
        return

    def differs(candidate: str) -> bool:
        return difference(Encoder(spec, engine=encoder.engine), official, candidate) is not None  # type: ignore[arg-type]

    if differs(text):
        text = shrink(text, differs)
        found = difference(encoder, official, text) or found
    else:
        where = f"only after other texts: {where}"
    raise Mismatch(f"{where}\ntext = {shown(text)}\n{found}")


def check_decoding(encoder: Encoder, official: Any, generator: random.Random, where: str) -> None:
    """Any ids, bytes more often than others."""
    low, n = min(300, official.vocab_size()), official.vocab_size()
    ids = [generator.randrange(generator.choice((low, n))) for _ in range(generator.randrange(10))]
    ours, theirs = encoder.decode(ids), official.decode(ids)
    if ours != theirs:
        raise Mismatch(f"decode of {ids}: {where}\nours = {ours!a}\nsentencepiece = {theirs!a}")


def texts_of(generator: random.Random, documents: Documents, count: int) -> Iterator[str]:
    """Short strings of three kinds; now and then a document."""
    found = strings(count // 2, generator, documents.stretch(generator, 40_000) + " " * 500)
    found += [spliced(generator) for _ in range(count // 4)]
    while len(found) < count:
        found.append("".join(any_character(generator) for _ in range(generator.randrange(8))))
    return iter(found)


def run(documents: Documents, count: int, engine: str, only: list[str], seed: int, tally: Tally) -> None:
    """So many strings, shared out over the models."""
    names = only or [*PACKAGED, *TRAINED, TABLE]
    for name in names:
        share = count // len(names)
        with tqdm(total=share, unit=" strings", unit_scale=True, desc=name) as bar:
            for number in range(-(-share // BATCH)):
                generator = random.Random(f"{name} {seed} {number}")
                size = min(BATCH, share - number * BATCH)
                batch = partial(run_table if name == TABLE else run_model, name, generator, documents, size, engine)
                batch(f"batch {number} of seed {seed} of {name}", number)
                bar.update(size)
                tally.add(name, size)


def run_model(
    name: str, generator: random.Random, documents: Documents, size: int, engine: str, where: str, number: int
) -> None:
    """Strings, and in some batches a document, on one model."""
    spec, encoder, official = _loaded(name, engine)
    for text in texts_of(generator, documents, size):
        check(spec, encoder, official, text, where)
        check_decoding(encoder, official, generator, where)
    if number % DOCUMENT_EVERY == 0:
        check(spec, encoder, official, documents.document(generator)[:100_000], f"document: {where}")


def run_table(
    name: str, generator: random.Random, documents: Documents, size: int, engine: str, where: str, number: int
) -> None:
    """Strings on a table of pieces made for them, a new one for every hundred."""
    for done in range(0, size, 100):
        spec = random_pieces_spec(generator)
        encoder, official = Encoder(spec, engine=engine), serialised(spec)  # type: ignore[arg-type]
        for _ in range(min(100, size - done)):
            text = "".join(generator.choices("aabbcc z\u2581%", k=generator.choice((3, 10, 30))))
            check(spec, encoder, official, text, f"{spec.sentencepiece}, {where}")
            check_decoding(encoder, official, generator, f"{spec.sentencepiece}, {where}")


_kept: dict[tuple[str, str], tuple[TokenizerSpec, Encoder, Any]] = {}


def _loaded(name: str, engine: str) -> tuple[TokenizerSpec, Encoder, Any]:
    if (name, engine) not in _kept:
        spec = parse_model(model(name), name)
        _kept[name, engine] = spec, Encoder(spec, engine=engine), processor(model(name))  # type: ignore[arg-type]
    return _kept[name, engine]
