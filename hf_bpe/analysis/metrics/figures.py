"""What the counts of a corpus say: figures for each token, word and character, parity, and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hf_bpe.analysis.metrics.counting import TextCounts, TokenCounts

__all__ = ["about_text", "about_tokens", "parity", "ratio"]

_MILLION = 1_000_000
_PLACES_OF_COST = 12
"""A token may cost a ten-millionth."""


def ratio(value: float, by: float) -> float | None:
    """Rounded to six places; None where there is nothing to divide by."""
    return round(value / by, 6) if by else None


def about_text(text: TextCounts) -> dict[str, Any]:
    """What a corpus is, whoever encodes it.

    >>> about_text(TextCounts(documents=1, bytes=9, characters=9, words=2, letters=8))["letters_in_scripts_without_spaces"]
    0.0
    """
    return {
        "documents": text.documents,
        "bytes": text.bytes,
        "characters": text.characters,
        "words": text.words,
        "letters_in_scripts_without_spaces": ratio(text.spaceless, text.letters),
    }


def about_tokens(text: TextCounts, counts: TokenCounts, unknown: int | None, price: float | None) -> dict[str, Any]:
    """What one tokenizer makes of a corpus. Figures for each word are None where words are not told apart by spaces.

    unknown: the id that stands for what the vocabulary lacks. price: of a million tokens.
    """
    tokens, told = counts.tokens, text.words_are_told
    return {
        "tokens": tokens,
        "bytes_per_token": ratio(text.bytes, tokens),
        "characters_per_token": ratio(text.characters, tokens),
        "tokens_per_word": ratio(counts.touching, text.words) if told else None,
        "single_token_words": ratio(counts.whole, text.words) if told else None,
        "unknown": ratio(int(counts.by_id[unknown]), tokens) if unknown is not None else 0.0,
        "indentation": ratio(counts.indenting, tokens),
        "cost": None if price is None else round(tokens * price / _MILLION, _PLACES_OF_COST),
        "cost_of_a_million_characters": None if price is None else ratio(tokens * price, text.characters),
    }


def parity(reference: str, amounts: Mapping[str, int]) -> dict[str, float | None]:
    """How many times as much each parallel text takes as that of the reference does.

    >>> parity("en", {"en": 4, "de": 6})
    {'en': 1.0, 'de': 1.5}
    """
    return {name: ratio(amount, amounts[reference]) for name, amount in amounts.items()}
