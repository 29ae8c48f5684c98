"""Text made to go wrong: real text spliced and mutated, and short strings over alphabets of trouble."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from pathlib import Path

from benchmarks.corpora import corpora
from tests.support.text import (
    CASES,
    CONTRACTIONS,
    DIGITS,
    MARKS,
    NEW_IN_UNICODE,
    NOT_QUITE_SPACE,
    PICTURES,
    RUNS,
    SCRIPTS,
    SYMBOLS,
    TROUBLE,
    WHITE_SPACE,
)

INSERTED = [*WHITE_SPACE, *NOT_QUITE_SPACE, *MARKS, *DIGITS, *SYMBOLS, *CASES, *SCRIPTS, *CONTRACTIONS, *PICTURES, *RUNS]
_SURROGATES = range(0xD800, 0xE000)


def any_character(generator: random.Random) -> str:
    """A code point, of the first plane as often as not."""
    while True:
        code_point = generator.randrange(0x10000) if generator.random() < 0.6 else generator.randrange(0x110000)
        if code_point not in _SURROGATES:
            return chr(code_point)


# ---------------------------------------------------------------------------------------------------------------------
# Mutations: each takes a stretch of text and gives another


def flip_cases(text: str, generator: random.Random) -> str:
    """Every letter, or some words."""
    kind = generator.randrange(4)
    if kind < 3:
        return (text.swapcase, text.upper, text.title)[kind]()
    return " ".join(word.swapcase() if generator.random() < 0.3 else word for word in text.split(" "))


def insert(text: str, generator: random.Random) -> str:
    """Trouble, or any character, or one thing again and again, at random places."""
    kind, only = generator.randrange(3), generator.choice(INSERTED)
    parts, done = [], 0
    step = generator.choice((3, 10, 40, 200))
    while done < len(text):
        stop = done + generator.randint(1, 2 * step)
        parts.append(text[done:stop])
        parts.append(any_character(generator) if kind == 0 else only if kind == 1 else generator.choice(INSERTED))
        done = stop
    return "".join(parts)


def repeat(text: str, generator: random.Random) -> str:
    """A short stretch many times: up to a few thousand characters."""
    unit = text[: generator.choice((1, 1, 2, 3, 5, 8, 20))]
    return unit * int(3000 ** generator.random())


def run_together(text: str, generator: random.Random) -> str:
    """Without its spaces, or without anything but letters: long pieces."""
    return text.replace(" ", "") if generator.random() < 0.5 else "".join(filter(str.isalpha, text))


def replace_spaces(text: str, generator: random.Random) -> str:
    """Other white space, or more of it."""
    return text.replace(" ", generator.choice(WHITE_SPACE) * generator.randint(1, 3))


def shuffle(text: str, generator: random.Random) -> str:
    """The same characters, or words, in any order."""
    parts = text.split(" ") if generator.random() < 0.5 else list(text)
    generator.shuffle(parts)
    return (" " if generator.random() < 0.5 else "").join(parts)


def encode(text: str, generator: random.Random) -> str:
    """As base64, percent signs, escapes or hexadecimal."""
    content = text.encode()
    made = (
        lambda: base64.b64encode(content).decode(),
        lambda: content.hex(),
        lambda: ascii(text),
        lambda: "".join(f"%{byte:02X}" for byte in content),
        lambda: content.decode("latin-1"),
    )
    return generator.choice(made)()


def trouble(text: str, generator: random.Random) -> str:
    """Nothing of it: as much out of the list of trouble."""
    return "".join(generator.choices(TROUBLE, k=len(text) // 2))


def numbers(text: str, generator: random.Random) -> str:
    """Nothing of it: digits of every kind, and what stands between them."""
    return "".join(generator.choices([*"0123456789" * 4, *DIGITS, ".", ",", " ", "a", "\n"], k=len(text) // 2))


MUTATIONS: list[Callable[[str, random.Random], str]] = [
    flip_cases,
    insert,
    insert,
    insert,
    repeat,
    run_together,
    replace_spaces,
    shuffle,
    encode,
    trouble,
    numbers,
]


class Documents:
    """An endless supply of documents: stretches of a corpus, most of them as they are, the others mutated."""

    def __init__(self, files: list[Path], megabytes: float = 8.0) -> None:
        self._corpora = ["\n".join(texts) for texts in corpora(files, megabytes).values()]

    def stretch(self, generator: random.Random, most: int) -> str:
        """A piece of some corpus."""
        corpus = generator.choice(self._corpora)
        start = generator.randrange(len(corpus))
        return corpus[start : start + generator.randint(1, most)]

    def document(self, generator: random.Random) -> str:
        """From a few characters to a quarter of a megabyte."""
        wanted = int(250_000 ** generator.uniform(0.3, 1.0))
        parts, size, wildness = [], 0, generator.choice((0.05, 0.3, 0.7))
        while size < wanted:
            part = self.stretch(generator, generator.choice((20, 200, 2000, 8000)))
            while generator.random() < wildness:
                part = generator.choice(MUTATIONS)(part, generator)[:20_000]
            parts.append(part)
            size += max(1, len(part))
        return generator.choice(("", "", " ", "\n")).join(parts)


# ---------------------------------------------------------------------------------------------------------------------
# Short strings

_ALPHABETS = [
    TROUBLE,
    TROUBLE,
    [*WHITE_SPACE, *"\r\n  \t", "a", "1", "!", "中", "\u0301"],
    [*CONTRACTIONS, *"'’sStTdDmMlLvVeErR", " ", "a", "A", "\u017f", "中", "1"],
    [*CASES, *MARKS, *"aAbBéÉ", "'s", " ", "中", "1"],
    [*DIGITS, *"0123456789 .,a\n", "中"],
    [*SYMBOLS, *"/\\\r\n \t", "a", "A", "1", "中"],
    [*SCRIPTS, *MARKS, *"・ー。 ", "a", "中国", "あい", "กา"],
    [*PICTURES, *"\u200d\ufe0f\u20e3🏻", " ", "a", "1", "#"],
    [*NEW_IN_UNICODE, *NOT_QUITE_SPACE, *"aA1 \n'!"],
    [*"ab ", "aa", "bb"],
]
LONGEST = 40


def strings(count: int, generator: random.Random, words: str) -> list[str]:
    """So many strings of 0 to 40 characters: windows on text drawn from one alphabet, or on real text, or both mixed."""
    kind = generator.randrange(len(_ALPHABETS) + 3)
    length = max(2000, count)
    if kind < len(_ALPHABETS):
        source = "".join(generator.choices(_ALPHABETS[kind], k=length))
    elif kind == len(_ALPHABETS):
        source = "".join(any_character(generator) for _ in range(length))
    elif kind == len(_ALPHABETS) + 1:
        some = [any_character(generator) for _ in range(300)]
        source = "".join(generator.choices([*some, *TROUBLE, *"\ud800\udfff"], k=length))
    else:
        source = insert(words, generator)
    last, draw = len(source) - LONGEST, generator.random
    starts = [int(draw() * last) for _ in range(count)]
    return [source[start : start + int((LONGEST + 1) * draw() ** 1.5)] for start in starts]
