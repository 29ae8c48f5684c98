"""From ids to places in a text and back."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, BorderError, Encoder
from hf_bpe.borders import spans_of_ids, spans_of_text
from tests.fuzz.streams import random_ids
from tests.support.pieces import model, random_pieces_spec
from tests.support.vocabularies import byte_spec

TEXT = "Où est 日本語 😉, it's\n fine"


def test_spans_of_a_text_and_of_its_ids_are_the_same(cl100k: Encoder) -> None:
    of_text, of_ids = spans_of_text(cl100k, TEXT), spans_of_ids(cl100k, cl100k.encode(TEXT))
    assert (of_ids.text, of_ids.ids) == (TEXT, of_text.ids)
    assert np.array_equal(of_ids.in_bytes, of_text.in_bytes)
    assert np.array_equal(of_ids.in_characters, of_text.in_characters)


def test_every_byte_and_character_leads_to_the_id_that_holds_it(cl100k: Encoder) -> None:
    spans = spans_of_text(cl100k, TEXT)
    content = TEXT.encode()
    for place in range(len(content)):
        start, stop = spans.in_bytes[spans.at_byte(place)]
        assert start <= place < stop
        assert content[start:stop] == cl100k.decode_bytes([spans.ids[spans.at_byte(place)]])
    for place in range(len(TEXT)):
        number = spans.at_character(place)
        assert spans.in_characters[number][0] <= place < spans.in_characters[number][1]
        assert number == min(n for n, (start, stop) in enumerate(spans.in_characters) if start <= place < stop)


def test_dropped_text_belongs_to_no_id() -> None:
    spans = spans_of_text(Encoder(byte_spec(r"[a-z]+", unmatched="drop")), "a1b")
    assert [spans.at_character(place) for place in range(3)] == [0, None, 1]


def test_places_outside_the_text_are_refused(cl100k: Encoder) -> None:
    spans = spans_of_text(cl100k, "ab")
    for place in (-1, 2):
        with pytest.raises(IndexError, match="outside the text, which has 2"):
            spans.at_byte(place)
        with pytest.raises(IndexError, match=f"character {place} is outside"):
            spans.at_character(place)


@pytest.mark.parametrize("number", range(30))
def test_spans_of_any_ids_cover_their_text(number: int) -> None:
    generator = random.Random(f"spans {number}")
    spec = generator.choice((byte_spec(added_tokens=(AddedToken("<é>", 300),)), parse_model(model("mistral v1"), "m")))
    if number % 3 == 0:
        spec = random_pieces_spec(generator)
    encoder = Encoder(spec)
    for _ in range(20):
        ids = random_ids(spec, generator)
        spans = spans_of_ids(encoder, ids)
        content = encoder.decode_bytes(ids)
        assert spans.text == encoder.decode(ids)
        ends = [0, *spans.in_bytes[:, 1].tolist()]
        assert [*pairwise(ends)] == [tuple(span) for span in spans.in_bytes.tolist()]
        assert ends[-1] == len(content)
        covered = [{*range(start, stop)} for start, stop in spans.in_characters.tolist()]
        assert set().union(*covered) == {*range(len(spans.text))}
        for size in range(len(ids) + 1):  # what comes before a span is what the ids before it give, if that is whole
            before = encoder.decode(ids[:size])
            if size < len(ids) and "\ufffd" not in before and spans.in_bytes[size][0] < spans.in_bytes[size][1]:
                assert spans.in_characters[size][0] == len(before)


def test_bytes_that_are_no_text_are_counted_as_decoding_shows_them() -> None:
    spans = spans_of_ids(Encoder(byte_spec()), b"\xe4\xb8a\xff\xc3\xa9")
    assert spans.text == "\ufffda\ufffdé"
    assert spans.in_characters.tolist() == [[0, 1], [0, 1], [1, 2], [2, 3], [3, 4], [3, 4]]


def test_no_ids_have_no_spans(cl100k: Encoder) -> None:
    spans = spans_of_ids(cl100k, [])
    assert (spans.text, spans.in_bytes.shape, spans.in_characters.shape) == ("", (0, 2), (0, 2))


def test_a_model_that_replaces_decoded_text_is_refused() -> None:
    with pytest.raises(BorderError, match="replaces parts of decoded text"):
        spans_of_ids(Encoder(parse_model(model("denormaliser"), "d")), [5, 6])
