"""Ids of any kind back to text: lists, generators, arrays of every type, ragged batches; and what is refused."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import AddedToken, Encoder, TokenizerSpec, UnknownTokenError
from hf_bpe.engine.arrays import Ragged
from tests.support.text import generated_text
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec

both_engines = pytest.mark.parametrize("engine", ["native", "reference"])
INTEGERS = ["uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "<u4", ">u4", ">i8"]


@both_engines
@pytest.mark.parametrize("dtype", INTEGERS)
def test_arrays_of_any_integers(engine: Any, dtype: str) -> None:
    encoder = Encoder(byte_spec(), engine=engine)
    ids = np.array([104, 105, 195, 169], dtype=dtype)
    assert encoder.decode(ids) == "hié"
    assert encoder.decode_bytes(ids) == "hié".encode()
    assert encoder.decode(ids[::-1][2:]) == "ih"
    assert encoder.decode(np.repeat(ids, 2)[::2]) == "hié"
    assert encoder.decode(ids[:0]) == ""
    assert encoder.decode_bytes(ids[:0]) == b""
    ids.flags.writeable = False
    assert encoder.decode(ids) == "hié"


@both_engines
@pytest.mark.parametrize(
    "make", [list, tuple, iter, lambda ids: (i for i in ids), lambda ids: array("q", list(ids)), bytes, memoryview]
)
def test_anything_that_gives_integers(engine: Any, make: Any) -> None:
    encoder = Encoder(byte_spec(), engine=engine)
    assert encoder.decode(make(b"hi")) == "hi"
    assert encoder.decode_bytes(make(b"hi")) == b"hi"
    assert encoder.decode([np.uint32(104), np.int64(105), True]) == "hi\x01"
    assert encoder.decode([]) == encoder.decode(range(0)) == ""
    assert encoder.decode({104: None}) == "h"  # type: ignore[arg-type]


@both_engines
@pytest.mark.parametrize(
    "bad", [256, 257, 299, 301, -1, -(2**31), 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 97, 2**63, 2**70, -(2**70)]
)
def test_unknown_ids_are_refused(engine: Any, bad: int) -> None:
    encoder = Encoder(byte_spec(added_tokens=(AddedToken("<s>", 300),)), engine=engine)
    assert encoder.decode([300]) == "<s>"
    forms: list[Any] = [[97, bad], (97, bad), iter([97, bad])]
    forms += [np.array([97, bad], dtype=d) for d in ("int64", "uint64") if np.iinfo(d).min <= bad <= np.iinfo(d).max]
    forms += [np.array([97, bad], dtype="uint32")] if 0 <= bad < 2**32 else []
    shown = rf"id {bad} " if abs(bad) < 2**63 else "id "
    for ids in forms:
        with pytest.raises(UnknownTokenError, match=f"{shown}.*is not in the vocabulary|{shown}is not in the vocabulary"):
            encoder.decode(ids)
    with pytest.raises(UnknownTokenError):
        encoder.decode_bytes([bad])
    with pytest.raises(UnknownTokenError):
        encoder.decode_single_token_bytes(bad)
    with pytest.raises(UnknownTokenError):
        encoder.decode_batch([[97], [bad]])
    with pytest.raises(KeyError):
        encoder.decode([bad])


@both_engines
@pytest.mark.parametrize(
    "bad", [[1.0], [97, "a"], ["97"], [None], [[97]], None, 97, np.array([97.0]), np.array([[97, 98]]), np.array(97), [b"a"]]
)
def test_what_are_no_ids_is_refused(engine: Any, bad: Any) -> None:
    encoder = Encoder(byte_spec(), engine=engine)
    for call in (encoder.decode, encoder.decode_bytes):
        with pytest.raises((TypeError, ValueError)):
            call(bad)


@both_engines
def test_a_failing_iterable_raises_its_own_error(engine: Any) -> None:
    def ids() -> Any:
        yield 97
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        Encoder(byte_spec(), engine=engine).decode(ids())


@settings(max_examples=300)
@given(
    content=st.one_of(st.binary(max_size=12), st.text(max_size=6).map(lambda t: t.encode()[1:])),
    errors=st.sampled_from(["replace", "ignore", "backslashreplace", "surrogateescape", "strict"]),
)
def test_errors_mean_what_they_mean_to_bytes(content: bytes, errors: str) -> None:
    try:
        expected: str | None = content.decode("utf-8", errors)
    except UnicodeDecodeError:
        expected = None
    for engine in ("native", "reference"):
        encoder = Encoder(byte_spec(), engine=engine)  # type: ignore[arg-type]
        for ids in (list(content), np.frombuffer(content, dtype=np.uint8).astype(np.uint32)):
            assert encoder.decode_bytes(ids) == content
            if expected is None:
                with pytest.raises(UnicodeDecodeError):
                    encoder.decode(ids, errors)
            else:
                assert encoder.decode(ids, errors) == expected
                assert encoder.decode_batch([ids, ids], errors) == [expected] * 2


@both_engines
def test_a_mode_nobody_knows_is_refused_where_it_matters(engine: Any) -> None:
    with pytest.raises(LookupError):
        Encoder(byte_spec(), engine=engine).decode([0xFF], errors="unheard-of")


@both_engines
def test_batches_of_every_kind(engine: Any) -> None:
    encoder = Encoder(byte_spec(), engine=engine)
    texts = ["hi", "", "é"]
    ragged = encoder.encode_ordinary_batch_to_numpy(texts)
    assert encoder.decode_batch(ragged) == texts
    assert encoder.decode_batch(encoder.encode_ordinary_batch_to_numpy(texts, dtype="uint16")) == texts
    assert encoder.decode_batch(list(ragged.rows())) == texts
    assert encoder.decode_batch(encoder.encode_batch(texts)) == texts
    assert encoder.decode_batch(np.array([[104, 105], [97, 98]], dtype=np.uint32)) == ["hi", "ab"]  # type: ignore[arg-type]
    assert encoder.decode_batch([]) == encoder.decode_batch(Ragged(np.empty(0, np.uint32), np.array([0]))) == []
    assert encoder.decode_batch(Ragged(ragged.ids, ragged.offsets[1:])) == ["", "é"]


@both_engines
def test_added_tokens_take_the_bytes_of_their_text(engine: Any) -> None:
    spec = TokenizerSpec(
        vocab=BYTES | {b"ab": 256}, merges=((b"a", b"b"),), added_tokens=(AddedToken("ab", 256), AddedToken("<é中>", 5000))
    )
    encoder = Encoder(spec, engine=engine)
    assert encoder.decode(np.array([256, 5000, 97], dtype=np.uint16)) == "ab<é中>a"
    assert encoder.decode_bytes(np.array([5000] * 1000, dtype=np.uint32)) == "<é中>".encode() * 1000


@both_engines
@pytest.mark.parametrize("length", [1, 4, 8, 15, 16, 17, 31, 32, 33, 64, 255, 256, 257, 1000])
def test_tokens_of_any_length_among_short_ones(engine: Any, length: int) -> None:
    long = bytes(range(97, 122)) * 40
    token = long[:length] if length > 1 else b"zz"
    encoder = Encoder(TokenizerSpec(vocab=BYTES | {token: 9999}, merges=()), engine=engine)
    for ids in ([9999], [9999] * 3, [97, 9999, 98], [9999, 97] * 300, [97] * 255 + [9999], [97] * 256 + [9999] + [97] * 7):
        expected = b"".join(token if i == 9999 else b"a" if i == 97 else b"b" for i in ids)
        assert encoder.decode_bytes(ids) == expected
        assert encoder.decode_bytes(np.array(ids, dtype=np.uint32)) == expected


def test_long_text_comes_back_from_every_kind() -> None:
    encoder = Encoder(cl100k_spec(), engine="native")
    text = generated_text(3, 100_000)
    ids = encoder.encode_ordinary(text)
    for form in (
        ids,
        tuple(ids),
        np.array(ids),
        np.array(ids, dtype=np.uint32),
        np.repeat(np.array(ids, dtype=np.uint32), 2)[::2],
    ):
        assert encoder.decode(form) == text
