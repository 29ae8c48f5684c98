"""Ids that come bit by bit give the text that all of them give."""

from __future__ import annotations

import copy
import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
import tokenizers
from transformers import TextStreamer as OfficialStreamer

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, Encoder, HfBpeTokenizer, UnknownTokenError
from hf_bpe.streaming import DecodeStream, StreamingByteDecoder, StreamingDecoder, StreamingDecoderBatch, TextStreamer
from tests.fuzz.streams import check_decoding, random_ids, run_decoding
from tests.fuzz.subjects import Tally
from tests.support.pieces import TRAINED, model, processor
from tests.support.vocabularies import CL100K_SPECIALS, byte_spec, cl100k_ranks

TEXT = "Où est le café ? 日本語 😉👍🏽 \ufffd\n\n  naïve"


@pytest.mark.parametrize("number", range(8))
def test_random_tokenizers_ids_and_splits(number: int) -> None:
    tally = Tally("cases")
    run_decoding(number, 3, tally)
    assert tally.done["decoding"] == 500


@pytest.mark.parametrize("name", TRAINED)
def test_every_kind_of_sentencepiece_model(name: str) -> None:
    encoder, generator = Encoder(parse_model(model(name), name)), random.Random(name)
    assert [
        wrong for _ in range(60) if (wrong := check_decoding(encoder, random_ids(encoder.spec, generator), generator))
    ] == []


def test_the_text_is_that_of_the_reference_libraries(cl100k: Encoder, llama: Encoder) -> None:
    official = tiktoken.Encoding("cl100k", pat_str=r"\S+|\s+", mergeable_ranks=cl100k_ranks(), special_tokens=CL100K_SPECIALS)
    generator = random.Random(5)
    for _ in range(200):
        ids = generator.choices(range(100_000), k=12)
        stream = StreamingDecoder(cl100k)
        assert "".join(stream.feed([i]) for i in ids) + stream.finish() == official.decode(ids)
    pieces = processor(model("mistral v1"))
    for _ in range(200):
        ids = generator.choices(range(3, 600), k=12)
        stream = StreamingDecoder(llama)
        assert "".join(stream.feed([i]) for i in ids) + stream.finish() == pieces.decode(ids)


def test_a_character_comes_with_its_last_byte_and_not_before() -> None:
    stream = StreamingDecoder(Encoder(byte_spec()))
    assert [stream.feed([byte]) for byte in "é😉a".encode()] == ["", "é", "", "", "", "😉", "a"]
    assert stream.feed(b"\xf0\x9f") == ""
    assert (stream.pending, stream.finish(), stream.pending) == (b"\xf0\x9f", "\ufffd", b"")


def test_a_genuine_replacement_character_is_text() -> None:
    stream = StreamingDecoder(Encoder(byte_spec()))
    assert stream.feed("\ufffd".encode()) == "\ufffd"


@pytest.mark.parametrize(
    ("errors", "expected"), [("ignore", "ab"), ("backslashreplace", "a\\xe4\\xb8b"), ("surrogateescape", "a\udce4\udcb8b")]
)
def test_other_handlers_of_bad_bytes(errors: str, expected: str) -> None:
    stream = StreamingDecoder(Encoder(byte_spec()), errors=errors)
    assert "".join(stream.feed([byte]) for byte in b"a\xe4\xb8b") + stream.finish() == expected


def test_strict_raises_where_the_bytes_are_seen_to_be_no_text() -> None:
    stream = StreamingDecoder(Encoder(byte_spec()), errors="strict")
    assert stream.feed([0xE4]) == ""
    with pytest.raises(UnicodeDecodeError):
        stream.feed([0x61])


def test_special_tokens_are_left_out_in_the_middle_of_a_character() -> None:
    encoder = Encoder(byte_spec(added_tokens=(AddedToken("<s>", 300), AddedToken("<plain>", 301, special=False))))
    stream = StreamingDecoder(encoder, skip_special_tokens=True)
    assert [stream.feed([i]) for i in (0xC3, 300, 0xA9, 301)] == ["", "", "é", "<plain>"]


def test_the_first_space_of_a_sentencepiece_text_goes_only_once(llama: Encoder) -> None:
    ids = llama.encode("Hello world")
    stream = StreamingDecoder(llama)
    assert [stream.feed([i]) for i in (1, *ids)] == ["", "Hello", " world"]
    assert stream.finish() == ""
    assert stream.feed(ids) == "Hello world", "after finish another text begins"


