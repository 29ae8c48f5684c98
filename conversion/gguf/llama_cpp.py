r"""How llama.cpp splits text: by the name of a pre-tokenizer, each of which is a piece of its program.

A GGUF file states the name, not the pattern. The program's patterns are the published ones in the syntax of another engine,
some of them approximated. Two differences need not show in any id, because a difference in where text is split shows only
where some token reaches over that place; both are looked for in the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hf_bpe.errors import ConversionRefused
from hf_bpe.patterns import NAMED_PATTERNS, find_named_pattern

__all__ = ["PreTokenizer", "control_conflict", "find_pre_tokenizer", "looks_up_pieces", "pre_tokenizer_for", "reaching_over"]

_SOURCE = "src/llama-vocab.cpp of llama.cpp"
_CASES = "it stands [^a-z] and [^A-Z] for the classes of upper and lower case, so that combining marks are split off: 'शी'"


@dataclass(frozen=True)
class PreTokenizer:
    """One of llama.cpp's pre-tokenizers.

    pattern: the name of the published pattern that it is. ignore_merges: whether whole pieces are looked up first, which the
    name implies as well. contractions: whether `'s` and the like are found in either case, where `ſ` (U+017F) is left out.
    inexact: why it does not split as that pattern does; empty: it does. own_pattern: what it splits by then.
    """

    name: str
    pattern: str
    ignore_merges: bool = False
    contractions: bool = True
    inexact: str = ""
    own_pattern: str = ""

    @property
    def regex(self) -> str | None:
        """The pattern that it splits by, for `regex`."""
        return self.own_pattern or NAMED_PATTERNS[self.pattern].pattern


# Its expressions for letters, where those of the published patterns name classes of upper and lower case.
_FIRST, _REST = r"(?:(?=\p{L})[^a-z])", r"(?:(?=\p{L})[^A-Z])"
_PREFIX = r"[^\r\n\p{L}\p{N}]?"
_CONTRACTION = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?"
_AFTER_WORDS = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT_4O = rf"{_PREFIX}{_FIRST}*{_REST}+{_CONTRACTION}|{_PREFIX}{_FIRST}+{_REST}*{_CONTRACTION}|\p{{N}}{{1,3}}|{_AFTER_WORDS}"
_TEKKEN = rf"{_PREFIX}{_FIRST}*{_REST}+|{_PREFIX}{_FIRST}+{_REST}*|\p{{N}}|{_AFTER_WORDS}"

# The first that fits is written.
_KNOWN = {
    known.name: known
    for known in (
        PreTokenizer("gpt-2", "gpt2", contractions=False),
        PreTokenizer("llama-bpe", "llama3", ignore_merges=True),
        PreTokenizer("dbrx", "llama3"),
        PreTokenizer("qwen2", "qwen2"),
        PreTokenizer("gpt-4o", "o200k", inexact=_CASES, own_pattern=_GPT_4O),
        PreTokenizer("llama4", "o200k", inexact=_CASES, own_pattern=_GPT_4O),
        PreTokenizer("tekken", "tekken", ignore_merges=True, contractions=False, inexact=_CASES, own_pattern=_TEKKEN),
    )
}
_ALIASES = {"llama3": "llama-bpe", "llama-v3": "llama-bpe", "phi-2": "gpt-2", "deepseek-r1-qwen": "qwen2"}

# Tokens of these names become control tokens when llama.cpp loads a file, whatever their type there.
_TAKEN_FOR_CONTROL = frozenset(
    "<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> <|endoftext|> </s> <|eom_id|> <EOT> _<EOT> "
    "[EOT] [EOS] <|end_of_text|> <end_of_utterance> <eos>".split()
)

# A token that reaches from `ſ` into what follows: "'ſa" is "'ſ" and "a" by the published patterns, one piece in llama.cpp.
_OVER_LONG_S = re.compile(rb"(?:\A|\xc5)\xbf[A-Za-z\xc3-\xf4]")
# One that reaches from the last line break of a text into the white space after it: one piece by cl100k's pattern, two by llama3's.
_OVER_LAST_LINE_BREAK = re.compile(rb"[\r\n][\t\v\f \x80-\xbf\xc2\xe1-\xe3]+\Z")


def find_pre_tokenizer(name: str, where: str) -> PreTokenizer:
    """The pre-tokenizer of a name. Raises `ConversionRefused` for one that is unknown here or splits as no published pattern."""
    known = _KNOWN.get(_ALIASES.get(name, name))
    if known is None:
        raise ConversionRefused(
            f"{where}: how llama.cpp's pre-tokenizer {name!r} splits text is not known here ({', '.join(_exact())} are); pass pattern= "
            "the pattern that the tokenizer was trained with"
        )
    if known.inexact:
        raise ConversionRefused(
            f"{where}: llama.cpp's pre-tokenizer {name!r} is not the pattern {known.pattern!r} exactly: {known.inexact}; pass "
            f"pattern={known.pattern!r} for the tokenizer that it stands for"
        )
    return known


def looks_up_pieces(name: str) -> bool:
    """Whether a name is known to make llama.cpp look up whole pieces first."""
    known = _KNOWN.get(_ALIASES.get(name, name))
    return known is not None and known.ignore_merges


def pre_tokenizer_for(pattern: str | None, ignore_merges: bool | None) -> PreTokenizer:
    """The pre-tokenizer to write for a pattern, which may be `inexact`.

    ignore_merges: what the name must imply; None: either will do. Raises `ConversionRefused` where there is none.
    """
    named = find_named_pattern(pattern)
    # cl100k's pattern is llama3's but for white space at the end of a text.
    published = "llama3" if named and named.name == "cl100k" else named and named.name
    candidates = [known for known in _KNOWN.values() if known.pattern == published]
    if not candidates:
        shown = f"{named.name!r}" if named else f"{pattern!r}"
        raise ConversionRefused(
            f"a GGUF file names one of llama.cpp's pre-tokenizers instead of a pattern, and none is {shown}; "
            f"{', '.join(_exact())} are exact. To add one: a name and its LLAMA_VOCAB_PRE_TYPE with this regular expression, in {_SOURCE}"
        )
    wanted = [known for known in candidates if ignore_merges in (None, known.ignore_merges)]
    if not wanted:
        state = "looked up as a whole first" if ignore_merges else "merged without looking them up as a whole first"
        raise ConversionRefused(
            f"pieces must be {state} here, and llama.cpp's pre-tokenizer {candidates[0].name!r}, which has this pattern, does otherwise. "
            f"To add one: a name for the same LLAMA_VOCAB_PRE_TYPE with ignore_merges {str(ignore_merges).lower()}, in {_SOURCE}"
        )
    return wanted[0]


def control_conflict(always_matched: Iterable[str]) -> str | None:
    """The first of the added tokens that llama.cpp would not always match, though the file says so, or None."""
    taken = next((content for content in always_matched if content in _TAKEN_FOR_CONTROL), None)
    return (
        taken
        and f"the added token {taken!r} is always matched here, and llama.cpp goes by its name and takes it for a special token"
    )


def reaching_over(known: PreTokenizer, pattern: str | None, vocab: Iterable[bytes]) -> str | None:
    r"""Why text is split differently from a published pattern in a way that shows in ids, or None where it is exact.

    >>> "b'\\xc5\\xbfa' reaches over that place" in reaching_over(_KNOWN["dbrx"], None, [b"a", "ſa".encode()])
    True
    """
    if known.inexact:
        return f"llama.cpp's pre-tokenizer {known.name!r} is not this pattern exactly: {known.inexact}"
    tokens = list(vocab)
    over = next(filter(_OVER_LONG_S.search, tokens), None) if known.contractions else None
    if over is not None:
        return f"llama.cpp does not take 'ſ' (U+017F) for an s, so it does not split \"'ſa\" after it, and {over!r} reaches over that place"
    named = find_named_pattern(pattern)
    over = next(filter(_OVER_LAST_LINE_BREAK.search, tokens), None) if named and named.name != known.pattern else None
    if over is not None:
        return (
            f"llama.cpp splits white space at the end of a text after its last line break, and {over!r} reaches over that place"
        )
    return None


def _exact() -> list[str]:
    return [known.name for known in _KNOWN.values() if not known.inexact]
