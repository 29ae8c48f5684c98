"""Random patterns: both engines of this package, tiktoken, tokenizers, PCRE2 and the `regex` module split texts alike."""

from __future__ import annotations

import random
from collections.abc import Callable

import pcre2
from tqdm import tqdm

from hf_bpe import Encoder
from hf_bpe.engine.reference import pretokenize
from hf_bpe.errors import PatternError
from hf_bpe.pattern_syntax import parse
from hf_bpe.pattern_syntax.fusion import fused
from hf_bpe.pattern_syntax.writer import render
from hf_bpe.patterns import check_pattern, pattern_for
from tests.fuzz.subjects import Mismatch, Tally, shown, shrink
from tests.support.official import oniguruma_pieces, tiktoken_ids_of_pieces
from tests.support.vocabularies import byte_spec

ATOMS = [
    "a", "b", "s", " ", "1", r"\n", ".", r"\s", r"\S", r"\d", r"\p{L}", r"\p{Lu}", r"\p{N}", r"\p{M}", r"\P{L}", r"\p{Han}", "[ab1]", "[^a ]",
    r"[^\s\p{L}\p{N}]", r"[\p{L}\p{M}]", r"[^\r\n\p{L}\p{N}]", "[一-龥]", "(?i:'s)", "é", r"[\s\S]", r"\w", r"[^\W\d]",
]  # fmt: skip
QUANTIFIERS = ["", "", "", "+", "*", "?", "++", "*+", "?+", "+?", "{1,3}", "{2}", "{1,2}+", "{2,}"]
LOOKS = [r"(?!\S)", r"(?=\s)", "$", r"(?!a)", r"\Z", r"(?<=a)", r"(?<!\s)"]
TEXT = [*"abcABsS1٣²  \n\r\t.,'é中あ_\u0301\u3000\u200bſ"]
TEXTS = 40


def pattern(generator: random.Random) -> str:
    """One of the supported grammar; it may still be one that can match nothing."""

    def sequence(depth: int) -> str:
        parts = []
        for _ in range(generator.randint(1, 3)):
            atom = generator.choice(ATOMS)
            if depth and generator.random() < 0.2:
                atom = f"({generator.choice(['?:', '?>'])}{sequence(depth - 1)}|{sequence(depth - 1)})"
            parts.append(atom + generator.choice(QUANTIFIERS))
        return "".join(parts) + (generator.choice(LOOKS) if generator.random() < 0.25 else "")

    return "|".join(sequence(2) for _ in range(generator.randint(1, 4)))


def run(count: int, seed: int, tally: Tally) -> None:
    """So many patterns."""
    for number in tqdm(range(count), unit=" patterns"):
        generator = random.Random(f"patterns {seed} {number}")
        chosen = pattern(generator)
        texts = ["".join(generator.choices(TEXT, k=generator.randrange(25))) for _ in range(TEXTS)]
        try:
            check_pattern(chosen)
        except PatternError:
            continue
        where = f"pattern {number} of seed {seed}"
        check(chosen, texts, where)
        check_fusion(generator.choice([r"\p{N}", r"\s+", "[ab]{1,2}"]), chosen, texts, where)
        tally.add("patterns", 1)


def check(chosen: str, texts: list[str], where: str) -> None:
    """One pattern in all engines. Raises `Mismatch`."""
    native = Encoder(byte_spec(chosen), engine="native")
    in_oniguruma, in_pcre2 = pattern_for(chosen, "oniguruma"), pcre2.compile(pattern_for(chosen, "pcre2"))
    in_tiktoken = pattern_for(chosen, "tiktoken")

    def differs(text: str) -> bool:
        expected = pretokenize(text, chosen)
        matched = pretokenize(text, chosen, "drop")
        ids, found = tiktoken_ids_of_pieces(in_tiktoken, text, matched)
        matches = [match.group() for match in in_pcre2.finditer(text)]
        return not (
            native.pretokenize(text) == expected == oniguruma_pieces([in_oniguruma], text)
            and ids == found
            and matches == matched
        )

    refuse_difference(differs, texts, f"{where}: {chosen!r}")


def check_fusion(first: str, second: str, texts: list[str], where: str) -> None:
    """Two patterns in a row, fused if they can be. Raises `Mismatch`."""
    both = fused(parse(first), parse(second))
    if both is None:
        return
    written = render(both, "regex")

    def differs(text: str) -> bool:
        return pretokenize(text, written) != pretokenize(text, first, stages=[second])

    refuse_difference(differs, texts, f"{where}, fused: {first!r}, then {second!r}")


def refuse_difference(differs: Callable[[str], bool], texts: list[str], what: str) -> None:
    """Raise `Mismatch` for the first text that differs, made short."""
    wrong = next((text for text in texts if differs(text)), None)
    if wrong is not None:
        raise Mismatch(f"{what}\ntext = {shown(shrink(wrong, differs))}")
