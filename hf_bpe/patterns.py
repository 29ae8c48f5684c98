"""The published split patterns and a few of our own, each with its source. No other module holds one of a tokenizer.

A pattern is looked up by its name, or by its text in whatever spelling makes the same pieces of every text; it is never
guessed from a vocabulary. `\\p{...}` means Unicode 16.0 in every engine of this package, as in tiktoken 0.14 and tokenizers 0.23.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from hf_bpe.errors import PatternError

if TYPE_CHECKING:
    from hf_bpe.pattern_syntax import Dialect

__all__ = ["NAMED_PATTERNS", "NamedPattern", "check_pattern", "find_named_pattern", "pattern_for", "resolve_pattern"]

_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_DEEPSEEK_CJK = "[一-龥぀-ゟ゠-ヿ]"
_DEEPSEEK_MAIN = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _deepseek_as_one_pattern() -> str:
    """The three successive splits as one pattern.

    Each stage sees the pieces of the one before, and only within their borders. So stage three never sees a digit beside
    other text, nor Chinese or Japanese beside other text, but does split a run of Chinese and Japanese again: U+30FB is
    punctuation. Plain alternation of the three is wrong (two spaces before a Chinese character: the third stage sees the
    end of its piece there, so `\\s+(?!\\S)` takes both). What no stage matches stays one piece.
    """
    run, not_run = "一-龥぀-ゟ゠-ヿ", r"\x00-\u303f\u3100-\u4dff龦-\U0010ffff"
    taken = rf"\p{{N}}{run}"

    # Each takes what stands outside the characters it is given. A set that is cut out of another is spelled as all that it
    # is not: plain sets run through megabytes of one character, where a look-ahead at each would use up the engine's stack.
    def word(outside: str) -> str:
        return rf"[^\p{{N}}\p{{P}}\p{{S}}\p{{Z}}\p{{C}}{outside}]"

    def words(outside: str) -> str:
        return rf"[^\r\n\p{{L}}\p{{P}}\p{{S}}{outside}]?{word(outside)}+"

    def marks(outside: str) -> str:
        return rf"[^\p{{L}}\p{{M}}\p{{N}}\p{{Z}}\p{{C}}{outside}]+"

    def gaps(outside: str) -> str:  # what no stage matches: controls and the like, but the last before a word leads it
        gap = rf"[^\s\p{{L}}\p{{M}}\p{{N}}\p{{P}}\p{{S}}{outside}]"
        return f"(?>{gap}+)(?!{word(outside)})|{gap}+(?={gap})"

    return "|".join(
        [
            r"\p{N}{1,3}",
            f"{words(not_run)}|{marks(not_run)}|{gaps(not_run)}",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+",
            words(taken),
            rf" ?{marks(taken)}[\r\n]*",
            r"\s*[\r\n]+",
            rf"\s+(?![^\s{taken}])",
            r"\s+",
            gaps(taken),
        ]
    )


@dataclass(frozen=True)
class NamedPattern:
    """A published split.

    `pattern` is in the syntax of the `regex` module. `spellings` are texts under which others publish the same split.
    `stages`, where there are several, is the published sequence of splits that `pattern` does in one go.
    """

    name: str
    pattern: str | None
    source: str
    spellings: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()


_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Digits first, then GPT-2's split of what stands between them, which sees the end of its text before a digit.
_STARCODER = r"\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+"
# `[...&&[^\p{Han}]]` as published, spelled as all that it is not: engines disagree on set operations, or know none.
_NOT_HAN_UPPER, _NOT_HAN_LOWER = (
    rf"[^\p{{N}}\p{{P}}\p{{S}}\p{{Z}}\p{{C}}\p{{Han}}{cased}]" for cased in (r"\p{Ll}", r"\p{Lu}\p{Lt}")
)
_KIMI = (
    rf"\p{{Han}}+|[^\r\n\p{{L}}\p{{N}}]?{_NOT_HAN_UPPER}*{_NOT_HAN_LOWER}+{_CONTRACTION}?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_NOT_HAN_UPPER}+{_NOT_HAN_LOWER}*{_CONTRACTION}?|\p{{N}}{{1,3}}{_TAIL}"
)
_O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}?|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# A word may hold marks and the two joiners behind its first letter, and no mark leads one: so an emoji of several parts stays whole.
_JOINED_WORD = r"\p{L}[\p{L}\p{M}\u200c\u200d]*"
# What the second stage of superwords leaves whole: no border may lie within a piece of the first stage, or tokens learnt there would be
# met by no text. So white space around line breaks stays together, and a mark ends a sentence only where white space follows: `x.append`
# and `."` are pieces. Marks that no space follows in any script, such as U+3002, are left out: they lead words.
_ENDS = ".!?\u2026\u0964\u0965\u06d4\u061f"
_LINE_END = r"(?:\s*[\r\n]+)?"
_CLAUSE = rf"[^\r\n\p{{N}}{_ENDS}]"
_GOES_ON = rf"[{_ENDS}]+[^\s\p{{N}}{_ENDS}]{_CLAUSE}*"

NAMED_PATTERNS: dict[str, NamedPattern] = {
    named.name: named
    for named in (
        NamedPattern(
            "gpt2",
            _GPT2,
            "openai/gpt-2 src/encoder.py; tiktoken_ext/openai_public.py (r50k_pat_str, also r50k_base and p50k_*)",
            (
                r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
                r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
                r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            ),
        ),
        NamedPattern(
            "cl100k",
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
            "tiktoken 0.14 tiktoken_ext/openai_public.py (cl100k_base); a final run of white space is one piece",
        ),
        NamedPattern(
            "llama3",
            rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}{_TAIL}",
            "meta-llama/llama3 llama/tokenizer.py; tiktoken's own cl100k_base until 0.5",
        ),
        NamedPattern(
            "qwen2",
            rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{_TAIL}",
            "QwenLM/Qwen tokenization_qwen.py (PAT_STR); transformers models/qwen2",
            (
                # inclusionAI/Ling's tokenizer.json, as llama.cpp src/llama-vocab.cpp quotes it (BAILINGMOE)
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
            ),
        ),
        NamedPattern(
            "qwen3.5",
            rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
            r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            "transformers models/qwen3_5/tokenization_qwen3_5.py (PRETOKENIZE_REGEX)",
        ),
        NamedPattern("o200k", _O200K, "tiktoken 0.14 tiktoken_ext/openai_public.py (o200k_base, o200k_harmony)"),
        NamedPattern("tekken", _TEKKEN, "mistral-common data/tekken_240911.json (config.pattern): Mistral Nemo and later"),
        NamedPattern(
            "starcoder",
            _STARCODER,
            "transformers models/cohere: Digits(individual_digits=True), then ByteLevel's GPT-2 split; llama.cpp "
            "src/llama-vocab.cpp has the same two for StarCoder, SmolLM, Command R, Refact, CodeShell, EXAONE",
            stages=(r"\p{N}", _GPT2),
        ),
        NamedPattern(
            "kimi", _KIMI, "moonshotai/Kimi-K2-Instruct tokenization_kimi.py (pat_str), with its set operations spelled out"
        ),
        NamedPattern(
            "seed-coder",
            rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+|\s*[\r\n]+|\s+(?!\S)|\s+",
            "ByteDance-Seed/Seed-Coder tokenizer.json, as llama.cpp src/llama-vocab.cpp quotes it (SEED_CODER)",
            (
                rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1}}| ?[^\s\p{{L}}\p{{N}}\r\n]+"
                r"|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
        ),
        NamedPattern(
            "deepseek-v3",
            _deepseek_as_one_pattern(),
            "deepseek-ai/DeepSeek-V3 tokenizer.json: three successive Splits",
            stages=(r"\p{N}{1,3}", f"{_DEEPSEEK_CJK}+", _DEEPSEEK_MAIN),
        ),
        NamedPattern(
            "indic",
            rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?{_JOINED_WORD}|\p{{N}}{{1,3}}{_TAIL}",
            "our own: llama3 with marks and joiners inside words",
        ),
        NamedPattern(
            "arabic",
            rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}\p{{Cf}}]?{_JOINED_WORD}|\p{{N}}{{1,3}}{_TAIL}",
            "our own: indic, and no direction mark leads a word",
        ),
        NamedPattern(
            "lines",
            rf"[^\r\n\p{{N}}]+{_LINE_END}|\p{{N}}{{1,3}}|\s*[\r\n]+",
            "our own: for the second stage of superwords",
        ),
        NamedPattern(
            "sentences",
            rf"(?:{_CLAUSE}+|{_GOES_ON})(?:{_GOES_ON})*[{_ENDS}]*{_LINE_END}|[{_ENDS}]+{_LINE_END}|\p{{N}}{{1,3}}|\s*[\r\n]+",
            "our own: the same, cut behind the marks that end a sentence as well",
        ),
        NamedPattern("none", None, "the whole text is one piece (minbpe BasicTokenizer)"),
    )
}

_BY_TEXT = {text: named for named in NAMED_PATTERNS.values() for text in (named.pattern, *named.spellings) if text is not None}
# Digests of the normal forms. Written down because to compute them all takes 50 ms; a test computes them again.
_BY_NORMAL_FORM = {
    "418ddfcb54bc4766497d": "gpt2",
    "f7f4d2468de479cca694": "cl100k",
    "a09a7a4db77c35cedd9c": "llama3",
    "3f45d9f4fc4263711adc": "qwen2",
    "ec7be857e08f973a0f7d": "qwen3.5",
    "0deba06f4110f6ef2b05": "o200k",
    "23193683c13071933c8c": "tekken",
    "5de31923a0f79de86c11": "starcoder",
    "a27b7c06d61fe4f19844": "kimi",
    "e9056b63ecc4f2cc5876": "seed-coder",
    "b1e99e070911f6d5a4f7": "deepseek-v3",
    "0f448ae04fe773cc8f23": "indic",
    "02e4ce6a3e743475b851": "arabic",
    "9c853b3a8a829ede90a2": "lines",
    "ecb659681e9fa779df37": "sentences",
}
_LOOKS_LIKE_A_NAME = re.compile(r"[\w-]+(?:\.\d+)*")


def resolve_pattern(name_or_pattern: str | None) -> str | None:
    """A name's pattern, or the pattern itself once it has been checked; `None` and "none" mean the whole text.

    >>> resolve_pattern("gpt2")
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\\\p{L}+| ?\\\\p{N}+| ?[^\\\\s\\\\p{L}\\\\p{N}]+|\\\\s+(?!\\\\S)|\\\\s+"
    """
    if name_or_pattern is None:
        return None
    if name_or_pattern in NAMED_PATTERNS:
        return NAMED_PATTERNS[name_or_pattern].pattern
    if _LOOKS_LIKE_A_NAME.fullmatch(name_or_pattern):
        raise PatternError(f"no split pattern is named {name_or_pattern!r}; the names are {', '.join(NAMED_PATTERNS)}")
    check_pattern(name_or_pattern)
    return name_or_pattern


def check_pattern(pattern: str) -> None:
    """Raise `PatternError` unless the pattern parses and every match takes at least one character."""
    if pattern in _BY_TEXT:
        return
    from hf_bpe.pattern_syntax import matches_empty, parse

    if matches_empty(parse(pattern)):
        raise PatternError(
            f"split pattern {pattern!r} can match the empty string, so it would split without taking text; "
            "make every alternative take at least one character ('+' instead of '*')"
        )


def find_named_pattern(pattern: str | None) -> NamedPattern | None:
    """The published split that a pattern makes of every text, however it is spelled; None where there is none.

    A published text is looked up, any other is proved equal by its normal form (a few milliseconds, once for each text).

    >>> find_named_pattern(r"(?:'(?:[stmd]|re|ve|ll))| ?(\\p{L}{1,})| ?\\p{N}++| ?[^\\p{N}\\s\\p{L}]+|\\s+(?!\\S)|\\s").name
    'gpt2'
    """
    if pattern is None:
        return NAMED_PATTERNS["none"]
    return _BY_TEXT.get(pattern) or _find_by_proof(pattern)


@lru_cache(maxsize=256)
def _find_by_proof(pattern: str) -> NamedPattern | None:
    from hf_bpe.pattern_syntax import normal_form, parse

    try:
        form = normal_form(parse(pattern))
    except PatternError:
        return None
    return NAMED_PATTERNS.get(_BY_NORMAL_FORM.get(form.digest, "")) if form else None


@lru_cache(maxsize=256)
def pattern_for(pattern: str, dialect: Dialect) -> str:
    """The pattern in another engine's dialect (`"tiktoken"` or `"oniguruma"`)."""
    from hf_bpe.pattern_syntax import translate

    return translate(pattern, source="regex", target=dialect)
