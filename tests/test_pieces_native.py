"""The native engine on SentencePiece models: what only it can get wrong. That it says what SentencePiece says: test_pieces_exact."""

from __future__ import annotations

import random

import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import Encoder, HfBpeError, Piece
from hf_bpe.charsmap import build_charsmap
from tests.support.pieces import model, pieces_spec, processor, serialised, spliced

NAMES = ["mistral v1", "mistral v3", "user-defined, nmt_nfkc", "space as suffix, all spaces", "without bytes"]
HOSTILE = {
    "one letter": "a" * 30_000,
    "spaces": " " * 30_000,
    "space symbols": "\u2581" * 30_000,
    "line breaks": "\n" * 30_000,
    "dashes": "-" * 30_000,
    "an unknown character": "\U0001fadd" * 10_000,
    "letters": "".join(random.Random(1).choices("abcdefghij", k=30_000)),
    "Chinese": "".join(map(chr, random.Random(2).choices(range(0x4E00, 0x9FFF), k=10_000))),
}


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def encoder(name):
    return Encoder(parse_model(model(name), name), engine="native")


@pytest.mark.parametrize("kind", HOSTILE)
def test_long_texts_without_words(name, encoder, kind):
    ids = processor(model(name)).encode(HOSTILE[kind])
    assert encoder.encode_ordinary(HOSTILE[kind]) == ids
    assert encoder.count_ordinary(HOSTILE[kind]) == len(ids)


def test_threads_and_warm_caches_say_the_same(name, encoder):
    generator = random.Random(name)
    texts = [spliced(generator, 60) for _ in range(400)]
    expected = processor(model(name)).encode(texts)
    for threads in (1, 3):
        assert encoder.encode_ordinary_batch(texts, num_threads=threads) == expected
        assert [row.tolist() for row in encoder.encode_ordinary_batch_to_numpy(texts, num_threads=threads).rows()] == expected


def test_unknown_characters_join_across_pieces_that_are_cached_apart():
    spec = pieces_spec(Piece("\u2581"), Piece("a"), prepend_scheme="never")
    encoder = Encoder(spec, engine="native")
    for text, expected in (("x1x", [0]), ("x", [0]), ("x1 1x", [0, 1, 0]), ("x" * 1000 + "a.;", [0, 2, 0])):
        assert encoder.encode_ordinary(text) == expected
        assert encoder.encode_with_offsets(text)[0].tolist() == expected


def test_pieces_that_hold_text_before_a_space_are_not_cut_there():
    spec = pieces_spec(*map(Piece, "\u2581ab."), Piece("a\u2581", -1.0), Piece("a\u2581b", -2.0), Piece("b.", -3.0))
    ids = Encoder(spec, engine="native").encode_ordinary("a ba b.a bb.")
    assert ids == serialised(spec).encode("a ba b.a bb.")


def test_a_charsmap_that_makes_no_text_is_refused():
    spec = pieces_spec(Piece("a"), precompiled_charsmap=build_charsmap({b"a": b"\xff"}))
    with pytest.raises(HfBpeError, match=r"not UTF-8; use engine=\"reference\""):
        Encoder(spec, engine="native")
