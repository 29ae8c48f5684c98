"""Patterns as files hold them: each is read as its own engine reads it, or refused."""

from __future__ import annotations

import random

import pytest
import tiktoken

from hf_bpe import PatternError
from hf_bpe.pattern_syntax import Dialect, parse, translate
from tests.fuzz import dialects as fuzz
from tests.fuzz.subjects import Mismatch
from tests.support.dialects import DIALECTS, matches_here, matches_there
from tests.support.text import every_code_point

FOLDING = "".join(c for c in every_code_point() if c != c.lower() or c != c.upper()) + "12 .\n"
"""All characters that have another case."""

REFUSED: list[tuple[Dialect, str, str]] = [
    *((dialect, pattern, "under (?i)") for dialect in ("regex", "tiktoken", "pcre2") for pattern in (r"(?i:\p{Lu})", r"(?i)\P{Ll}+", r"(?i:\p{Lt})")),
    ("oniguruma", r"(?i:[\p{Lu}])", "under (?i)"),
    ("tiktoken", r"(?i:\p{L})", "under (?i)"),
    ("oniguruma", r"(?i:[^\p{M}])", "under (?i)"),
    ("tiktoken", r"(?i)[\p{Script=Greek}]", "under (?i)"),
    ("regex", "(?i:it)", "U+0130"),
    *((dialect, pattern, "octal") for dialect in ("regex", "oniguruma", "pcre2") for pattern in (r"\012", r"[\00]", r"\08")),
    *(("oniguruma", pattern, "Oniguruma's is not") for pattern in (r"\bt", r"t\B")),
    *(("tiktoken", pattern, "edge of a word") for pattern in (r"\<a", r"a\>", r"\b{start}a", r"\B{end}a")),
    *((dialect, pattern, "is a count") for dialect in DIALECTS for pattern in ("a{,}", "a{ 1,2 }", "a{1, 2}", "a{1 }")),
    *(("regex", pattern, "allows errors") for pattern in ("a{e}", "a{i<=1}", "(?:ab){s,d}")),
    *((dialect, "a{2}{3}", "a quantifier after") for dialect in ("regex", "tiktoken", "pcre2")),
    ("oniguruma", r"\pL", "the letter p"),
    ("oniguruma", r"\U00000041", "not a character"),
    ("pcre2", r"[\v]", "not a character"),
    ("pcre2", r"\x{41}", "letter x"),
    *(("oniguruma", pattern, "single character") for pattern in ("(?i:s{1}s)", "(?i:(?:xs)s)", "(?i:s(?:tx))")),
]  # fmt: skip

READ: list[tuple[Dialect, str, str]] = [
    ("oniguruma", r"(?i:\p{Lu})+", "aB AB"),
    ("regex", r"(?i:\p{LC})|(?i:[^\p{L}])", "aB1\u0345"),
    ("regex", "(?i)(?s)a.", "A\nab"),
    ("regex", "(?is)a.", "A\nab"),
    ("oniguruma", "(?mi)a.", "A\nab"),
    ("oniguruma", r"a{2}?b", "b aab ab"),
    ("oniguruma", r"a{2}?+", "aaaaa"),
    ("regex", r"a{2}?b|a{1,2}?b", "b aab ab"),
    ("oniguruma", r"\s^|a", "a\n a\n"),
    ("oniguruma", r"^a|\n^", "a\na\n\n"),
    ("regex", r"a{}|b{x}", "a{} b{x}"),
    ("oniguruma", r"va{1,2}{,2}", "v vaaaaaa"),
    ("pcre2", r"\0|a", "\0a0"),
]


@pytest.mark.parametrize(("dialect", "pattern", "complaint"), REFUSED)
def test_what_only_some_engines_read_so_is_refused(dialect: Dialect, pattern: str, complaint: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse(pattern, dialect)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(("dialect", "pattern", "text"), READ)
def test_a_pattern_is_read_as_its_engine_reads_it(dialect: Dialect, pattern: str, text: str) -> None:
    expected = matches_there(dialect, pattern)(text)
    assert expected
    assert matches_here(dialect, pattern)(text) == expected


@pytest.mark.parametrize(("pattern", "text"), [(r"a{2}?b", "b aab ab"), (r"(?:ab){1}?c", "c abc")])
def test_a_lazy_fixed_count_is_written_as_what_it_is(pattern: str, text: str) -> None:
    """`{2}?` is optional to Oniguruma."""
    expected = matches_here("regex", pattern)(text)
    for dialect in DIALECTS:
        assert matches_there(dialect, translate(pattern, source="regex", target=dialect))(text) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "name", ["L", "Lu", "Ll", "Lt", "LC", "M", "Mn", "N", "So", "sc:Greek", "sc:Inherited", "sc:Common", "sc:Latin"]
)
def test_a_property_that_ignoring_case_makes_larger_is_refused(name: str, dialect: Dialect) -> None:
    name = name.replace("sc:", {"tiktoken": "Script=", "pcre2": "sc:"}.get(dialect, ""))
    for form in (r"\p{%s}", r"\P{%s}", r"[\p{%s}]", r"[^\p{%s}]", r"[\P{%s}]"):
        pattern = f"(?i:{form % name})"
        try:
            here = matches_here(dialect, pattern)
        except PatternError:
            continue
        there = kept_by_tiktoken(pattern) if dialect == "tiktoken" else "".join(matches_there(dialect, pattern)(FOLDING))
        assert there == "".join(here(FOLDING))


def kept_by_tiktoken(pattern: str) -> str:
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return encoding.decode(encoding.encode_ordinary(FOLDING))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_random_texts_are_read_as_the_engine_reads_them_or_refused(dialect: Dialect) -> None:
    for number in range(300):
        try:
            fuzz.check(dialect, fuzz.pattern(random.Random(f"{dialect} {number}")))
        except Mismatch as mismatch:
            pytest.fail(str(mismatch))
