"""Ids back to bytes and text."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import AddedToken, Encoder, TokenizerSpec, UnknownTokenError
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.text import difficult_text, generated_text
from tests.support.vocabularies import CL100K_SPECIALS, byte_spec, cl100k_ranks, cl100k_spec, random_specs


@pytest.fixture(scope="module")
def cl100k() -> Encoder:
    return Encoder(cl100k_spec(), engine="native")


@pytest.fixture(scope="module")
def official() -> tiktoken.Encoding:
    return tiktoken.Encoding(
        "cl100k", pat_str=TIKTOKEN_PATTERNS["cl100k"], mergeable_ranks=cl100k_ranks(), special_tokens=CL100K_SPECIALS
    )


@settings(max_examples=150)
@given(spec=random_specs(), text=difficult_text())
def test_every_text_comes_back_unless_the_spec_drops_some(spec: TokenizerSpec, text: str) -> None:
    for engine in ("native", "reference"):
        encoder = Encoder(spec, engine=engine)  # type: ignore[arg-type]
        kept = "".join(encoder.pretokenize(text))
        assert spec.unmatched == "drop" or kept == text
        assert encoder.decode(encoder.encode_ordinary(text)) == kept


@settings(max_examples=200)
@given(ids=st.lists(st.integers(0, 100_260).filter(lambda i: i != 100_256), max_size=30))
def test_any_ids_decode_as_tiktoken_decodes_them(ids: list[int], cl100k: Encoder, official: tiktoken.Encoding) -> None:
    assert cl100k.decode_bytes(ids) == official.decode_bytes(ids)
    assert cl100k.decode(ids) == official.decode(ids)
    assert Encoder(byte_spec(), engine="reference").decode([i % 256 for i in ids]) == bytes(i % 256 for i in ids).decode(
        "utf-8", "replace"
    )


def test_every_token_decodes_to_its_bytes(cl100k: Encoder) -> None:
    vocab = cl100k.spec.vocab
    assert all(cl100k.decode_single_token_bytes(token_id) == token for token, token_id in vocab.items())
    assert all(cl100k.encode_single_token(token) == token_id for token, token_id in vocab.items())
    assert cl100k.decode_bytes(list(vocab.values())) == b"".join(vocab)


def test_every_token_is_encoded_as_itself_where_its_bytes_are_one_piece(cl100k: Encoder) -> None:
    """Every token of this vocabulary can be reached by merging, so none needs a look-up as a whole."""
    encoder = Encoder(cl100k.spec.replace(pattern=None, added_tokens=()), engine="native")
    texts = {
        token.decode(): token_id
        for token, token_id in cl100k.spec.vocab.items()
        if token.decode("utf-8", "ignore").encode() == token
    }
    assert len(texts) > 98_000
    assert encoder.encode_batch(list(texts)) == [[token_id] for token_id in texts.values()]


def test_a_character_cut_in_two_is_replaced_ignored_or_refused_as_asked(cl100k: Encoder) -> None:
    ids = cl100k.encode_ordinary("😉")
    assert len(ids) > 1
    half = ids[:1]
    assert cl100k.decode(half) == "\ufffd"
    assert cl100k.decode(half, errors="ignore") == ""
    with pytest.raises(UnicodeDecodeError):
        cl100k.decode(half, errors="strict")
    assert b"".join(cl100k.decode_bytes([i]) for i in ids).decode() == "😉"


def test_a_replacement_character_in_the_text_stays_one(cl100k: Encoder) -> None:
    assert cl100k.decode(cl100k.encode_ordinary("a\ufffdb"), errors="strict") == "a\ufffdb"


@pytest.mark.parametrize(
    "make", [tuple, np.array, lambda ids: array("I", ids), lambda ids: np.array(ids, dtype=np.uint16), iter]
)
def test_ids_may_come_in_any_sequence_of_integers(make: object) -> None:
    for engine in ("native", "reference"):
        assert Encoder(byte_spec(), engine=engine).decode(make([104, 105])) == "hi"  # type: ignore[arg-type, operator]


def test_decoding_a_batch_decodes_each(cl100k: Encoder) -> None:
    texts = [generated_text(seed, 30) for seed in range(20)] + [""]
    assert cl100k.decode_batch(cl100k.encode_ordinary_batch(texts)) == texts


def test_added_tokens_decode_to_their_text_and_holes_are_unknown() -> None:
    spec = byte_spec().replace(added_tokens=(AddedToken("<é>", 300), AddedToken(" ", 32)))
    for engine in ("native", "reference"):
        encoder = Encoder(spec, engine=engine)  # type: ignore[arg-type]
        assert encoder.decode([300, 32, 97]) == "<é> a"
        with pytest.raises(UnknownTokenError, match="299"):
            encoder.decode([97, 299])
