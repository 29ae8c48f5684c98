"""Texts made for two tokenizers: each aimed at something in which they, or the libraries that run them, may differ."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice, pairwise, zip_longest

from conversion.merges import out_of_reach
from conversion.verification.descriptions_apart import token_texts_apart
from conversion.verification.merges_apart import as_text, texts_merged_apart, tokens_apart
from conversion.verification.patterns_apart import characters_told_apart, short_texts, texts_split_apart
from conversion.verification.side import Side
from conversion.verification.unicode_versions import edges_of_categories
from hf_bpe.normalizers import Replace
from hf_bpe.spec import TokenizerSpec

__all__ = ["generated_texts"]

_MOST_OF_A_KIND = 20_000
_MOST_OF_TOKENS = 2000
"""Texts of tokens that differ already by description; where all do, more of them say nothing new."""
_SURROUNDINGS = ("{}", "a{}", "{}a", " {}", "{} ", "1{}1")
_MOST_SPECIALS = 300

_NORMALISED = (
    "e\u0301", "\u00e9", "\u1e9b\u0323", "\u0344", "\u212b", "\u2126", "\ufb01", "\u2460", "\uff76\uff9e", "\uff21", "\u00bd", "\u1100\u1161\u11a8",
    "\uac01", "\u0958", "\u2f00", "\uf900", "\U0001d15e", "\u0130", "I\u0307", "\u00df", "\u1e9e", "\u03a3", "\u0149", "\u01c5",
    "\u3000", "\u00a0", "\u2003", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u0000", "\u0001", "\u007f", "\u0085", "\u2028", "\t", "\r\n",
    "\u2581", "  ", "   ", "``", "''", "\u201c", "\u2019", "\u2026", "a\u0327\u0301", "a\u0301\u0327", "\u4e2d", "\u0e33", "\u1fbe",
)  # fmt: skip


def generated_texts(a: Side, b: Side) -> Iterator[str]:
    """Each text once, and the most telling kinds first."""
    kinds = (
        _specials(a, b),
        _splits(a, b),
        _unreachable(a, b),
        _merges(a, b),
        _tokens(a, b),
        _descriptions(a, b),
        _normalised(a, b),
        _categories(a, b),
    )
    return iter(dict.fromkeys(text for text in chain.from_iterable(islice(kind, _MOST_OF_A_KIND) for kind in kinds) if text))


def _specials(a: Side, b: Side) -> Iterator[str]:
    """Added tokens in other spellings and against each other; `nasty_strings` has their plain surroundings."""
    contents = sorted({token.content for side in (a, b) for token in side.added_tokens})[:_MOST_SPECIALS]
    for content in contents:
        yield from (content.upper(), content.lower(), content[1:], f"{content[:1]} {content[1:]}", f"{content}{content[1:]}")
        yield from (
            f"a {content}  b",
            f"a\t{content}\tb",
            f"a{content} b",
            f"\u2581{content}",
            f"{content[:-1]}{content}",
            f"_{content}_",
        )
        yield from (f"e\u0301{content}\u0301", f"\uff1c{content}", f"\u200b{content}\u200b", f" \n{content}\n ")
    for left, right in pairwise(contents):
        yield from (left + right, right + left, f"{left} {right}", left[:-1] + right)


def _splits(a: Side, b: Side) -> Iterator[str]:
    """Texts that the patterns split differently, with more around them: whether ids differ depends on the vocabulary too."""
    if a.nearest is None or b.nearest is None:
        return
    for one, other in _patterns_apart(a.nearest, b.nearest):
        yield from islice(_split_by(one, other), _MOST_OF_A_KIND // 2)


def _patterns_apart(a: TokenizerSpec, b: TokenizerSpec) -> Iterator[tuple[str | None, str | None]]:
    """The patterns of each stage, and of replacements in each step of normalising, where they differ; None: no such stage."""
    yield from (pair for pair in zip_longest((a.pattern, *a.stages), (b.pattern, *b.stages)) if pair[0] != pair[1])
    if a.unmatched != b.unmatched:  # what no match takes
        yield a.pattern, None
    replaced = [{step.pattern for step in spec.normalizer if isinstance(step, Replace)} for spec in (a, b)]
    yield from ((pattern, None) for pattern in sorted(replaced[0] ^ replaced[1]))


def _split_by(one: str | None, other: str | None) -> Iterator[str]:
    characters = characters_told_apart(one, other)
    for text in texts_split_apart(one, other):
        yield from (
            text,
            *(surrounding.format(text) for surrounding in _SURROUNDINGS),
            *(text + more for more in characters[:20]),
        )
    yield from short_texts(characters, 3 if len(characters) <= 20 else 2)
    yield from (left + right for left in ("a", " ", "1", "'", "\n") for right in short_texts(characters[:60]))


def _unreachable(a: Side, b: Side) -> Iterator[str]:
    """Tokens that only a look at the whole piece finds, alone and in words, where either side looks."""
    for spec in (a.nearest, b.nearest):
        if spec is not None and spec.ignore_merges and spec.sentencepiece is None:
            texts = filter(None, map(as_text, out_of_reach(spec.vocab, spec.merges)))
            yield from (surrounding.format(text) for text in texts for surrounding in _SURROUNDINGS)


def _merges(a: Side, b: Side) -> Iterator[str]:
    if a.nearest is not None and b.nearest is not None:
        yield from texts_merged_apart(a.nearest.merges, b.nearest.merges)


def _tokens(a: Side, b: Side) -> Iterator[str]:
    if a.nearest is not None and b.nearest is not None:
        yield from tokens_apart(a.nearest, b.nearest)


def _descriptions(a: Side, b: Side) -> Iterator[str]:
    if a.nearest is not None and b.nearest is not None:
        yield from islice(token_texts_apart(a.nearest, b.nearest), _MOST_OF_TOKENS)


def _normalised(a: Side, b: Side) -> Iterator[str]:
    """What normalisers change, where either side has one or may have."""
    if not any(map(_may_normalise, (a, b))):
        return
    for text in _NORMALISED:
        yield from (surrounding.format(text) for surrounding in _SURROUNDINGS)
    yield from _decomposable()


def _may_normalise(side: Side) -> bool:
    if side.spec is None:
        return side.parts is None or side.parts.get("normalizer") is not None
    return side.spec.sentencepiece is not None or any(
        getattr(side.spec, name, None) for name in ("normalizer", "add_prefix_space")
    )


@cache
def _decomposable() -> tuple[str, ...]:
    """Characters that Unicode takes apart, but for Hangul, whose rule is one."""
    characters = (chr(code) for code in range(0xA0, 0x2FA20) if not 0xAC00 <= code < 0xE000)
    return tuple(character for character in characters if unicodedata.decomposition(character))


def _categories(a: Side, b: Side) -> Iterator[str]:
    """Where one category of characters ends and another begins, for two libraries that may know two versions of Unicode."""
    if a.engine != b.engine:
        yield from (f"a{character}1 {character}{character}" for character in edges_of_categories())
