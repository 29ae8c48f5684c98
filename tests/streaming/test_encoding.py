"""Text that comes bit by bit gives the ids that all of it gives, and most of them before the end."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import NAMED_PATTERNS, AddedToken, DisallowedSpecialTokenError, Encoder
from hf_bpe.streaming import StreamingEncoder
from tests.fuzz.streams import parts, run_encoding
from tests.fuzz.subjects import Tally
from tests.support.pieces import model
from tests.support.text import TROUBLE
from tests.support.vocabularies import BYTES, byte_spec, cl100k_encoder

PROSE = "The quick brown fox jumps over the lazy dog; it's 12345 o'clock.\n\n  Où est-il ? 日本語の文章です。 "


def test_random_tokenizers_texts_and_splits() -> None:
    tally = Tally("cases")
    for number in range(35):
        run_encoding(number, 3, tally)
    assert tally.done["encoding, some before the end"] > 120


# Without a pattern a text is one piece, whose characters normalising changes: nothing can be cut.
STREAMING = [(name, ()) for name in NAMED_PATTERNS] + [(name, ("NFC",)) for name in NAMED_PATTERNS if name != "none"]


@pytest.mark.parametrize(("name", "normalizer"), STREAMING)
def test_published_patterns_stream(name: str, normalizer: tuple[str, ...]) -> None:
    encoder, generator = Encoder(byte_spec(name, normalizer=normalizer)), random.Random(name)
    for _ in range(15):
        text = "".join(generator.choices([*TROUBLE, *PROSE, "e\u0301", "\u1100\u1161"], k=120)) + PROSE
        stream = StreamingEncoder(encoder)
        ids = [i for part in parts(text, generator) for i in stream.feed(part)]
        assert stream.is_streaming
        assert len(stream.pending) < 100, ascii(text)
        assert ids + stream.finish() == encoder.encode(text)


def test_what_follows_can_still_change_is_kept(cl100k: Encoder) -> None:
    stream = StreamingEncoder(cl100k)
    assert stream.feed("Hello wor") == cl100k.encode("Hello")
    assert stream.pending == " wor"
    assert stream.feed("ld") == []
    assert stream.feed("!") == cl100k.encode(" world")
    assert stream.finish() == cl100k.encode("!")


def test_white_space_waits_for_the_word_that_takes_its_last(cl100k: Encoder) -> None:
    stream = StreamingEncoder(cl100k)
    assert [stream.feed(part) for part in ("a", "  ", " ", "b ")] == [[], [64], [], cl100k.encode("a   b")[1:]]
    assert stream.finish() == cl100k.encode(" ")


def test_a_special_token_in_parts_is_found(cl100k: Encoder) -> None:
    stream = StreamingEncoder(cl100k, allowed_special="all")
    ids = [i for part in ("a <|endof", "te", "xt|", "> b <|endof x") for i in stream.feed(part)]
    assert ids + stream.finish() == cl100k.encode("a <|endoftext|> b <|endof x", allowed_special="all")
    assert 100257 in ids


def test_a_disallowed_token_raises_when_it_is_complete_and_its_text_is_not_taken(cl100k: Encoder) -> None:
    stream = StreamingEncoder(cl100k)
    stream.feed("a <|endof")
    with pytest.raises(DisallowedSpecialTokenError):
        stream.feed("text|> b")
    assert stream.pending.endswith("<|endof")
    assert stream.feed("fice| c") + stream.finish() == cl100k.encode("a <|endoffice| c")[1:]


def test_a_call_that_is_silent_does_what_the_encoder_says() -> None:
    spec = byte_spec("gpt2", added_tokens=(AddedToken("<s>", 300),))
    for special, expected in (("text", [*b"a <s>"]), ("special", [97, 32, 300])):
        stream = StreamingEncoder(Encoder(spec, special=special))  # type: ignore[arg-type]
        assert [i for part in ("a <", "s>") for i in stream.feed(part)] + stream.finish() == expected


def test_tokens_that_take_white_space_wait_for_its_end() -> None:
    tokens = (AddedToken("<l>", 300, lstrip=True), AddedToken("<r>", 301, rstrip=True))
    encoder = Encoder(byte_spec("gpt2", added_tokens=tokens))
    stream = StreamingEncoder(encoder, allowed_special="all")
    given = [stream.feed(part) for part in ("a b ", " <l>", "<r>", "  ", " c d")]
    assert [i for ids in given for i in ids] + stream.finish() == [97, 32, 98, 300, 301, 99, 32, 100]
    assert given[2:4] == [[], []], "more white space could follow <r>"


def test_white_space_that_two_tokens_take() -> None:
    """A token that takes the white space behind it leaves it to one that begins there."""
    encoder = Encoder(byte_spec(r"\S", added_tokens=(AddedToken(" x", 300, special=False, rstrip=True),)))
    assert encoder.encode(" x x") == [300, 300]
    for size in (1, 2, 3):
        stream = StreamingEncoder(encoder)
        text = " x x  y x"
        ids = [i for start in range(0, len(text), size) for i in stream.feed(text[start : start + size])]
        assert ids + stream.finish() == encoder.encode(text)


def test_surrogate_pairs_in_two_parts_are_one_character(cl100k: Encoder) -> None:
    stream = StreamingEncoder(cl100k)
    ids = stream.feed("a \ud83d") + stream.feed("\ude09 b")
    assert ids + stream.finish() == cl100k.encode("a 😉 b")
    stream.feed("\ud83d")
    assert (stream.pending, stream.finish()) == ("\ud83d", cl100k.encode("\ufffd"))


def test_what_cannot_be_proved_comes_at_the_end() -> None:
    spec = byte_spec(r"(?<=a)b|[\s\S]")
    stream = StreamingEncoder(Encoder(spec))
    assert (stream.is_streaming, stream.feed("abab"), stream.pending) == (False, [], "abab")
    assert stream.finish() == [*b"abab"]


@pytest.mark.parametrize(
    "change",
    [
        {"normalizer": ("Strip",)},
        {"add_prefix_space": True},
        {"added_tokens": (AddedToken("<w>", 300, special=False, single_word=True),)},
    ],
)
def test_tokenizers_that_look_at_a_whole_text_do_not_stream(change: dict[str, Any]) -> None:
    encoder = Encoder(byte_spec("gpt2", **change))
    stream = StreamingEncoder(encoder)
    assert not stream.is_streaming
    assert stream.feed("a b c\nd <w> ") + stream.finish() == encoder.encode("a b c\nd <w> ")


def test_stages_and_dropped_text(cl100k: Encoder) -> None:
    for spec in (byte_spec("gpt2", stages=(r"\p{N}",)), byte_spec(r"[a-z]+|\d", unmatched="drop")):
        encoder, text = Encoder(spec), "ab 12 cd!! é9x" * 5
        stream = StreamingEncoder(encoder)
        ids = [i for character in text for i in stream.feed(character)]
        assert ids
        assert ids + stream.finish() == encoder.encode(text)


@pytest.mark.parametrize(
    "name", ["mistral v1", "mistral v3", "identity", "without bytes", "all spaces", "no dummy prefix, all spaces"]
)
def test_sentencepiece_models_stream_between_words(name: str) -> None:
    encoder, generator = Encoder(parse_model(model(name), name)), random.Random(name)
    for _ in range(20):
        text = "".join(generator.choices([*PROSE, " ", "\u2581", "  ", "the ", "<s>"], k=150)) + PROSE
        stream = StreamingEncoder(encoder, disallowed_special=())
        ids = [i for part in parts(text, generator) for i in stream.feed(part)]
        assert len(ids) > 50
        assert ids + stream.finish() == encoder.encode(text, disallowed_special=())


@pytest.mark.parametrize("name", ["mistral v1", "identity", "without bytes", "no dummy prefix, all spaces"])
def test_sentencepiece_models_stream_text_without_spaces(name: str) -> None:
    encoder, generator = Encoder(parse_model(model(name), name)), random.Random(name)
    kept = []
    for _ in range(20):
        text = "".join(generator.choices("日本語の文章です。これは間違いない中文、没有空格,ab\n\ufffd🤗", k=400))
        stream = StreamingEncoder(encoder)
        ids = []
        for part in parts(text, generator):
            ids += stream.feed(part)
            kept.append(len(stream.pending))
            assert encoder.encode(text)[: len(ids)] == ids
        assert ids + stream.finish() == encoder.encode(text)
    assert max(kept) < 300, "characters kept"


def test_a_rest_that_must_stand_alone_waits_for_a_space() -> None:
    encoder = Encoder(parse_model(model("mistral v1"), "mistral v1"))
    stream, other = StreamingEncoder(encoder), StreamingEncoder(encoder, rest_alone=True)
    assert stream.feed("日本語の文章です") == encoder.encode("日本語の文章で")
    assert other.feed("日本語の文章です") == []
    ids = other.feed(" a")
    assert ids + encoder.encode(other.pending) == encoder.encode("日本語の文章です a")


@pytest.mark.parametrize("name", ["nmt_nfkc", "space as suffix", "user-defined"])
def test_sentencepiece_models_of_which_nothing_is_known_do_not_stream(name: str) -> None:
    encoder = Encoder(parse_model(model(name), name))
    stream = StreamingEncoder(encoder)
    assert not stream.is_streaming
    assert stream.feed(PROSE) + stream.finish() == encoder.encode(PROSE)


def test_the_reference_engine_streams_too() -> None:
    encoder = Encoder(byte_spec("gpt2", normalizer=("NFC",)), engine="reference")
    stream = StreamingEncoder(encoder)
    ids = [i for character in PROSE for i in stream.feed(character)]
    assert len(ids) > len(PROSE) // 2
    assert ids + stream.finish() == encoder.encode(PROSE)


def test_a_look_that_was_put_off_can_be_had_at_once(cl100k: Encoder) -> None:
    stream = StreamingEncoder(cl100k)
    assert stream.feed("a" * 1000) == []
    assert stream.feed(" b") == []
    assert stream.settle() == cl100k.encode("a" * 1000)
    assert (stream.pending, stream.settle(), stream.finish()) == (" b", [], cl100k.encode(" b"))


def test_a_copy_goes_on_by_itself(cl100k: Encoder) -> None:
    stream = StreamingEncoder(cl100k)
    stream.feed("Hello wor")
    other = copy.copy(stream)
    stream.feed("ld")
    assert (stream.finish(), other.finish()) == (cl100k.encode(" world"), cl100k.encode(" wor"))


def test_no_text_is_refused_and_changes_nothing(cl100k: Encoder) -> None:
    stream = StreamingEncoder(cl100k)
    stream.feed("wor")
    for wrong in (b"ld", None, 5, ["ld"]):
        with pytest.raises(TypeError, match="must be a str"):
            stream.feed(wrong)  # type: ignore[arg-type]
    assert stream.pending == "wor"
    with pytest.raises(TypeError, match="with an Encoder, not with a str"):
        StreamingEncoder("cl100k")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["a", " ", "中", "\u0301", "\n"])
def test_a_text_without_a_cut_is_not_looked_at_again_and_again(text: str) -> None:
    encoder = cl100k_encoder()
    steps = []
    for size in (2000, 4000, 8000, 16000):
        stream = StreamingEncoder(encoder)
        for _ in range(size):
            stream.feed(text)
        steps.append(stream.steps / size)
    assert max(steps) < 12, "steps for each character"
    assert steps[-1] < steps[0] * 1.5


def test_an_endless_text_keeps_little(cl100k: Encoder) -> None:
    stream = StreamingEncoder(cl100k)
    kept = []
    for _ in range(300):
        stream.feed(PROSE)
        kept.append(len(stream.pending))
    assert max(kept) < 2 * len(PROSE)


def test_tokens_of_any_bytes_keep_a_text_without_pattern_together() -> None:
    vocab = BYTES | {b"\xb8\xad\xe6": 256}  # the end of one character and the beginning of another
    spec = byte_spec().replace(vocab=vocab)
    stream = StreamingEncoder(Encoder(spec))
    assert stream.feed("中文") == []
    assert stream.feed("a") == [*"中文".encode()]