def test_an_unknown_id_leaves_the_stream_as_it_was(cl100k: Encoder, llama: Encoder) -> None:
    for encoder, bad in ((cl100k, 10**6), (cl100k, 100_256), (llama, 32_000)):
        stream = StreamingDecoder(encoder)
        half = next(i for i in range(3, 5000) if len(encoder.decode([i]).strip("\ufffd")) == 0 and encoder.decode([i]))
        before = stream.feed([half]), stream.pending
        with pytest.raises(UnknownTokenError):
            stream.feed([half, bad])
        assert (before[0], stream.pending) == before


def test_what_is_no_id_is_refused(cl100k: Encoder) -> None:
    for wrong in (["a"], [1.5], [None]):
        with pytest.raises(TypeError):
            StreamingDecoder(cl100k).feed(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an Encoder or a HfBpeTokenizer, not with a str"):
        StreamingDecoder("cl100k")  # type: ignore[arg-type]


def test_a_copy_goes_on_by_itself() -> None:
    encoder = Encoder(byte_spec())
    stream = StreamingDecoder(encoder)
    stream.feed([0xC3])
    other = copy.copy(stream)
    assert (stream.feed([0xA9]), other.feed([0xA8])) == ("é", "è")


def test_the_state_of_a_stream_does_not_grow(cl100k: Encoder) -> None:
    stream, ids = StreamingDecoder(cl100k), cl100k.encode(TEXT)
    stream.feed(ids)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(3000):
        stream.feed(ids)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 5_000


def test_bytes_come_as_they_are(llama: Encoder) -> None:
    encoder = Encoder(byte_spec())
    stream = StreamingByteDecoder(encoder)
    assert [stream.feed([byte]) for byte in b"\xff\xc3a"] == [b"\xff", b"\xc3", b"a"]
    ids = llama.encode("中 ♥䷀")
    pieces = StreamingByteDecoder(llama)
    assert b"".join(pieces.feed([i]) for i in ids) + pieces.finish() == llama.decode_bytes(ids)


def test_a_batch_of_streams_is_that_many_streams(cl100k: Encoder) -> None:
    rows = [cl100k.encode(text) for text in (TEXT, "plain", "")]
    streams = StreamingDecoderBatch(cl100k, 3)
    texts = ["", "", ""]
    for place in range(max(map(len, rows))):
        given = streams.feed([row[place : place + 1] for row in rows])
        texts = [text + more for text, more in zip(texts, given, strict=True)]
    assert [text + rest for text, rest in zip(texts, streams.finish(), strict=True)] == [TEXT, "plain", ""]
    with pytest.raises(ValueError, match="there are 3 streams, and 1 rows"):
        streams.feed([[1]])


def test_beams_are_chosen_with_what_is_pending() -> None:
    streams = StreamingDecoderBatch(Encoder(byte_spec()), 2)
    streams.feed([[0xC3], [0xE4, 0xB8]])
    streams.select([1, 1, 0])
    assert streams.feed([[0xAD], [0xAE], [0xA9]]) == ["中", "丮", "é"]


# -- faces of other libraries -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> HfBpeTokenizer:
    folder = tmp_path_factory.mktemp("tokenizer")
    HfBpeTokenizer.from_spec(byte_spec("gpt2", added_tokens=(AddedToken("<e>", 300),)), eos_token="<e>").save_pretrained(folder)
    loaded: HfBpeTokenizer = HfBpeTokenizer.from_pretrained(folder)
    return loaded


def test_a_streamer_does_what_that_of_transformers_does(tokenizer: HfBpeTokenizer, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [*b"first\nsecond caf\xc3\xa9 ", 300]
    for options in ({}, {"skip_special_tokens": True}):
        official = OfficialStreamer(tokenizer, skip_prompt=True, **options)
        texts: list[str] = []
        ours = TextStreamer(tokenizer, texts.append, skip_prompt=True, **options)
        for streamer in (official, ours):
            streamer.put(np.array([[1, 2, 3]]))
            for token_id in ids:
                streamer.put(np.array([token_id]))
            streamer.end()
        assert "".join(texts) + "\n" == capsys.readouterr().out


def test_a_streamer_refuses_several_rows(cl100k: Encoder) -> None:
    with pytest.raises(ValueError, match="one row of ids, not 2"):
        TextStreamer(cl100k, print).put([[1], [2]])


def test_an_id_beyond_64_bits_is_named_as_it_is(cl100k: Encoder, llama: Encoder) -> None:
    for encoder in (cl100k, llama):
        with pytest.raises(UnknownTokenError, match=str(2**70)):
            StreamingDecoder(encoder).feed([2**70])


def test_a_streamer_takes_numbers_of_numpy(cl100k: Encoder) -> None:
    ids = cl100k.encode("Hello world")
    for rows in ([list(map(np.int64, ids))], [[np.int64(i)] for i in ids], list(map(np.int32, ids)), [[np.array(ids)]]):
        texts: list[str] = []
        streamer = TextStreamer(cl100k, texts.append)
        for row in rows:
            streamer.put(row)
        assert "".join(texts) == "Hello world"
    stream = DecodeStream()
    assert [stream.step(cl100k, np.int64(i)) for i in ids] == ["Hello", " world"]  # type: ignore[arg-type]


def test_a_decode_stream_whose_prompt_is_refused_does_not_go_on_without_it(llama: Encoder) -> None:
    stream = DecodeStream([10**6])
    for _ in range(2):
        with pytest.raises(UnknownTokenError):
            stream.step(llama, 5)


def test_a_float_is_no_id_even_where_the_id_is_known(cl100k: Encoder, llama: Encoder) -> None:
    for encoder, token_id in ((cl100k, 9906), (llama, 5)):
        for skips in (False, True):
            stream = StreamingDecoder(encoder, skip_special_tokens=skips)
            stream.feed([token_id])
            stream.feed([token_id, token_id])
            for wrong in ([float(token_id)], [token_id, float(token_id)]):
                with pytest.raises(TypeError):
                    stream.feed(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        StreamingByteDecoder(cl100k, skip_special_tokens=True).feed([100257.0])  # type: ignore[list-item]


def test_a_decode_stream_steps_as_that_of_tokenizers_does(tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path)
    official_tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    official, ours = tokenizers.decoders.DecodeStream(skip_special_tokens=True), DecodeStream(skip_special_tokens=True)
    for token_id in [*"café 中 ok".encode(), 300, 97]:
        assert ours.step(tokenizer, token_id) == official.step(official_tokenizer, token_id)
    with pytest.raises(ValueError, match="make one for each tokenizer"):
        ours.step(Encoder(byte_spec()), 97)


@pytest.mark.parametrize("skips", [True, False])
def test_a_stream_of_a_tokenizer_gives_what_its_decode_does(tokenizer: HfBpeTokenizer, skips: bool) -> None:
    pieces = HfBpeTokenizer.from_spec(parse_model(model("mistral v1"), "m"))
    generator = random.Random(skips)
    for subject in (tokenizer, pieces):
        for _ in range(100):
            ids = generator.choices([*range(260), 300, 299, 999_999], k=9)
            stream = StreamingDecoder(subject, skip_special_tokens=skips)
            assert "".join(stream.feed([i]) for i in ids) + stream.finish() == subject.decode(ids, skip_special_tokens=skips)


def test_strict_decoding_of_byte_pieces_does_not_depend_on_the_split(llama: Encoder) -> None:
    ids = [73, 204, 148]  # 'F', and the two bytes of 'ɑ'
    for split in ([ids], [[73], [204, 148]], [[73, 204], [148]], [[73], [204], [148]]):
        stream = StreamingDecoder(llama, errors="strict")
        assert "".join(map(stream.feed, split)) + stream.finish() == llama.decode(ids, errors="strict")


@pytest.mark.parametrize("errors", ["replace", "strict"])
def test_an_error_in_one_row_leaves_every_stream_of_a_batch_as_it_was(llama: Encoder, errors: str) -> None:
    streams = StreamingDecoderBatch(llama, 2, errors=errors)
    streams.feed([[73], [204]])
    for rows in ([[73], [10**6]], [[10**6], [148]]):
        with pytest.raises(UnknownTokenError):
            streams.feed(rows)
    assert streams.feed([[], [148]]) == ["", "ɑ"]


@pytest.mark.parametrize("errors", [None, 5, "nope"])
def test_an_unknown_way_to_treat_errors_is_refused_at_once(llama: Encoder, errors: Any) -> None:
    with pytest.raises(ValueError, match="which Python does not know"):
        StreamingDecoder(llama, errors=errors)


def test_bytes_are_those_of_an_encoder() -> None:
    with pytest.raises(TypeError, match="those of an Encoder, not of a str"):
        StreamingByteDecoder("gpt2")  # type: ignore[arg-type]
