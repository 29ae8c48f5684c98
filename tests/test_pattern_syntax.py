"""Patterns are read once and said again, with the same meaning, in the dialect of each engine."""

from __future__ import annotations

import pytest
import regex
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import NAMED_PATTERNS, Encoder, PatternError, resolve_pattern
from hf_bpe.engine.reference import pretokenize
from hf_bpe.pattern_syntax import matches_empty, parse, render, translate
from hf_bpe.patterns import check_pattern, find_named_pattern, pattern_for
from tests.support.official import oniguruma_pieces, tiktoken_ids_of_pieces
from tests.support.text import difficult_text, every_code_point, generated_text
from tests.support.vocabularies import byte_spec

# Each covers one construct that engines spell or read differently.
CONSTRUCTS = [
    "a|b|c", "ab+", "a??b", "[^a]+?b", "a++", "a*+b", "a?+b", r"\d{2}", r"\p{N}{1,3}+", r"\p{N}{2,}+", r"\p{N}{1,3}?", r"\w{,2}x",
    r"\s+$", r"[^\n]+$", r"^\S+", r"\A\S+", r"\S+\Z", r"\s++$|\s", ".+", "(?s).+", "(?s:.)x", "(?i:'s|'t|k)", "(?i)the|k", "(?i:[sk])",
    r"\bx\B", r"\w+|\W", r"\S+|\s", r"[\w']+", r"[^\W]+", r"\D+|\d", r"\s+(?!\S)|\s+", r"(?<=a)b|(?<!a)'", r"(?=b)b", r"(?>a|ab)c|a",
    r"[\]\[\-^]+", r"[]a]+", r"[^]a]+", "[a-z-]+", r"\x41|\u0042|\x{43}|\U00000044", r"\t|\n|\r|\f|\v|\a|\e|\0", r"[\b]|a", "{a}|b{x}",
    r"\p{Lu}\p{Ll}*|\P{L}", r"\p{^L}+", r"\pL+|\PN", r"\p{Script=Greek}+|\p{Han}+|\p{sc=Hiragana}", r"\p{Letter}+|\p{gc=Nd}", r"[\p{L}\p{M}]+",
    r"[^\s\p{L}\p{N}]+", r"(?:a|b)+c", r"(?<name>a)|(?P<other>b)", r"((a))", r"\p{LC}+|.", "-|#|&|~|/| ", r"\.|\(|\)|\*", "中|[一-龥]+|😉", "\t| ",
    r"\p{Zs}+|\p{Cn}|\p{Co}|\p{C}", r"(?:\p{L}\p{M}*)+", r"(?:(?:a|b)|c)d?",
]  # fmt: skip


def native_pieces(pattern: str, text: str) -> list[str]:
    return Encoder(byte_spec(pattern), engine="native").pretokenize(text)


def check_on_all_engines(pattern: str, text: str) -> None:
    kept = pretokenize(text, pattern)
    assert "".join(kept) == text
    assert native_pieces(pattern, text) == kept
    assert oniguruma_pieces([pattern_for(pattern, "oniguruma")], text) == kept
    matched = pretokenize(text, pattern, unmatched="drop")
    got, expected = tiktoken_ids_of_pieces(pattern_for(pattern, "tiktoken"), text, matched)
    assert got == expected


@pytest.mark.parametrize("pattern", CONSTRUCTS)
def test_a_construct_means_the_same_to_every_engine_on_long_text(pattern: str) -> None:
    text = generated_text(seed=11, length=1500) + "abcabdaab'sk'Kﬆ the THE aab ac {a} b{x} AXBx xx\n"
    check_on_all_engines(pattern, text)
    check_on_all_engines(pattern, text + "a  ")
    check_on_all_engines(pattern, "a\n")


@settings(max_examples=300)
@given(pattern=st.sampled_from(CONSTRUCTS), text=difficult_text(12))
def test_a_construct_means_the_same_to_every_engine_on_short_text(pattern: str, text: str) -> None:
    check_on_all_engines(pattern, text)


@settings(max_examples=150)
@given(parts=st.lists(st.sampled_from(CONSTRUCTS), min_size=2, max_size=3), text=difficult_text(12))
def test_constructs_keep_their_meaning_side_by_side(parts: list[str], text: str) -> None:
    check_on_all_engines(
        "|".join(f"(?:{part.replace('(?s).', '(?s:.)').replace('(?i)the|k', '(?i:the|k)')})" for part in parts), text
    )


