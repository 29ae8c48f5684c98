"""PCRE2 and llama.cpp: what is written for them means there what it means here, or is refused."""

from __future__ import annotations

import re

import pcre2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import NAMED_PATTERNS, PatternError
from hf_bpe.engine.reference import pretokenize
from hf_bpe.pattern_syntax import parse, render, render_llama_cpp, translate
from hf_bpe.pattern_syntax.code_points import property_members
from hf_bpe.pattern_syntax.reader import GENERAL_CATEGORIES
from hf_bpe.pattern_syntax.tree import SCRIPTS, Class, Property
from tests.support.text import difficult_text, every_code_point, generated_text
from tests.test_pattern_syntax import CONSTRUCTS

NAMES = [name for name, named in NAMED_PATTERNS.items() if named.pattern]


def pieces_of(matches: list[tuple[int, int]], text: str) -> list[str]:
    """Matches and what stands between them."""
    pieces, done = [], 0
    for start, end in [*matches, (len(text), len(text))]:
        pieces += [text[done:start]] if start > done else []
        pieces += [text[start:end]] if end > start else []
        done = end
    return pieces


def pcre2_pieces(pattern: str, text: str) -> list[str]:
    return pieces_of([match.span() for match in pcre2.compile(pattern).finditer(text)], text)


# -- PCRE2 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [*CONSTRUCTS, *(str(NAMED_PATTERNS[name].pattern) for name in NAMES)])
def test_a_pattern_written_for_pcre2_splits_there_as_here(pattern: str) -> None:
    written = translate(pattern, source="regex", target="pcre2")
    for text in (generated_text(seed=21, length=800) + "\u180e abcabdaab'sk'K the THE a\u180e\n", "a  ", "a\n", ""):
        assert pcre2_pieces(written, text) == pretokenize(text, pattern)


@settings(max_examples=200)
@given(pattern=st.sampled_from([*CONSTRUCTS, *(str(NAMED_PATTERNS[name].pattern) for name in NAMES)]), text=difficult_text(12))
def test_a_pattern_written_for_pcre2_splits_short_text_there_as_here(pattern: str, text: str) -> None:
    assert pcre2_pieces(translate(pattern, source="regex", target="pcre2"), text) == pretokenize(text, pattern)


@pytest.mark.parametrize("name", sorted({"space", "word", *GENERAL_CATEGORIES, *SCRIPTS}))
def test_a_property_holds_the_same_code_points_in_pcre2(name: str) -> None:
    pattern = pcre2.compile(render(Class((Property(name),)), "pcre2") + "+")
    runs = [match.span() for match in pattern.finditer(EVERYTHING)]
    ours = [(index_of(span.first), index_of(span.last + 1)) for span in property_members(Property(name))]
    assert runs == merged([(start, end) for start, end in ours if start < end])


EVERYTHING = "".join(every_code_point())


def index_of(code_point: int) -> int:
    """The place of a character in the text of all, which has no surrogates."""
    return min(code_point, 0xD800) + max(0, code_point - 0xE000)


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without borders where surrogates would stand."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        joined = [*joined[:-1], (joined[-1][0], end)] if joined and joined[-1][1] == start else [*joined, (start, end)]
    return joined


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\s+", "[\\t-\\r \x85\xa0\u1680\u2000-\u200a\u2028-\u2029\u202f\u205f\u3000]+"),
        (r"\p{Han}", r"\p{sc:Han}"),
        (r"\p{N}{1,3}+", r"\p{N}{1,3}+"),
        ("a$", r"a(?=\n?\z)"),
        ("(?i:'s)", "'[sSſ]"),
    ],
)
def test_what_pcre2_would_read_otherwise_is_spelled_out(pattern: str, expected: str) -> None:
    assert translate(pattern, source="regex", target="pcre2") == expected


@pytest.mark.parametrize(("pattern", "complaint"), [(r"\w", "PCRE2's"), (r"\p{Han}", "script extensions"), (r"\u0041", r"\\u is not"), (r"\v", r"\\v is not"), (r"a\b", "goes by"), ("[[a]]", "nested set")])  # fmt: skip
def test_what_pcre2_alone_reads_so_is_refused(pattern: str, complaint: str) -> None:
    with pytest.raises(PatternError, match=complaint):
        parse(pattern, "pcre2")


@pytest.mark.parametrize("pattern", [r"\s+|\S+", r"[^\s\d]+", r"a$", r"\p{sc:Greek}+", r"(?>a|ab)c", r"[\S]"])
def test_a_pattern_of_pcre2_is_read_as_pcre2_does(pattern: str) -> None:
    text = generated_text(seed=22, length=500) + "ab ac a\u180eb\n"
    expected = pieces_of([match.span() for match in pcre2.compile(pattern).finditer(text)], text)
    assert pretokenize(text, translate(pattern, source="pcre2", target="regex")) == expected


