"""Text made to hurt: it must come out right, or be refused, and never hang or crash. No clock is read."""

from __future__ import annotations

import pytest
import tiktoken

from hf_bpe import NAMED_PATTERNS, Encoder, PatternError, train
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.vocabularies import CL100K_SPECIALS, byte_spec, cl100k_ranks, cl100k_spec, gpt2_spec

MEGABYTES = {
    "letters": "a" * 1_000_000,
    "spaces": " " * 1_000_000,
    "spaces then a letter": " " * 1_000_000 + "a",
    "line breaks": "\n" * 1_000_000,
    "line breaks and spaces": "\n " * 500_000,
    "returns": "\r" * 1_000_000 + "a",
    "carets": "^" * 1_000_000,
    "digits": "7" * 1_000_000,
    "apostrophes": "'" * 1_000_000,
    "contractions": "'s" * 500_000,
    "marks": "\u0301" * 500_000,
    "Chinese": "中" * 350_000,
    "kana and its dots": "ア・" * 170_000,
    "capitals": "A" * 1_000_000,
    "capitals and small letters": "aB" * 500_000,
    "nothing known": "\u0378" * 500_000,
    "zeros": "\0" * 1_000_000,
    "slashes": "/" * 1_000_000,
    "joined emoji": "👩\u200d💻" * 90_000,
}


@pytest.fixture(scope="module")
def cl100k() -> Encoder:
    return Encoder(cl100k_spec(), engine="native")


@pytest.mark.parametrize("name", NAMED_PATTERNS)
def test_a_megabyte_of_monotony_is_split_without_loss(name: str) -> None:
    encoder = Encoder(byte_spec(name), engine="native")
    for kind, text in MEGABYTES.items():
        assert "".join(encoder.pretokenize(text)) == text, kind
        assert encoder.count(text) == len(text.encode()), kind


@pytest.mark.parametrize("kind", MEGABYTES)
def test_a_megabyte_of_monotony_comes_back(kind: str, cl100k: Encoder) -> None:
    text = MEGABYTES[kind]
    assert cl100k.decode(cl100k.encode_ordinary(text)) == text


@pytest.mark.parametrize("kind", MEGABYTES)
def test_monotony_is_encoded_as_tiktoken_encodes_it(kind: str, cl100k: Encoder) -> None:
    official = tiktoken.Encoding(
        "cl100k", pat_str=TIKTOKEN_PATTERNS["cl100k"], mergeable_ranks=cl100k_ranks(), special_tokens=CL100K_SPECIALS
    )
    for length in (47, 48, 49, 50, 99, 128, 129, 1000, 20_000):
        text = MEGABYTES[kind][-length:]
        assert cl100k.encode_ordinary(text) == official.encode_ordinary(text), length


def test_one_piece_of_a_megabyte_without_a_pattern() -> None:
    encoder = Encoder(gpt2_spec().replace(pattern=None), engine="native")
    text = "the quick brown fox\n" * 50_000
    assert encoder.decode(encoder.encode_ordinary(text)) == text


@pytest.mark.parametrize("pattern", [r"(?:a|aa)+b|(?=a)a(?<!z)c", r"(a+)+(?=b)b", r"(?:a(?!z)|a(?!z)a)+b", r"(?:a(?!z))*b"])
def test_a_pattern_that_backtracks_catastrophically_gives_an_error_or_an_answer(pattern: str) -> None:
    encoder = Encoder(byte_spec(pattern), engine="native")
    text = "a" * 3000 + "!"
    try:
        assert "".join(encoder.pretokenize(text)) == text
    except PatternError as error:
        assert "gave up at byte 0" in str(error)  # noqa: PT017
    assert encoder.pretokenize("aab!") == ["aab", "!"]  # still usable


def test_the_limit_of_backtracking_is_a_typed_error_in_every_call() -> None:
    pattern = r"(?:a(?!z)|a(?!z)a)+b"
    encoder = Encoder(byte_spec(pattern), engine="native")
    text = "x" + "a" * 100
    for call in (encoder.encode, encoder.encode_ordinary, encoder.count, encoder.pretokenize):
        with pytest.raises(PatternError, match="gave up at byte"):
            call(text)
    with pytest.raises(PatternError, match="gave up at byte"):
        encoder.encode_batch(["fine", text, "fine"], num_threads=2)
    with pytest.raises(PatternError, match="gave up at byte"):
        train(iter(["fine", text]), 300, pattern=pattern, progress=False, engine="native")


@pytest.mark.filterwarnings("ignore:only .* merges")
@pytest.mark.parametrize("kind", ["letters", "spaces", "capitals and small letters", "nothing known"])
def test_training_on_a_megabyte_of_monotony(kind: str) -> None:
    spec = train(iter([MEGABYTES[kind]]), 300, pattern=None, progress=False)
    assert Encoder(spec).decode(Encoder(spec).encode_ordinary(MEGABYTES[kind])) == MEGABYTES[kind]
    assert len(spec.merges) >= 8
