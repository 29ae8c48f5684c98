"""Encoding: native equals reference on every input, whatever path it takes through the cache and the merger."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import Encoder, HfBpeError, PatternError, TokenizerSpec
from tests.support.pieces import bytes_as_pieces_spec
from tests.support.text import difficult_text, generated_text, plain_text
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec, gpt2_spec, random_specs, spec_of_ranks


@settings(max_examples=400)
@given(spec=random_specs(), texts=st.lists(st.one_of(plain_text(), difficult_text()), min_size=1, max_size=4))
def test_native_equals_reference_on_random_vocabularies(spec: TokenizerSpec, texts: list[str]) -> None:
    native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    expected = [reference.encode_ordinary(text) for text in texts]
    assert [native.encode_ordinary(text) for text in texts] == expected
    assert [native.encode_ordinary(text) for text in texts] == expected, "the second time, out of the cache"
    assert native.encode_ordinary_batch(texts, num_threads=3) == expected
    assert [native.count(text) for text in texts] == [len(ids) for ids in expected]
    if spec.unmatched == "keep":
        assert [native.decode(ids) for ids in expected] == texts


@given(spec=random_specs(alphabet="ab中é"), unit=st.text("ab中é", min_size=1, max_size=5), times=st.integers(1, 80))
def test_long_pieces_are_merged_alike(spec: TokenizerSpec, unit: str, times: int) -> None:
    # Beyond 48 symbols pieces are merged with a heap; beyond 15 bytes they are cached elsewhere, or cut between characters.
    text = unit * times
    assert Encoder(spec, engine="native").encode_ordinary(text) == Encoder(spec, engine="reference").encode_ordinary(text)


@pytest.mark.parametrize("length", [1, 2, 14, 15, 16, 17, 31, 47, 48, 49, 50, 127, 128, 129, 300])
def test_lengths_at_the_edges_of_cache_and_merger(length: int) -> None:
    spec = cl100k_spec()
    native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    for text in ("x" * length, "中" * length, ("xyz" * length)[:length], ("aé中😉" * length)[:length], "q9" * length):
        expected = reference.encode_ordinary(text)
        assert [native.encode_ordinary(text) for _ in range(3)] == [expected] * 3


def test_pieces_that_differ_only_in_zero_bytes_are_told_apart() -> None:
    encoder = Encoder(byte_spec("gpt2"), engine="native")
    for text in ("\0", "\0\0", "\0\0\0", "a\0", "a"):
        assert encoder.encode_ordinary(text) == list(text.encode())


def test_tokens_no_merge_reaches_come_out_only_as_whole_pieces() -> None:
    spec = TokenizerSpec(vocab=BYTES | {b"xyz": 256}, merges=(), pattern=" ?\\p{L}+|.", ignore_merges=True)
    for engine in ("native", "reference"):
        assert Encoder(spec, engine=engine).encode_ordinary("xyz xyz") == [256, 32, 120, 121, 122]  # type: ignore[arg-type]
        assert Encoder(spec.replace(ignore_merges=False), engine=engine).encode_ordinary("xyz") == [120, 121, 122]  # type: ignore[arg-type]


def test_a_part_of_a_piece_is_never_looked_up_as_a_whole() -> None:
    # 中国 stands in the vocabulary, no merge makes it. As a piece it is found; inside a longer piece it is not.
    vocab = BYTES | {"中国".encode(): 256}
    spec = TokenizerSpec(vocab=vocab, merges=(), pattern="\\p{L}+|.", ignore_merges=True)
    encoder, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    for text in ("中国", "中国人中国人中国人", "人人人人人人中国", "中国"):
        assert encoder.encode_ordinary(text) == reference.encode_ordinary(text)


@pytest.mark.parametrize("make_spec", [cl100k_spec, gpt2_spec])
def test_native_equals_reference_on_real_vocabularies(make_spec: object) -> None:
    spec = make_spec()  # type: ignore[operator]
    native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    for seed in range(40):
        text = generated_text(seed, 400)
        assert native.encode_ordinary(text) == reference.encode_ordinary(text)


def test_restricted_recovery_would_lose_a_token() -> None:
    # rank(bca) < rank(ca): limited to better ranks than its own, the loop would never make "ca" inside "bca".
    spec = spec_of_ranks(BYTES | {b"bca": 256, b"ca": 257})
    assert spec.merges == ((b"b", b"ca"), (b"c", b"a"))
    assert Encoder(spec).encode_ordinary("bca") == [256]


@pytest.mark.parametrize("character", ["a", " ", "\n", "^", "7", "中", "\u0301", "\t"])
def test_a_megabyte_of_one_character_is_encoded(character: str) -> None:
    encoder = Encoder(cl100k_spec())
    text = character * 1_000_000
    assert encoder.decode(encoder.encode_ordinary(text)) == text


def test_a_pattern_that_backtracks_without_end_is_an_error_not_a_hang() -> None:
    encoder = Encoder(byte_spec(r"(?:a(?!z)|a(?!z)a)+b"), engine="native")
    with pytest.raises(PatternError, match="gave up at byte"):
        encoder.encode_ordinary("a" * 100_000)


def test_pattern_that_only_the_engine_can_refuse() -> None:
    with pytest.raises(PatternError, match="does not compile"):
        Encoder(byte_spec("[a-c]{1000000}"), engine="native")


def test_pickled_encoder_encodes_alike() -> None:
    encoder = Encoder(gpt2_spec())
    assert pickle.loads(pickle.dumps(encoder)).encode_ordinary("hello world") == encoder.encode_ordinary("hello world")


def test_ids_beyond_the_shared_integers() -> None:
    spec = TokenizerSpec(vocab=BYTES | {b"ab": 2**31 - 1}, merges=((b"a", b"b"),))
    encoder = Encoder(spec)
    assert encoder.encode_ordinary("ab") == [2**31 - 1]
    assert encoder.decode([2**31 - 1]) == "ab"


@settings(max_examples=30)
@given(
    spec=random_specs(),
    pieces=st.lists(st.one_of(st.binary(max_size=20), plain_text().map(str.encode)), min_size=1, max_size=4),
)
def test_pieces_of_bytes_are_merged_alike_and_need_not_be_text(spec: TokenizerSpec, pieces: list[bytes]) -> None:
    native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    for piece in [*pieces, b"", *spec.vocab]:
        for whole in (True, False):
            ids = native.encode_piece(piece, whole=whole)
            assert ids == reference.encode_piece(piece, whole=whole)
            assert native.decode_bytes(ids) == piece


def test_a_piece_that_is_a_token_is_looked_up_only_as_a_whole() -> None:
    spec = TokenizerSpec(vocab=BYTES | {b"\xff\xfe": 256}, merges=(), ignore_merges=True)
    assert Encoder(spec).encode_piece(b"\xff\xfe") == [256]
    assert Encoder(spec).encode_piece(b"\xff\xfe", whole=False) == [255, 254]


def test_a_sentencepiece_model_has_no_pieces_of_bytes() -> None:
    for engine in ("native", "reference"):
        with pytest.raises(HfBpeError, match="merges characters"):
            Encoder(bytes_as_pieces_spec(), engine=engine).encode_piece(b"a")  # type: ignore[arg-type]
