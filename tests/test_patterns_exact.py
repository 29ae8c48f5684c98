"""Each named pattern splits as its official engine does, and the two engines of this package agree with it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from tokenizers import pre_tokenizers

from hf_bpe import NAMED_PATTERNS, Encoder
from hf_bpe.engine.reference import pretokenize
from hf_bpe.patterns import pattern_for
from tests.support.official import STAGES, TIKTOKEN_PATTERNS, oniguruma_pieces, tiktoken_ids_of_pieces
from tests.support.text import (
    RUNS,
    TROUBLE,
    WHITE_SPACE,
    assigned_code_points,
    difficult_text,
    edges_of_properties,
    every_code_point,
    generated_text,
    varied_code_points,
)
from tests.support.vocabularies import byte_spec

# "arabic" and "lines" are simpler than "indic" and "sentences", and run by the same automaton: 12 seconds each, for nothing new.
PATTERNS = [name for name in NAMED_PATTERNS if name not in ("none", "arabic", "lines")]
ENDINGS = [
    "",
    " ",
    "  ",
    "\n",
    " \n",
    "\n ",
    "\r\n",
    "\r",
    "\t",
    "\u3000",
    "a \n\n  ",
    "!\n",
    "/\n/",
    "'s",
    "'",
    "1",
    "e\u0301",
]


@pytest.fixture(scope="module", params=PATTERNS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def native_pieces(name: str, text: str) -> list[str]:
    pieces = Encoder(byte_spec(name), engine="native").pretokenize(text)
    assert "".join(pieces) == text
    return pieces


def assert_split_officially(name: str, text: str) -> None:
    """Native pieces are those of tiktoken and of `tokenizers` (which alone runs successive splits)."""
    pieces = native_pieces(name, text)
    if name in TIKTOKEN_PATTERNS:
        got, expected = tiktoken_ids_of_pieces(TIKTOKEN_PATTERNS[name], text, pieces)
        assert got == expected
        assert oniguruma_pieces([pattern_for(str(NAMED_PATTERNS[name].pattern), "oniguruma")], text) == pieces
    else:
        assert oniguruma_pieces(STAGES[name], text) == pieces


def in_contexts(characters: list[str]) -> str:
    """Each character alone, between letters, doubled, after a space, an apostrophe, a digit, a line break, before both."""
    return "".join(f" a{c}b {c}{c}'{c}1{c}\n{c} \n{c}A{c}!{c}  {c}" for c in characters)


def test_code_points_are_split_as_officially_in_every_context(name: str) -> None:
    characters = varied_code_points()
    assert len(characters) > 30_000
    assert_split_officially(name, in_contexts(characters))


def test_every_code_point_is_of_the_official_kind(name: str) -> None:
    """In ascending order, and between letters: a character of another kind would break a run or make one."""
    assert_split_officially(name, "".join(every_code_point()))
    assert_split_officially(name, "a".join(assigned_code_points()[::7]))


def test_reference_knows_every_assigned_code_point_as_native_does(name: str) -> None:
    text = "".join(assigned_code_points())
    assert len(text) > 155_000
    assert pretokenize(text, NAMED_PATTERNS[name].pattern) == native_pieces(name, text)


def test_reference_equals_native_at_the_edges_of_every_property(name: str) -> None:
    characters = edges_of_properties()
    assert len(characters) > 5_000
    text = in_contexts(characters)
    assert pretokenize(text, NAMED_PATTERNS[name].pattern) == native_pieces(name, text)


def test_long_text_of_trouble_is_split_as_officially(name: str) -> None:
    assert_split_officially(name, generated_text(seed=1, length=100_000))


def test_long_text_of_trouble_is_split_alike_by_reference_and_native(name: str) -> None:
    text = generated_text(seed=2, length=30_000)
    assert pretokenize(text, NAMED_PATTERNS[name].pattern) == native_pieces(name, text)


def test_every_ending_and_every_pair_of_trouble_is_split_as_officially(name: str) -> None:
    """The end of the text is where `$`, `(?!\\S)` and a cut-off run show."""
    for ending in ENDINGS:
        assert_split_officially(name, "A b" + ending)
        assert_split_officially(name, ending)
    for first in [*WHITE_SPACE, *RUNS]:
        for second in WHITE_SPACE:
            text = first + second
            pieces = native_pieces(name, text)
            assert pretokenize(text, NAMED_PATTERNS[name].pattern) == pieces, repr(text)
    pairs = "".join(f"x{a}{b}" for a in TROUBLE for b in TROUBLE)
    assert_split_officially(name, pairs)


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=200)
@given(text=difficult_text())
@example(text="  あ")  # DeepSeek: both spaces belong together, the next character being of another stage
@example(text="  1")  # StarCoder: likewise before a digit
@example(text="a\u0301B'ſ\u0301'S")
@example(text="'ſ'ſa ''s'ſs")
@example(text=" \u0301a1!\r\n \r\n")
def test_reference_equals_native_on_short_text(name: str, text: str) -> None:
    assert pretokenize(text, NAMED_PATTERNS[name].pattern) == native_pieces(name, text)


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=60)
@given(text=difficult_text(20))
def test_short_text_is_split_as_officially(name: str, text: str) -> None:
    assert_split_officially(name, text)


@pytest.mark.parametrize(("name", "spelling"), [(n.name, s) for n in NAMED_PATTERNS.values() for s in n.spellings])
def test_other_spellings_of_a_published_pattern_mean_the_same(name: str, spelling: str) -> None:
    text = generated_text(seed=4, length=20_000) + "  \n "
    assert pretokenize(text, spelling) == native_pieces(name, text)
    spelled = Encoder(byte_spec(spelling), engine="native")
    assert spelled.pretokenize(text) == native_pieces(name, text)


def test_none_keeps_the_whole_text_in_one_piece() -> None:
    text = generated_text(seed=5, length=100)
    assert Encoder(byte_spec("none")).pretokenize(text) == [text]
    assert Encoder(byte_spec("none")).pretokenize("") == []


@pytest.mark.parametrize(
    ("name", "text", "pieces"),
    [
        ("gpt2", "I'm 'S 12345  x\n\n", ["I", "'m", " '", "S", " 12345", " ", " x", "\n\n"]),
        ("cl100k", "I'M 12345\n \n  ", ["I", "'M", " ", "123", "45", "\n \n  "]),
        ("llama3", "I'M 12345\n \n  ", ["I", "'M", " ", "123", "45", "\n \n", "  "]),
        ("qwen2", "x=12", ["x", "=", "1", "2"]),
        ("o200k", "HTTPServer'Re /a\n/", ["HTTPServer'Re", " /", "a", "\n", "/"]),
        ("qwen3.5", "e\u0301a\u0301!\u0301x12", ["e\u0301a\u0301", "!\u0301x", "1", "2"]),
        ("tekken", "HTTPServer's 12/\n/", ["HTTPServer", "'s", " ", "1", "2", "/\n/"]),
        ("starcoder", "I'm  12  x\n1", ["I", "'m", "  ", "1", "2", " ", " x", "\n", "1"]),
        ("kimi", "中文Abc文x \u3007", ["中文", "Abc", "文", "x", " ", "\u3007"]),
        ("seed-coder", "x!\n\n12", ["x", "!", "\n\n", "1", "2"]),
        ("deepseek-v3", "(abc) 中あ12345x", ["(abc", ")", " ", "中あ", "123", "45", "x"]),
    ],
)
def test_pieces_of_a_known_text(name: str, text: str, pieces: list[str]) -> None:
    assert native_pieces(name, text) == pieces == pretokenize(text, NAMED_PATTERNS[name].pattern)


def test_starcoder_is_digits_then_byte_level() -> None:
    """As published: `Digits` before `ByteLevel`. `Digits` knows Unicode 17, whose 13 new digits are left out here."""
    published = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    newer = {chr(c) for c in (*range(0x11DE0, 0x11DEA), *range(0x16FF4, 0x16FF7))}
    everything = in_contexts([c for c in varied_code_points() if c not in newer])
    for text in (everything, *(generated_text(seed, 5_000) for seed in range(20))):
        pieces = [text[start:end] for _, (start, end) in published.pre_tokenize_str(text)]
        assert native_pieces("starcoder", text) == pieces


def test_the_check_against_tiktoken_can_fail() -> None:
    """Coarser, finer and shifted pieces are all seen as different."""
    for wrong in (["a b"], ["a", " b"], ["a", " ", "b"], ["a ", "b"]):
        got, expected = tiktoken_ids_of_pieces(r"\S| \S|\s", "a b", wrong)
        assert (got == expected) == (wrong == ["a", " b"])
