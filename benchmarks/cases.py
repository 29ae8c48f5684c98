"""The strings measured with: hostile ones, and short ones cut from a corpus."""

from __future__ import annotations

import base64
import random
import unicodedata
from collections.abc import Callable

SEED = 20240229


def _base64(length: int) -> str:
    return base64.b64encode(random.Random(SEED).randbytes(length))[:length].decode()


def _random_unicode(length: int) -> str:
    """Any assigned characters, about `length` bytes of them: libraries differ by version of Unicode on the others."""
    generator = random.Random(SEED)
    characters: list[str] = []
    while len(characters) < length // 4:
        character = chr(generator.randrange(0x110000))
        if unicodedata.category(character) not in ("Cn", "Cs"):
            characters.append(character)
    return "".join(characters)


# Name -> a string of about so many bytes. One piece, or pieces that nobody has in a table, is where merging can turn quadratic.
HOSTILE: dict[str, Callable[[int], str]] = {
    "one letter": lambda length: "a" * length,
    "spaces": lambda length: " " * length,
    "newlines": lambda length: "\n" * length,
    "digits": lambda length: ("0123456789" * (length // 10 + 1))[:length],
    "^": lambda length: "^" * length,
    "base64": _base64,
    "random Unicode": _random_unicode,
}


def short_strings(texts: list[str], length: int, count: int) -> list[str]:
    """`count` different stretches of `length` characters, spread over the texts."""
    whole = "\n".join(texts)
    step = max(length, len(whole) // (2 * count))
    found = dict.fromkeys(whole[start : start + length] for start in range(0, len(whole) - length, step))
    return list(found)[:count]
