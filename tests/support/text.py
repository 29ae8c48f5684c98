"""Text that tokenizers get wrong."""

from __future__ import annotations

import json
import random
from functools import cache
from importlib.resources import files

from hypothesis import strategies as st

WHITE_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
NOT_QUITE_SPACE = "\x1c\x1f\u180e\u200b\u200c\u200d\u2060\ufeff\x00"
CASES = "aZéÉßẞǅǈŉſKİıʰªºΣςσ"
CONTRACTIONS = [
    "'s",
    "'S",
    "'\u017f",
    "'t",
    "'T",
    "'m",
    "'d",
    "'D",
    "'ll",
    "'LL",
    "'lL",
    "'ve",
    "'Ve",
    "'re",
    "'RE",
    "'l",
    "'v",
    "’s",
    "''",
]
DIGITS = "0123456789٣९Ⅷ½²𝟘"
MARKS = "\u0301\u0308\u094d\u0e34\u20e3\ufe0f\u3099\U000e0100"
SCRIPTS = "дЖאقहกกำ中一龥龦𠀀あゟ゠アヿー한한𞤀𐐀𐐨"
SYMBOLS = "!?.,;:/\\-_#@$%^&*()[]{}<>|~`+=\"'€¿…—“”。、"
PICTURES = ["😉", "👩\u200d💻", "🏳️\u200d🌈", "🇩🇪", "👍🏽", "1️⃣"]
RUNS = ["   ", "\n\n", "\r\n", " \n ", "\t\t", "  \r\n\r\n  ", "aaaa", "1234567", "....", "///", "\n/", "中中", "e\u0301"]
NEW_IN_UNICODE = "\u1c89\U00010d50\U000105c0\U00016100\U0001c3a9\ua7cb"

TROUBLE: list[str] = [
    *WHITE_SPACE, *NOT_QUITE_SPACE, *CASES, *CONTRACTIONS, *DIGITS, *MARKS, *SCRIPTS, *SYMBOLS, *PICTURES, *RUNS, *NEW_IN_UNICODE,
    *" " * 12, *"\n" * 4, *"'" * 4, *"sStTaA1/", "the", "Hello", "HTTPServer", "iPhone",
]  # fmt: skip


def difficult_text(max_size: int = 40) -> st.SearchStrategy[str]:
    """Short text, most of it trouble."""
    pieces = st.one_of(st.sampled_from(TROUBLE), st.sampled_from(TROUBLE), st.characters(exclude_categories=["Cs"]))
    return st.lists(pieces, max_size=max_size).map("".join)


def plain_text(alphabet: str = "abc é中", max_size: int = 60) -> st.SearchStrategy[str]:
    """Text over few characters, so that merges apply."""
    return st.text(alphabet, max_size=max_size)


def generated_text(seed: int, length: int) -> str:
    """Long text drawn from the trouble, the same for the same seed."""
    return "".join(random.Random(seed).choices(TROUBLE, k=length))


def every_code_point() -> list[str]:
    """All characters that UTF-8 can hold."""
    return [chr(code_point) for code_point in range(0x110000) if not 0xD800 <= code_point < 0xE000]


@cache
def property_spans() -> dict[str, list[list[int]]]:
    """Property -> [first, last] of each span, in Unicode 16.0."""
    tables = json.loads(files("hf_bpe.engine").joinpath("unicode_tables.json").read_text("utf-8"))
    return {name: spans for name, spans in tables.items() if isinstance(spans, list)}


def assigned_code_points() -> list[str]:
    """All characters with a category of their own in Unicode 16.0: neither unassigned nor private."""
    without = {c for name in ("Cn", "Co") for first, last in property_spans()[name] for c in range(first, last + 1)}
    return [character for character in every_code_point() if ord(character) not in without]


def varied_code_points() -> list[str]:
    """All assigned characters but those deep within a long run of one kind (ideographs, Hangul), of which every 40th."""
    uniform = {
        c for first, last in property_spans()["Lo"] if last - first > 400 for c in range(first + 40, last - 40) if c % 40
    }
    return [character for character in assigned_code_points() if ord(character) not in uniform]


def edges_of_properties() -> list[str]:
    """The first and the last character of every span of every property, and the characters beside them."""
    edges = {c for spans in property_spans().values() for first, last in spans for c in (first - 1, first, last, last + 1)}
    return sorted(chr(c) for c in edges if 0 <= c < 0x110000 and not 0xD800 <= c < 0xE000)
