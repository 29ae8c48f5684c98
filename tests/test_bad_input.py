"""What is not text, and what is not an id."""

from __future__ import annotations

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import AddedToken, Encoder, HfBpeError, UnknownTokenError
from tests.support.vocabularies import BYTES, byte_spec

ENGINES = pytest.mark.parametrize("engine", ["native", "reference"])


def encoder(engine: str = "native") -> Encoder:
    return Encoder(byte_spec("gpt2", added_tokens=(AddedToken("<s>", 300),)), engine=engine)  # type: ignore[arg-type]


@given(text=st.text(st.characters(categories=["Cs", "L", "Zs"]), max_size=20))
def test_lone_surrogates_are_read_as_tiktoken_reads_them(text: str) -> None:
    official = tiktoken.Encoding("bytes", pat_str=r"[\s\S]+", mergeable_ranks=BYTES, special_tokens={})
    expected = official.encode_ordinary(text)
    for engine in ("native", "reference"):
        ours = Encoder(byte_spec(), engine=engine)  # type: ignore[arg-type]
        assert ours.encode_ordinary(text) == ours.encode(text) == expected
        assert ours.encode_batch([text, "a"]) == [expected, [97]]
        assert ours.count(text) == len(expected)


@ENGINES
@pytest.mark.parametrize("text", [None, b"bytes", 1, ["a"], object()])
def test_what_is_not_text_is_a_type_error(engine: str, text: object) -> None:
    with pytest.raises(TypeError):
        encoder(engine).encode_ordinary(text)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        encoder(engine).encode_batch([text])  # type: ignore[list-item]


def test_one_text_in_place_of_a_batch_is_refused() -> None:
    with pytest.raises(TypeError, match="not one str; use encode"):
        encoder().encode_batch("abc")


@ENGINES
@pytest.mark.parametrize("token_id", [256, 299, 301, -1, 2**31, 2**32, 2**63, 2**70, -(2**70)])
def test_an_id_that_is_not_in_use_is_named(engine: str, token_id: int) -> None:
    with pytest.raises(UnknownTokenError, match=r"^id -?\d+ is not in the vocabulary$") as caught:
        encoder(engine).decode([97, token_id])
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, HfBpeError)
    with pytest.raises(UnknownTokenError):
        encoder(engine).decode_single_token_bytes(token_id)


@ENGINES
@pytest.mark.parametrize("ids", [None, 5, ["a"], [None], [1.5]])
def test_what_are_not_ids_is_an_error(engine: str, ids: object) -> None:
    with pytest.raises((TypeError, UnknownTokenError)):
        encoder(engine).decode(ids)  # type: ignore[arg-type]


@ENGINES
def test_ids_that_are_not_whole_characters_decode_to_replacement_characters(engine: str) -> None:
    assert encoder(engine).decode([0xF0, 0x9F, 0x98]) == "\ufffd"
    assert encoder(engine).decode_bytes([0xF0, 0x9F, 0x98]) == b"\xf0\x9f\x98"
    with pytest.raises(UnicodeDecodeError):
        encoder(engine).decode([0xFF], errors="strict")


@ENGINES
def test_nothing_in_nothing_out(engine: str) -> None:
    assert encoder(engine).encode("") == []
    assert encoder(engine).decode([]) == ""
    assert encoder(engine).count("") == 0


def test_an_unknown_token_is_named() -> None:
    with pytest.raises(UnknownTokenError, match="'abc' is not a token"):
        encoder().encode_single_token("abc")
    for token in ("\ud800", "a\udfff", "\ud83d\ude00"):
        with pytest.raises(UnknownTokenError, match="holds a surrogate"):
            encoder().encode_single_token(token)


def test_an_engine_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="engine 'rust' is not known"):
        Encoder(byte_spec(), engine="rust")  # type: ignore[arg-type]
