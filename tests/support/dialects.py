"""What the engine that a dialect belongs to makes of a pattern, and what is made of it here."""

from __future__ import annotations

from collections.abc import Callable

import pcre2
import regex
import tiktoken
from tokenizers import Regex, pre_tokenizers

from hf_bpe.engine.reference import pretokenize
from hf_bpe.pattern_syntax import Dialect, translate

DIALECTS: tuple[Dialect, ...] = ("regex", "tiktoken", "oniguruma", "pcre2")


def matches_there(dialect: Dialect, pattern: str) -> Callable[[str], list[str]]:
    """The matches in a short text as the engine itself finds them. Raises whatever the engine raises for a pattern it refuses."""
    if dialect == "regex":
        compiled = regex.compile(pattern)
        return lambda text: _not_empty([match.group() for match in compiled.finditer(text)])
    if dialect == "pcre2":
        program = pcre2.compile(pattern)
        return lambda text: _not_empty([match.group() for match in program.finditer(text)])
    if dialect == "oniguruma":
        split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
        return lambda text: [piece for piece, _ in split.pre_tokenize_str(text)]
    _tiktoken(pattern, "a").encode_ordinary("")  # compiles it
    return lambda text: _tiktoken_matches(pattern, text)


def matches_here(dialect: Dialect, pattern: str) -> Callable[[str], list[str]]:
    """The same by the reference engine. Raises `PatternError`."""
    read = translate(pattern, source=dialect, target="regex")
    return lambda text: pretokenize(text, read, unmatched="drop")


def _not_empty(matches: list[str]) -> list[str]:
    return [match for match in matches if match]


def _tiktoken(pattern: str, text: str) -> tiktoken.Encoding:
    ranks = {bytes([byte]): byte for byte in range(256)}
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            ranks.setdefault(text[start:end].encode(), len(ranks))
    return tiktoken.Encoding("substrings", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def _tiktoken_matches(pattern: str, text: str) -> list[str]:
    """It looks every match up as a whole, so with all parts of the text for tokens each match is one of them."""
    encoding = _tiktoken(pattern, text)
    return [encoding.decode_single_token_bytes(token).decode() for token in encoding.encode_ordinary(text)]
