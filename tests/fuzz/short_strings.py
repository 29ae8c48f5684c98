"""Millions of short strings against tiktoken, and some of them against the reference."""

from __future__ import annotations

import random

from tqdm import tqdm

from hf_bpe import Encoder
from tests.fuzz.subjects import Mismatch, Subject, Tally, shown
from tests.fuzz.texts import Documents, strings

BATCH = 50_000
REFERENCE_EVERY = 200


def run(subject: Subject, documents: Documents, count: int, seed: int, tally: Tally) -> None:
    """So many strings."""
    reference = Encoder(subject.spec, engine="reference")
    with tqdm(total=count, unit=" strings", unit_scale=True, desc=subject.name) as bar:
        number = done = 0
        while done < count:
            where = f"batch {number} of seed {seed}"
            generator = random.Random(f"{subject.name} {seed} {number}")
            texts = strings(min(BATCH, count - done), generator, documents.stretch(generator, 400_000) * 2 + " " * 2000)
            check(subject, reference, texts, number, where)
            bar.update(len(texts))
            done += len(texts)
            tally.add(subject.name, len(texts) / 1e6)
            number += 1


def check(subject: Subject, reference: Encoder, texts: list[str], number: int, where: str) -> None:
    """A batch of strings. Raises `Mismatch`."""
    expected = list(map(subject.official.encode_ordinary, texts))
    if number % 3 == 0:
        found = list(map(subject.ours.encode_ordinary, texts))
    elif number % 3 == 1:
        found = subject.ours.encode_ordinary_batch(texts, num_threads=2)
    else:
        found = [row.tolist() for row in subject.ours.encode_ordinary_batch_to_numpy(texts, num_threads=2).rows()]
    if found != expected:
        at = next(at for at, (ours, official) in enumerate(zip(found, expected, strict=True)) if ours != official)
        raise subject.mismatch(texts[at], "a batch" if number % 3 else "encode_ordinary", f"string {at} of {where}")
    for at in range(number % REFERENCE_EVERY, len(texts), REFERENCE_EVERY):
        text, ids = texts[at], expected[at]
        if reference.encode_ordinary(text) != ids:
            raise Mismatch(
                f"{subject.name}: the reference differs; string {at} of {where}\ntext = {shown(text)}\ntiktoken = {ids}"
            )
        for unit in ("bytes", "characters"):
            ours, theirs = (engine.encode_with_offsets(text, unit=unit) for engine in (subject.ours, reference))
            if ours[0].tolist() != ids or ours[1].tolist() != theirs[1].tolist():
                raise Mismatch(f"{subject.name}: offsets in {unit} differ; string {at} of {where}\ntext = {shown(text)}")
