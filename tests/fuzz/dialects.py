"""Random texts of patterns, mostly odd: read here as the engine reads them that they are written for, or refused."""

from __future__ import annotations

import random

from tqdm import tqdm

from hf_bpe.errors import PatternError
from hf_bpe.pattern_syntax import Dialect, matches_empty, parse
from tests.fuzz.subjects import Mismatch, Tally, shown
from tests.support.dialects import DIALECTS, matches_here, matches_there

FRAGMENTS = [
    *"ab1sStkK_{}|()[]^$.-+*?#~&²ßÉ \n",
    "{,}", "{}", "{1}", "{1,2}", "{,2}", "{2,}", "{ 1,2 }", "{1, 2}", "{01}", "{a}", "{e}", "{i<=1}", "{1", "??", "++", "+?", "*+", "[]", "[^]", "&&", "--",
    "||", "~~", "[:alpha:]", "(?:", "(?>", "(?i:", "(?i)", "(?s)", "(?is)", "(?m)", "(?s:", "(?m:", "(?P<n>", "(?<n>", "(?'n'", "(?|", "(?=", "(?!", "(?<=",
    "(?<!", r"\A", r"\z", r"\Z", r"\b", r"\B", r"\b{start}", r"\b{", r"\<", r"\>", r"\012", r"\0", r"\x41", r"\x{41}", r"\x4", r"\u0041", r"\u{41}", r"\U00000041",
    r"\v", r"\a", r"\e", r"\n", r"\s", r"\S", r"\d", r"\D", r"\w", r"\W", r"\p{Lu}", r"\P{Lu}", r"\p{Lt}", r"\p{L}", r"\p{^L}", r"\P{^L}", r"\pL", r"\p{LC}", r"\p{M}",
    r"\p{sc:Greek}", r"\p{Greek}", r"\p{Script=Greek}", r"\p{Letter}", r"\-", r"\]", r"\ ", r"\#", r"\/", r"\_", r"\&", r"\{", r"\Q", r"\E", r"\h", r"\N", r"\X",
]  # fmt: skip
TEXTS = [
    "aAbB1 \n_²ß", "ab 1a{1}a{,}b{}a{1, 2}", "aaabbb111", "<a>b", "[]a-^b]", "sSſstﬆßss", "kK\u212aiI\u0130\u0131", "éÉǅ\u0345ι", "a&b-c~d|e#f", "αβ A\xb5",
    "\x00\x01012\n", "A\n", "a\n\n", "\\", "\x0b\x0c\x85\u2028\u180e\u200c\u200d",
]  # fmt: skip


def pattern(generator: random.Random) -> str:
    """A few fragments in a row, the brackets closed more often than not."""
    text = "".join(generator.choices(FRAGMENTS, k=generator.randint(1, 4)))
    if generator.random() < 0.7:
        text += "]" * (text.count("[") > text.count("]")) + ")" * max(0, text.count("(") - text.count(")"))
    return text


def run(count: int, seed: int, tally: Tally) -> None:
    """So many patterns for each dialect."""
    for number in tqdm(range(count), unit=" patterns"):
        chosen = pattern(random.Random(f"dialects {seed} {number}"))
        for dialect in DIALECTS:
            check(dialect, chosen)
        tally.add("patterns", 1)


def check(dialect: Dialect, chosen: str) -> None:
    """Nothing to say of what either side refuses. Raises `Mismatch`."""
    try:
        if matches_empty(parse(chosen, dialect)):
            return
        here = matches_here(dialect, chosen)
    except PatternError:
        return
    try:
        there = matches_there(dialect, chosen)
    except Exception:  # noqa: BLE001 - each library raises its own
        return
    wrong = next((text for text in TEXTS if here(text) != there(text)), None)
    if wrong is not None:
        raise Mismatch(f"{dialect}: {chosen!r}\ntext = {shown(wrong)}: {there(wrong)} there, {here(wrong)} here")
