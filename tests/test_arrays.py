"""Ids as arrays: the same ids as in lists, for one text, for many, and for text that stands in a buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import AddedToken, CorpusError, DisallowedSpecialTokenError, Encoder, TokenizerSpec
from hf_bpe.engine.arrays import Ragged
from tests.support.text import difficult_text, generated_text
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec, gpt2_spec, random_specs

both_engines = pytest.mark.parametrize("engine", ["native", "reference"])


def laid_end_to_end(texts: list[str]) -> tuple[bytes, np.ndarray[Any, Any]]:
    encoded = [text.encode() for text in texts]
    return b"".join(encoded), np.cumsum([0, *map(len, encoded)], dtype=np.int64)


def check_ragged(found: Ragged, rows: list[list[int]], dtype: str) -> None:
    assert (found.ids.dtype, found.offsets.dtype) == (np.dtype(dtype), np.dtype("int64"))
    assert found.offsets.tolist() == np.cumsum([0, *map(len, rows)]).tolist()
    assert [row.tolist() for row in found.rows()] == rows
    assert found.ids.flags.c_contiguous
    assert found.ids.flags.writeable


@settings(max_examples=150)
@given(spec=random_specs(), texts=st.lists(difficult_text(12), max_size=6), threads=st.sampled_from([1, 2, 7]))
def test_every_call_gives_the_same_ids(spec: TokenizerSpec, texts: list[str], threads: int) -> None:
    expected = [Encoder(spec, engine="reference").encode_ordinary(text) for text in texts]
    data, offsets = laid_end_to_end(texts)
    for engine in ("native", "reference"):
        encoder = Encoder(spec, engine=engine)  # type: ignore[arg-type]
        for text, ids in zip(texts, expected, strict=True):
            assert encoder.encode_ordinary_to_numpy(text).tolist() == encoder.encode_to_numpy(text).tolist() == ids
            assert encoder.count_ordinary(text) == len(ids)
        assert encoder.encode_ordinary_batch(texts, num_threads=threads) == expected
        assert encoder.count_ordinary_batch(texts, num_threads=threads) == list(map(len, expected))
        for dtype in ("uint32", "uint16"):
            check_ragged(encoder.encode_ordinary_batch_to_numpy(texts, num_threads=threads, dtype=dtype), expected, dtype)
            check_ragged(encoder.encode_batch_to_numpy(texts, num_threads=threads, dtype=dtype), expected, dtype)
            check_ragged(encoder.encode_ordinary_utf8(data, offsets, num_threads=threads, dtype=dtype), expected, dtype)


# ---------------------------------------------------------------------------------------------------------------------
# Types of ids


@both_engines
@pytest.mark.parametrize("dtype", ["uint16", "uint32", np.uint16, np.uint32, np.dtype("uint16"), np.dtype("uint32")])
def test_a_type_may_be_named_or_given(engine: Any, dtype: Any) -> None:
    encoder = Encoder(byte_spec("gpt2"), engine=engine)
    for ids in (encoder.encode_to_numpy("hé", dtype=dtype), encoder.encode_ordinary_to_numpy("hé", dtype=dtype)):
        assert ids.dtype == np.dtype(dtype)
        assert ids.tolist() == [104, 195, 169]
        assert ids.shape == (3,)
    check_ragged(
        encoder.encode_batch_to_numpy(["hé", "", "x"], dtype=dtype), [[104, 195, 169], [], [120]], str(np.dtype(dtype))
    )


@both_engines
@pytest.mark.parametrize("dtype", ["int32", "int64", np.int64, "float32", "u2", "uint8", int, np.int8, None])
def test_other_types_are_refused(engine: Any, dtype: Any) -> None:
    encoder = Encoder(byte_spec(), engine=engine)
    data, offsets = laid_end_to_end(["a"])
    for call in (
        lambda: encoder.encode_to_numpy("a", dtype=dtype),
        lambda: encoder.encode_ordinary_to_numpy("a", dtype=dtype),
        lambda: encoder.encode_batch_to_numpy(["a"], dtype=dtype),
        lambda: encoder.encode_ordinary_batch_to_numpy(["a"], dtype=dtype),
        lambda: encoder.encode_ordinary_utf8(data, offsets, dtype=dtype),
    ):
        with pytest.raises(ValueError, match="must be uint32 or uint16: use"):
            call()


@both_engines
@pytest.mark.parametrize(("largest", "fits"), [(65_535, True), (65_536, False), (2**31 - 1, False)])
@pytest.mark.parametrize("added", [False, True])
def test_uint16_is_refused_exactly_where_an_id_would_not_fit(engine: Any, largest: int, fits: bool, added: bool) -> None:
    vocab, tokens = (BYTES, (AddedToken("ab", largest, special=False),)) if added else (BYTES | {b"ab": largest}, ())
    spec = TokenizerSpec(vocab=vocab, merges=() if added else ((b"a", b"b"),), added_tokens=tokens)
    encoder = Encoder(spec, engine=engine)
    if fits:
        assert encoder.encode_ordinary_to_numpy("cab", dtype="uint16").tolist() == [99, largest]
    else:
        with pytest.raises(ValueError, match=f"ids up to {largest} do not fit uint16; use uint32"):
            encoder.encode_ordinary_to_numpy("cab", dtype="uint16")
    assert encoder.encode_ordinary_to_numpy("cab").tolist() == [99, largest]
    assert encoder.encode_ordinary_batch_to_numpy(["cab"], num_threads=2).ids.tolist() == [99, largest]


# ---------------------------------------------------------------------------------------------------------------------
# Special tokens


@both_engines
def test_special_tokens_are_treated_as_in_encode(engine: Any) -> None:
    tokens = (AddedToken("<s>", 300), AddedToken("<p>", 301, special=False))
    encoder = Encoder(byte_spec(added_tokens=tokens), engine=engine)
    assert encoder.encode_to_numpy("a<s><p>", allowed_special="all").tolist() == [97, 300, 301]
    assert encoder.encode_to_numpy("<s><p>", disallowed_special=()).tolist() == [*b"<s>", 301]
    assert encoder.encode_ordinary_to_numpy("<s><p>").tolist() == [*b"<s>", 301]
    check_ragged(encoder.encode_batch_to_numpy(["<s>", "x"], allowed_special={"<s>"}), [[300], [120]], "uint32")
    check_ragged(encoder.encode_ordinary_utf8(b"<s><p>", np.array([0, 3, 6])), [[*b"<s>"], [301]], "uint32")
    for call in (
        lambda: encoder.encode_to_numpy("a<s>"),
        lambda: encoder.encode_batch_to_numpy(["a", "<s>"], num_threads=1),
        lambda: encoder.encode_batch_to_numpy(["a"] * 100 + ["<s>"], num_threads=3),
    ):
        with pytest.raises(DisallowedSpecialTokenError, match="<s>"):
            call()
    assert encoder.encode_to_numpy("fine").tolist() == [*b"fine"]


# ---------------------------------------------------------------------------------------------------------------------
# Batches


@both_engines
def test_no_texts_and_empty_texts(engine: Any) -> None:
    encoder = Encoder(byte_spec("gpt2"), engine=engine)
    for threads in (1, 2, None):
        check_ragged(encoder.encode_ordinary_batch_to_numpy([], num_threads=threads), [], "uint32")
        check_ragged(encoder.encode_batch_to_numpy([], num_threads=threads, dtype="uint16"), [], "uint16")
        check_ragged(encoder.encode_ordinary_batch_to_numpy([""], num_threads=threads), [[]], "uint32")
        check_ragged(encoder.encode_batch_to_numpy(["", "", ""], num_threads=threads), [[], [], []], "uint32")
        check_ragged(encoder.encode_batch_to_numpy(["", "ab", ""], num_threads=threads), [[], [97, 98], []], "uint32")
        check_ragged(encoder.encode_ordinary_utf8(b"", np.array([0]), num_threads=threads), [], "uint32")
        check_ragged(encoder.encode_ordinary_utf8(b"", np.array([0, 0, 0]), num_threads=threads), [[], []], "uint32")
        assert encoder.count_ordinary_batch([], num_threads=threads) == []
        assert encoder.count_ordinary_batch(["", ""], num_threads=threads) == [0, 0]
    assert encoder.encode_to_numpy("").shape == (0,)
    assert encoder.encode_to_numpy("", dtype="uint16").dtype == np.uint16


def test_threads_do_not_change_results() -> None:
    # Shares of 256 KiB: texts below, around and above that, and empty ones between.
    encoder = Encoder(gpt2_spec(), engine="native")
    sizes = [0, 1, 70_000, 3, 0, 90_000, 90_000, 1, 300_000, 0, 5, 5, 262_144, 262_143, 1, 0]
    source = generated_text(1, 300_000)
    texts = [source[:size] for size in sizes]
    rows = [encoder.encode_ordinary(text) for text in texts]
    data, offsets = laid_end_to_end(texts)
    for threads in (1, 2, 3, 16, 200):
        check_ragged(encoder.encode_ordinary_batch_to_numpy(texts, num_threads=threads), rows, "uint32")
        check_ragged(encoder.encode_ordinary_batch_to_numpy(texts, num_threads=threads, dtype="uint16"), rows, "uint16")
        check_ragged(encoder.encode_ordinary_utf8(data, offsets, num_threads=threads), rows, "uint32")
        assert encoder.encode_ordinary_batch(texts, num_threads=threads) == rows
        assert encoder.count_ordinary_batch(texts, num_threads=threads) == list(map(len, rows))


def test_one_huge_text_among_many_short_ones() -> None:
    encoder = Encoder(cl100k_spec(), engine="native")
    texts = [f"short {n}" for n in range(3000)]
    texts.insert(1500, generated_text(7, 400_000))
    rows = [encoder.encode_ordinary(text) for text in texts]
    for threads in (1, 2, 5):
        check_ragged(encoder.encode_ordinary_batch_to_numpy(texts, num_threads=threads), rows, "uint32")


@both_engines
@pytest.mark.parametrize(
    "call", ["encode_batch", "encode_ordinary_batch", "encode_batch_to_numpy", "encode_ordinary_batch_to_numpy"]
)
def test_what_is_no_batch_is_refused(engine: Any, call: str) -> None:
    encoder = Encoder(byte_spec(), engine=engine)
    with pytest.raises(TypeError, match="a batch is a sequence of texts, not one str"):
        getattr(encoder, call)("text")
    for bad in ([b"bytes"], ["fine", None], [3]):
        with pytest.raises(TypeError):
            getattr(encoder, call)(bad)
    with pytest.raises(ValueError, match="num_threads must be at least 1"):
        getattr(encoder, call)(["a"], num_threads=0)


@both_engines
def test_a_batch_may_be_a_tuple_or_an_array_of_texts(engine: Any) -> None:
    encoder = Encoder(byte_spec(), engine=engine)
    for batch in (("ab", "c"), np.array(["ab", "c"]), np.array(["ab", "c"], dtype=object)):
        check_ragged(encoder.encode_ordinary_batch_to_numpy(batch), [[97, 98], [99]], "uint32")


@both_engines
def test_rows_are_views(engine: Any) -> None:
    found = Encoder(byte_spec(), engine=engine).encode_ordinary_batch_to_numpy(["ab", "", "c"])
    rows = list(found.rows())
    assert [row.shape for row in rows] == [(2,), (0,), (1,)]
    rows[2][0] = 7
    assert found.ids.tolist() == [97, 98, 7]
    ids, offsets = found
    assert ids is found.ids
    assert offsets is found.offsets


@both_engines
def test_arrays_are_the_callers_own(engine: Any) -> None:
    encoder = Encoder(byte_spec("gpt2"), engine=engine)
    first = encoder.encode_ordinary_to_numpy("word word")
    first[:] = 0
    assert encoder.encode_ordinary("word word") == [*b"word word"]


@both_engines
def test_surrogates_count_as_what_they_mean(engine: Any) -> None:
    encoder = Encoder(byte_spec("gpt2"), engine=engine)
    for text, meaning in (("a\ud800b", "a\ufffdb"), ("\udc00\ud800", "\ufffd\ufffd"), ("\ud83d\ude09", "😉")):
        expected = [*meaning.encode()]
        assert encoder.encode_to_numpy(text).tolist() == encoder.encode_ordinary(text) == expected
        check_ragged(encoder.encode_ordinary_batch_to_numpy([text, text], num_threads=2), [expected] * 2, "uint32")
        assert encoder.count_ordinary_batch([text]) == [encoder.count_ordinary(text)] == [len(expected)]
        assert encoder.encode_with_offsets(text, unit="bytes")[0].tolist() == expected


# ---------------------------------------------------------------------------------------------------------------------
# Text in a buffer


@both_engines
@pytest.mark.parametrize(
    "make",
    [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, dtype=np.uint8), lambda data: memoryview(bytearray(data))],
)
def test_text_may_stand_in_any_buffer(engine: Any, make: Any) -> None:
    encoder = Encoder(cl100k_spec(), engine=engine)
    texts = ["hello world", "", "é中😉", "tail"]
    data, offsets = laid_end_to_end(texts)
    check_ragged(encoder.encode_ordinary_utf8(make(data), offsets), [encoder.encode_ordinary(t) for t in texts], "uint32")


@both_engines
def test_offsets_need_not_begin_at_zero_nor_reach_the_end(engine: Any) -> None:
    encoder = Encoder(byte_spec("gpt2"), engine=engine)
    data = b"\xff\xffab" + "é".encode() + b"\xff"
    check_ragged(encoder.encode_ordinary_utf8(data, np.array([2, 3, 3, 6])), [[97], [], [98, 195, 169]], "uint32")
    check_ragged(encoder.encode_ordinary_utf8(data, np.array([7, 7])), [[]], "uint32")
    check_ragged(encoder.encode_ordinary_utf8(data, np.array([4])), [], "uint32")


@both_engines
def test_offsets_may_be_a_slice_with_steps(engine: Any) -> None:
    encoder = Encoder(byte_spec("gpt2"), engine=engine)
    offsets = np.array([0, 9, 1, 9, 3])[::2]
    check_ragged(encoder.encode_ordinary_utf8(b"abc", offsets), [[97], [98, 99]], "uint32")


@both_engines
@pytest.mark.parametrize("offsets", [[], [0, 4], [-1, 2], [0, 2, 1], [3, 2], [4], [0, 2**62], [-(2**63), 0]])
def test_offsets_out_of_order_are_refused(engine: Any, offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="offset"):
        Encoder(byte_spec(), engine=engine).encode_ordinary_utf8(b"abc", np.array(offsets, dtype=np.int64))


@both_engines
@pytest.mark.parametrize(
    ("bad", "place"),
    [(b"\xff", 0), (b"a\x80", 1), (b"ab\xc3", 2), (b"\xed\xa0\x80", 0), (b"\xc0\x80", 0), (b"a\xf0\x9f\x98", 1)],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_not_utf8_is_named_by_text_and_byte(engine: Any, bad: bytes, place: int, threads: int) -> None:
    encoder = Encoder(byte_spec("gpt2"), engine=engine)
    before = ["fine", "", "é" * 50]
    data, offsets = laid_end_to_end(before)
    offsets = np.array([*offsets, len(data) + len(bad), len(data) + len(bad) + 2])
    with pytest.raises(CorpusError, match=rf"text 3 is not UTF-8.* byte {len(data) + place}\b"):
        encoder.encode_ordinary_utf8(data + bad + b"ok", offsets, num_threads=threads)
    check_ragged(encoder.encode_ordinary_utf8(b"ok", np.array([0, 2])), [[111, 107]], "uint32")


@both_engines
def test_an_offset_inside_a_character_is_not_utf8(engine: Any) -> None:
    with pytest.raises(CorpusError, match=r"text 0 is not UTF-8.* byte 1\b"):
        Encoder(byte_spec(), engine=engine).encode_ordinary_utf8("aé".encode(), np.array([0, 2, 3]))


NOT_BUFFERS = ["text", None, 3, [97, 98], np.array([97, 98], dtype=np.uint16), memoryview(b"abcd")[::2]]
NOT_OFFSETS = [np.array([0.0, 2.0]), np.array([[0, 2]]), None, 3]


@pytest.mark.parametrize("data", NOT_BUFFERS)
def test_what_is_no_buffer_of_bytes_is_refused(data: Any) -> None:
    with pytest.raises((TypeError, BufferError, ValueError)):
        Encoder(byte_spec(), engine="native").encode_ordinary_utf8(data, np.array([0, 0]))


@pytest.mark.parametrize("offsets", NOT_OFFSETS)
def test_what_are_no_offsets_is_refused(offsets: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        Encoder(byte_spec(), engine="native").encode_ordinary_utf8(b"ab", offsets)


def test_the_reference_refuses_the_same_buffers_and_offsets() -> None:
    encoder, zero = Encoder(byte_spec(), engine="reference"), np.array([0, 0])
    calls = [(data, zero) for data in NOT_BUFFERS] + [(b"ab", offsets) for offsets in NOT_OFFSETS]
    for data, offsets in calls:
        with pytest.raises((TypeError, BufferError, ValueError)):
            encoder.encode_ordinary_utf8(data, offsets)