# -- llama.cpp --------------------------------------------------------------------------------------------------------

KINDS = {"N": "\xd1", "L": "\xd2", "P": "\xd3", "M": "\xd4", "S": "\xd5"}
ASCII = {"N": "0-9", "L": "A-Za-z", "P": "!-#%-*,-/:-;?-@\\[-\\]_\\{\\}", "M": "", "S": "\\$\\+<->\\^`\\|"}


def llama_cpp_pieces(pattern: str, text: str) -> list[str]:
    """What llama.cpp's `unicode_regex_split` does, with Python's `re` in place of std::regex."""
    by_kind = "\\p{" in pattern
    members = {
        name: {c for s in property_members(Property(name)) for c in range(s.first, s.last + 1)} for name in ("space", *KINDS)
    }

    def kind(character: str) -> str:
        if character < "\x80":
            return character
        if ord(character) in members["space"]:
            return "\x0b"
        if not by_kind:
            return character
        return next((byte for name, byte in KINDS.items() if ord(character) in members[name]), "\xd0")

    inside, expanded, at = False, "", 0
    while at < len(pattern):
        found = re.compile(r"\\p\{(.)\}").match(pattern, at)
        if found:
            content = KINDS[found[1]] + ASCII[found[1]]
            expanded += content if inside else f"[{content}]"
            at = found.end()
            continue
        escaped = at > 0 and pattern[at - 1] == "\\"
        inside = (inside or pattern[at] == "[") and not (pattern[at] == "]" and not escaped) if not escaped else inside
        expanded += pattern[at]
        at += 1
    expanded = expanded.replace("[^]", r"[\s\S]")
    collapsed = "".join(map(kind, text))
    return pieces_of([match.span() for match in re.compile(expanded, re.ASCII).finditer(collapsed)], text)


WRITABLE = [
    str(NAMED_PATTERNS["gpt2"].pattern), str(NAMED_PATTERNS["starcoder"].pattern), *NAMED_PATTERNS["deepseek-v3"].stages,
    r"\p{L}+|\p{N}{1,3}|\s+$|[^\s\p{L}]", r"[^\s\p{P}]++|\s", r"[!-~]+|\s+?(?=\S)", r"(?:ab|a)+c|[a-c]{2,}", r"\S+|\s", "[一-龥]+|[^一-龥]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", WRITABLE)
def test_a_pattern_written_for_llama_cpp_splits_there_as_here(pattern: str) -> None:
    written = render_llama_cpp(parse(pattern))
    text = generated_text(seed=23, length=1500) + "".join(every_code_point()[::211]) + "ab aabc \u3000 \v x中\n"
    assert llama_cpp_pieces(written, text) == pretokenize(text, pattern)
    assert llama_cpp_pieces(written, text + "  ") == pretokenize(text + "  ", pattern)


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        (r"\p{Lu}+", r"no difference between U\+00C0 and U\+00AA, which are both \\p\{L\}"),
        (r"\p{Han}+", r"which are both \\p\{L\}"),
        (r"(?i:'s)|\p{L}", r"U\+017F"),
        (r"[\p{L}--]", "--"),
        (r"[^\S\v]", r"U\+000B"),
        (r"[^a\P{L}]", r"\\p\{L\} brings 'a'"),
        (r"(?<=a)b", "look-behind"),
        (r"^a", "start of the text"),
        (r"(?>a|ab)c", "no atomic groups"),
        (r"\p{Nd}", r"both \\p\{N\}"),
        (r"\w", "both"),
    ],
)
def test_what_llama_cpp_cannot_tell_apart_is_refused_by_name(pattern: str, complaint: str) -> None:
    with pytest.raises(PatternError, match=complaint):
        render_llama_cpp(parse(pattern))


@pytest.mark.parametrize("name", ["llama3", "qwen2", "o200k", "tekken", "kimi", "seed-coder", "cl100k", "deepseek-v3"])
def test_published_patterns_that_llama_cpp_only_approximates_are_refused(name: str) -> None:
    with pytest.raises(PatternError, match=r"llama\.cpp makes no difference"):
        render_llama_cpp(parse(str(NAMED_PATTERNS[name].pattern)))


def test_what_llama_cpp_has_for_gpt2_is_what_is_written_for_it() -> None:
    assert render_llama_cpp(parse(str(NAMED_PATTERNS["gpt2"].pattern))).startswith(
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"
    )
