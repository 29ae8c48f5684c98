"""Long documents against tiktoken, through every call that gives ids."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from tqdm import tqdm

from hf_bpe import Encoder
from tests.fuzz.subjects import Subject, Tally
from tests.fuzz.texts import Documents


def _of_buffer(encoder: Encoder, text: str) -> Any:
    data = text.encode()
    middle = len(text[: len(text) // 2].encode())
    first, second = encoder.encode_ordinary_utf8(data, np.array([0, 0, len(data)]), num_threads=1).rows()
    encoder.encode_ordinary_utf8(data, np.array([middle, len(data)]), num_threads=1)
    return np.concatenate([first, second])


def _with_offsets(encoder: Encoder, text: str) -> Any:
    ids, spans = encoder.encode_with_offsets(text, unit="bytes")
    length = len(text.encode())
    covered = not length or (spans[0, 0] == 0 and spans[-1, 1] == length and (spans[1:, 0] == spans[:-1, 1]).all())
    return ids if covered and (spans[:, 0] < spans[:, 1]).all() else np.array([-1])


CALLS: dict[str, Callable[[Encoder, str], Any]] = {
    "encode_ordinary_to_numpy": Encoder.encode_ordinary_to_numpy,
    "encode_ordinary": Encoder.encode_ordinary,
    "encode_ordinary_batch_to_numpy": lambda encoder, text: encoder.encode_ordinary_batch_to_numpy([text], num_threads=1).ids,
    "encode_ordinary_utf8": _of_buffer,
    "encode_with_offsets": _with_offsets,
}


def check(subject: Subject, text: str, call: str, where: str) -> None:
    """Ids, their number, and the text they stand for. Raises `Mismatch`."""
    expected = subject.official.encode_to_numpy(text, disallowed_special=())
    if not np.array_equal(np.asarray(CALLS[call](subject.ours, text), dtype=np.int64), expected.astype(np.int64)):
        raise subject.mismatch(text, call, where)
    if subject.ours.count_ordinary(text) != len(expected):
        raise subject.mismatch(text, "count_ordinary", where)
    if subject.ours.decode(expected, "strict") != text:
        raise subject.mismatch(text, "decode", where)


def run(subject: Subject, documents: Documents, megabytes: float, seed: int, tally: Tally) -> None:
    """Documents until there were so many megabytes."""
    names = list(CALLS)
    with tqdm(total=round(megabytes * 1e6), unit="B", unit_scale=True, desc=subject.name) as bar:
        number = 0
        while bar.n < megabytes * 1e6:
            generator = random.Random(f"{subject.name} {seed} {number}")
            text = documents.document(generator)
            check(subject, text, names[number % len(names)], f"document {number} of seed {seed}")
            size = len(text.encode())
            bar.update(size)
            tally.add(subject.name, size / 1e6)
            number += 1
