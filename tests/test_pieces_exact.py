"""The SentencePiece dialect against the sentencepiece package: ids, offsets, decoded text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, DisallowedSpecialTokenError, Encoder, Piece, TokenizerSpec, UnknownTokenError
from hf_bpe.pieces import byte_piece
from tests.support.pieces import (
    PACKAGED,
    TRAINED,
    bytes_as_pieces_spec,
    difference,
    model,
    nasty,
    pieces_spec,
    processor,
    random_pieces_spec,
    serialised,
    spliced,
)
from tests.support.text import difficult_text, generated_text

NAMES = [*PACKAGED, *TRAINED]
ENGINES = ["reference", "auto"]


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def official(name):
    return processor(model(name))


@pytest.fixture(scope="module", params=ENGINES)
def encoder(request, name):
    return Encoder(parse_model(model(name), name), engine=request.param)


# -- models -----------------------------------------------------------------------------------------------------------


def test_nasty_strings(encoder, official):
    assert [found for text in nasty() if (found := difference(encoder, official, text))] == []


def test_spliced_strings(name, encoder, official):
    generator = random.Random(name)
    texts = [spliced(generator) for _ in range(150)]
    assert [found for text in texts if (found := difference(encoder, official, text))] == []


def test_a_long_document(encoder, official):
    text = generated_text(3, 6000) + " hello" * 500 + "\u2581" * 300 + " " * 300 + "ab" * 400
    assert difference(encoder, official, text) is None


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_text(encoder, official, data):
    text = data.draw(difficult_text() | st.text(max_size=30))
    assert difference(encoder, official, text) is None


def test_any_ids_decode_alike(name, encoder, official):
    generator = random.Random(name)
    low, n = min(300, official.vocab_size()), official.vocab_size()
    for _ in range(500):
        ids = [generator.randrange(generator.choice((low, n))) for _ in range(generator.randrange(9))]
        assert encoder.decode(ids) == official.decode(ids), ids
        assert encoder.decode_bytes(ids).decode("utf-8", "ignore") == encoder.decode(ids, "ignore")


# -- rules that no trainer makes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(40))
def test_random_tables_of_pieces(seed, engine):
    generator = random.Random(seed)
    spec = random_pieces_spec(generator)
    encoder, official = Encoder(spec, engine=engine), serialised(spec)
    texts = ["".join(generator.choices("aabbcc z\u2581%", k=generator.randrange(16))) for _ in range(60)]
    assert [found for text in texts if (found := difference(encoder, official, text))] == []
    for _ in range(60):
        ids = [generator.randrange(spec.n_vocab) for _ in range(5)]
        assert encoder.decode(ids) == official.decode(ids), ids


@pytest.mark.parametrize("engine", ENGINES)
def test_a_charsmap_of_single_bytes_cuts_characters(engine):
    spec = bytes_as_pieces_spec()
    encoder, official = Encoder(spec, engine=engine), serialised(spec)
    texts = ["a", " a", "é", "ééé", "中", "x\ud7ff", "😀 a", " é中é"]
    assert [found for text in texts if (found := difference(encoder, official, text))] == []
    assert encoder.decode_bytes(encoder.encode_ordinary("é中")[:2]) == "é中".encode()[:3]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("count", [64, 65, 70])
def test_of_user_defined_pieces_that_begin_one_another_only_64_count(engine, count):
    spec = pieces_spec(*(Piece("a" * length, 0.0, "user_defined") for length in range(1, count + 1)), prepend_scheme="never")
    assert Encoder(spec, engine=engine).encode_ordinary("a" * 130) == serialised(spec).encode("a" * 130)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cycle_of_ties_goes_left_to_right(engine):
    spec = pieces_spec(*map(Piece, "ab"), Piece("ab", -1.0), Piece("ba", -1.0), prepend_scheme="never")
    encoder = Encoder(spec, engine=engine)
    assert [encoder.encode_ordinary(text) for text in ("aba", "bab")] == [[3, 1], [4, 2]]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_unused_piece_comes_apart_and_an_unused_character_is_unknown(engine):
    spec = pieces_spec(Piece("a"), Piece("b", 0.0, "unused"), Piece("ab", -1.0, "unused"), prepend_scheme="never")
    assert Encoder(spec, engine=engine).encode_ordinary("abb") == serialised(spec).encode("abb") == [1, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_characters_merge_before_any_of_them_is_known_to_be_no_piece(engine):
    spec = pieces_spec(Piece("a"), Piece("xy"), prepend_scheme="never")
    assert Encoder(spec, engine=engine).encode_ordinary("axyaxx") == [1, 2, 1, 0]


# -- what SentencePiece does not know ---------------------------------------------------------------------------------


def small(**rules) -> TokenizerSpec:
    made = pieces_spec(
        Piece("<s>", 0.0, "control"),
        *(Piece(byte_piece(byte), 0.0, "byte") for byte in range(256)),
        *map(Piece, "\u2581ab"),
        Piece("\u2581a", -1.0),
        byte_fallback=True,
        **rules,
    )
    return made.replace(added_tokens=[*made.added_tokens, AddedToken("<new>", 262, special=False)])


SPACE, A, B, SPACE_A = 258, 259, 260, 261


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("always", [SPACE_A, 1, SPACE_A, 262, SPACE, B]),
        ("first", [SPACE_A, 1, A, 262, B]),
        ("never", [A, 1, A, 262, B]),
    ],
)
def test_the_dummy_prefix_of_each_stretch_between_added_tokens(engine, scheme, expected):
    encoder = Encoder(small(prepend_scheme=scheme), engine=engine)
    ids, spans = encoder.encode_with_offsets("a<s>a<new>b", allowed_special="all")
    assert ids.tolist() == expected
    assert spans.tolist()[-1] == [10, 11]


@pytest.mark.parametrize("engine", ENGINES)
def test_with_first_a_text_that_begins_with_an_added_token_gets_no_prefix(engine):
    encoder = Encoder(small(prepend_scheme="first"), engine=engine)
    assert encoder.encode("<s>a", allowed_special="all") == [1, A]


@pytest.mark.parametrize("engine", ENGINES)
def test_control_pieces_are_special_tokens(engine):
    encoder = Encoder(small(), engine=engine)
    with pytest.raises(DisallowedSpecialTokenError):
        encoder.encode("a<s>")
    assert encoder.encode("a<s>", allowed_special={"<s>"}) == [SPACE_A, 1]
    assert encoder.encode_ordinary("<s>") == [SPACE, *(2 + byte for byte in b"<s>")]


@pytest.mark.parametrize("engine", ENGINES)
def test_byte_pieces_span_their_character_or_their_own_byte(engine):
    encoder = Encoder(small(prepend_scheme="never"), engine=engine)
    assert encoder.encode_with_offsets("a中b")[1].tolist() == [[0, 1], [1, 2], [1, 2], [1, 2], [2, 3]]
    assert encoder.encode_with_offsets("a中b", unit="bytes")[1].tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]


@pytest.mark.parametrize("engine", ENGINES)
def test_byte_pieces_of_a_replaced_character_span_all_it_came_from(engine):
    encoder = Encoder(parse_model(model("nmt_nfkc"), ""), engine=engine)
    for unit, end in (("characters", 2), ("bytes", 6)):
        ids, spans = encoder.encode_with_offsets("\uff79\uff9e", unit=unit)
        assert encoder.decode(ids) == "ゲ"
        assert spans.tolist() == [[0, 0], [0, end], [0, end], [0, end]]


@pytest.mark.parametrize("engine", ENGINES)
def test_decoding_in_all_its_ways(engine):
    encoder = Encoder(small(), engine=engine)
    broken = [SPACE_A, 2 + 0xE4, 2 + 0xB8, 1, 2 + 0xAD, B, 262, 0]
    assert encoder.decode(broken) == "a\ufffd\ufffd\ufffdb<new> \u2047 "
    assert encoder.decode_bytes(broken) == b"a\xe4\xb8\xadb<new> \xe2\x81\x87 "
    assert encoder.decode(broken[:3], "ignore") == "a"
    assert encoder.decode(broken[:3], "backslashreplace") == "a\\xe4\\xb8"
    with pytest.raises(UnicodeDecodeError):
        encoder.decode(broken[:3], "strict")
    for unknown in (263, -1):
        with pytest.raises(UnknownTokenError):
            encoder.decode([unknown])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_bytes_of_a_single_token_are_the_pieces_own(engine):
    encoder = Encoder(small(), engine=engine)
    found = [encoder.decode_single_token_bytes(token_id) for token_id in (0, 1, 2 + 0xE4, SPACE_A, 262)]
    assert found == [b"<unk>", b"<s>", b"\xe4", b" a", b"<new>"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_normalised_text_is_the_one_piece_of_text(engine):
    encoder = Encoder(small(), engine=engine)
    assert encoder.pretokenize("  a  b ") == ["\u2581a\u2581b"]
    assert encoder.pretokenize("   ") == encoder.pretokenize("") == []


@pytest.mark.parametrize("engine", ENGINES)
def test_lone_surrogates_count_as_replacement_characters(engine):
    encoder = Encoder(small(), engine=engine)
    assert encoder.encode_ordinary("a\ud800") == encoder.encode_ordinary("a\ufffd")


@pytest.mark.parametrize("engine", ENGINES)
def test_arrays_and_batches_say_the_same(engine):
    encoder = Encoder(small(), engine=engine)
    texts = ["a b", "", "中<s>", "  "]
    rows = [encoder.encode_ordinary(text) for text in texts]
    assert encoder.encode_ordinary_batch(texts) == rows
    assert [row.tolist() for row in encoder.encode_ordinary_batch_to_numpy(texts).rows()] == rows
    assert encoder.decode_batch(rows) == [encoder.decode(row) for row in rows]