@pytest.mark.parametrize("pattern", [*CONSTRUCTS, *(n.pattern for n in NAMED_PATTERNS.values() if n.pattern)])
@pytest.mark.parametrize("dialect", ["regex", "tiktoken", "oniguruma"])
def test_what_is_written_in_a_dialect_reads_back_with_the_same_meaning(pattern: str, dialect: str) -> None:
    """In Oniguruma's, `\\w` and the ends of the text have no spelling of their own, so only the pieces are compared."""
    text = generated_text(seed=12, length=600)
    written = translate(pattern, source="regex", target=dialect)  # type: ignore[arg-type]
    try:
        again = render(parse(written, dialect), "regex")  # type: ignore[arg-type]
    except PatternError as error:
        assert dialect == "oniguruma"
        assert "inside a class" in str(error)  # noqa: PT017  # [\p{Alphabetic}...] in another class
        return
    assert pretokenize(text, again) == pretokenize(text, pattern)


@pytest.mark.parametrize("name", [n for n in NAMED_PATTERNS if n != "none"])
def test_what_is_written_in_our_own_dialect_is_stable(name: str) -> None:
    written = render(parse(str(NAMED_PATTERNS[name].pattern)), "regex")
    assert render(parse(written), "regex") == written


@pytest.mark.parametrize(
    ("source", "target", "pattern", "expected"),
    [
        ("regex", "oniguruma", r"\p{N}{1,3}+", r"(?>\p{N}{1,3})"),
        ("regex", "tiktoken", r"\p{N}{1,3}+", r"\p{N}{1,3}+"),
        ("oniguruma", "regex", r"\p{N}{1,3}+", r"(?:\p{N}{1,3})+"),
        ("oniguruma", "regex", r"\p{N}++", r"\p{N}++"),
        ("tiktoken", "oniguruma", r"a|$", r"a|\z"),
        ("tiktoken", "regex", r"a|$", r"a|\Z"),
        ("regex", "tiktoken", r"a|$", r"a|(?=\n?\z)"),
        ("oniguruma", "regex", r"a$", r"a(?:\Z|(?=\n))"),
        ("oniguruma", "regex", "(?m:.)", r"[\s\S]"),
        ("regex", "oniguruma", "(?i:'s)", "'[sSſ]"),
        ("regex", "oniguruma", "(?i:k)", "[kK\u212a]"),
        ("regex", "tiktoken", r"\p{Han}", r"\p{Script=Han}"),
    ],
)
def test_engines_that_disagree_get_different_spellings(source: str, target: str, pattern: str, expected: str) -> None:
    assert translate(pattern, source=source, target=target) == expected  # type: ignore[arg-type]


def test_possessive_braces_of_oniguruma_repeat_the_group() -> None:
    pattern, text = r"\p{N}{1,3}+|\p{L}", "12345a"
    assert (
        oniguruma_pieces([pattern], text)
        == ["12345", "a"]
        == pretokenize(text, translate(pattern, source="oniguruma", target="regex"))
    )
    assert oniguruma_pieces([pattern_for(pattern, "oniguruma")], text) == ["123", "45", "a"] == pretokenize(text, pattern)


def test_dollar_of_each_engine_is_understood() -> None:
    text = "a\na\n"
    assert [m.span() for m in regex.finditer("a$", text)] == [(2, 3)]
    assert pretokenize(text, "a$") == ["a\n", "a", "\n"]
    assert pretokenize(text, translate("a$", source="tiktoken", target="regex")) == [text]
    assert pretokenize(text, translate("a$", source="oniguruma", target="regex")) == oniguruma_pieces(["a$"], text)
    encoding = tiktoken.Encoding("t", pat_str="a$", mergeable_ranks={bytes([b]): b for b in range(256)}, special_tokens={})
    assert encoding.encode_ordinary(text) == []


def test_properties_mean_unicode_16_whatever_the_regex_module_knows() -> None:
    everything = "".join(every_code_point())
    newer = "".join(set(regex.findall(r"\p{L}", everything)) - set("".join(pretokenize(everything, r"\p{L}+", "drop"))))
    assert newer, "the installed regex module knows no letter beyond Unicode 16.0, so this test shows nothing"
    assert native_pieces(r"\p{L}+", f"a{newer}b") == ["a", newer, "b"]


