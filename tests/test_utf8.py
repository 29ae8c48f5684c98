"""Whether bytes can begin a text, or stand within one, is what all characters there are say of it."""

from __future__ import annotations

import itertools
import random
import sys
from functools import cache

from hf_bpe.utf8 import begins_text, is_within_text

# Where the rules of UTF-8 change, and the bytes beside.
BYTES = [
    *(0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1),
    *(0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF),
]


@cache
def character_parts() -> tuple[frozenset[bytes], frozenset[bytes], frozenset[bytes]]:
    """Whole characters, what stands at their start, and at their end or inside: of a few code points for every pair of first bytes."""
    edges = {start + step for start in range(0, sys.maxunicode, 64) for step in (0, 1, 15, 16, 31, 32, 63)}
    whole = {chr(code).encode() for code in edges if code <= sys.maxunicode and not 0xD800 <= code <= 0xDFFF}
    starts = {character[:stop] for character in whole for stop in range(1, len(character))}
    inner = {c[start:stop] for c in whole for start in range(1, len(c)) for stop in range(start, len(c) + 1)}
    return frozenset(whole), frozenset(starts), frozenset(inner)


def begins(content: bytes) -> bool:
    whole, starts, _ = character_parts()
    if not content or content in starts:
        return True
    return any(content[:length] in whole and begins(content[length:]) for length in range(1, 5))


def is_within(content: bytes) -> bool:
    _, _, inner = character_parts()
    return content in inner or any((not cut or content[:cut] in inner) and begins(content[cut:]) for cut in range(4))


def test_every_short_run_of_telling_bytes() -> None:
    found = {True: 0, False: 0}
    for length in range(4):
        for run in itertools.product(BYTES, repeat=length):
            content = bytes(run)
            assert begins_text(content) == begins(content), content
            assert is_within_text(content) == is_within(content), content
            found[is_within_text(content)] += 1
    assert min(found.values()) > 1000


def test_longer_runs() -> None:
    generator = random.Random(1)
    for _ in range(20_000):
        content = bytes(generator.choices(BYTES, k=generator.randint(4, 8)))
        assert begins_text(content) == begins(content), content
        assert is_within_text(content) == is_within(content), content