REFUSED = [
    ("(", "expected ')'"),
    ("a)", "unbalanced"),
    ("[a", "without its closing"),
    ("[", "without its closing"),
    ("[a-", "without its closing"),
    ("*a", "nothing to repeat"),
    ("a|+", "nothing to repeat"),
    ("a{3,1}", "at least 3 and at most 1"),
    (r"(?=a)*b", "zero-width"),
    (r"^*a", "zero-width"),
    (r"a(?x:b)", "(?x"),
    (r"(?-i:b)", "(?-"),
    (r"(?#note)a", "(?#"),
    (r"(a)\1", r"\1"),
    (r"(?<n>a)\k<n>", r"\k"),
    (r"a\Kb", r"\K"),
    (r"\Ga", r"\G"),
    (r"\X", r"\X"),
    (r"\R", r"\R"),
    (r"\h+", r"\h"),
    (r"\Q", r"\Q"),
    ("a\\", "backslash"),
    (r"\p{L", "closing brace"),
    (r"\p{Emoji}", "Emoji"),
    (r"\p{Script=Linear_A}", "Linear_A"),
    (r"\p{Lowercase}", "Lowercase"),
    ("[[a]b]", "'[' inside a class"),
    ("[[:alpha:]]", "'[' inside a class"),
    ("[a&&b]", "'&&'"),
    ("[a--b]", "'--'"),
    ("[+--]", "'--'"),
    ("[a||b]", "'||'"),
    ("[a~~b]", "'~~'"),
    ("[z-a]", "range"),
    (r"[a-\d]", "range"),
    ("(?i:é)", "beyond ASCII"),
    ("(?i:ß)", "beyond ASCII"),
    ("(?i:[a-z])", "range under"),
    (r"(?i:[\p{Lu}])", r"\p{Lu} under (?i)"),
    (r"\xzz", "hexadecimal"),
    (r"\x4", "hexadecimal"),
    (r"\x+4", "hexadecimal"),
    (r"\u12", "hexadecimal"),
    (r"\x{1_0}", "hexadecimal"),
    (r"\x{}", "hexadecimal"),
    (r"\x{110000}", "not a character"),
    (r"\ud800", "not a character"),
    ("(?:" * 5000 + "a" + ")" * 5000, "nests its groups too deeply"),
]


@pytest.mark.parametrize(("pattern", "message"), REFUSED, ids=lambda value: value[:20])
def test_what_engines_read_differently_is_refused_with_its_place(pattern: str, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse(pattern)
    assert message in str(caught.value)
    assert "split pattern" in str(caught.value)


@pytest.mark.parametrize(("pattern", "message"), [(r"\w+", r"\w"), (r"[\W]", r"\w")])
def test_the_word_class_of_oniguruma_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match="Oniguruma") as caught:
        parse(pattern, "oniguruma")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "pattern", ["a*", "a?", "", "|a", "a|", "(?=a)", "^", "$", r"\b", "(?:a*)+", "(?:a?){3}", "(?>a*)", "a*b*", "a{0}", "a{,3}"]
)
def test_a_pattern_that_can_take_nothing_is_refused(pattern: str) -> None:
    assert matches_empty(parse(pattern))
    with pytest.raises(PatternError, match="can match the empty string"):
        check_pattern(pattern)
    with pytest.raises(PatternError):
        resolve_pattern(pattern)


@pytest.mark.parametrize("pattern", CONSTRUCTS)
def test_a_pattern_that_takes_something_is_accepted(pattern: str) -> None:
    check_pattern(pattern)
    assert resolve_pattern(pattern) == pattern


@pytest.mark.parametrize(
    "junk",
    [
        "\ud800",
        "(?i",
        "(?",
        "(?<",
        "(?P",
        "[^",
        "[\\",
        "\\p",
        "\\x",
        "\\u12",
        "\\x{",
        "{",
        "a{",
        "a{1",
        "a{1,2",
        "\\p{",
        "(?<=",
    ],
)
def test_cut_off_patterns_give_the_one_error_or_a_meaning(junk: str) -> None:
    try:
        parse(junk)
    except PatternError:
        return
    assert junk in ("{", "a{", "a{1", "a{1,2", "\ud800")  # a literal brace


@settings(max_examples=500)
@given(pattern=st.text(st.sampled_from("ab\\()[]{}?*+|^$.-,:<>=!123pPwsdSkLu&~\n "), max_size=14))
def test_any_text_is_a_pattern_with_one_meaning_or_a_pattern_error(pattern: str) -> None:
    try:
        check_pattern(pattern)
    except PatternError:
        return
    text = "ab (a) [b] {1} 123,3.\\ ^$ ?*+ <=!> p-P w&&~~ sd S k L u\n a"
    check_on_all_engines(pattern, text)


def test_names_are_looked_up_and_never_guessed() -> None:
    assert resolve_pattern(None) is None
    assert resolve_pattern("none") is None
    for name, named in NAMED_PATTERNS.items():
        assert resolve_pattern(name) == named.pattern
        if named.pattern:
            assert find_named_pattern(named.pattern) is named
            assert resolve_pattern(named.pattern) == named.pattern
    for wrong in ("gpt4", "cl100k_base", "deepseek_v3", "GPT2", "qwen3.6"):
        with pytest.raises(PatternError, match="the names are gpt2"):
            resolve_pattern(wrong)
    assert find_named_pattern(r"\S+") is None
