"""Prompts whose end the model may finish in any way."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, BorderError, DisallowedSpecialTokenError, Encoder, tiktoken
from hf_bpe.borders import (
    Healed,
    allowed_mask,
    allowed_next,
    canonical_drift,
    canonicalise,
    encode_with_completions,
    heal,
    is_canonical,
    spans_of_ids,
    spans_of_text,
    stable_part,
    warn_trailing_space,
)
from hf_bpe.streaming import StreamingDecoder, StreamingEncoder
from tests.support.pieces import model
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec


@pytest.mark.parametrize(
    ("text", "prefix"),
    [("The answer is ", b" "), ("https://ex", b"ex"), ("a wor", b" wor"), ("f(x) =", b" ="), ("it's", b""), ("", b"")],
)
def test_the_part_that_may_still_change_goes_back(cl100k: Encoder, text: str, prefix: bytes) -> None:
    healed = heal(cl100k, text)
    assert healed == (cl100k.encode(text.removesuffix(prefix.decode())), prefix)


def test_every_way_to_go_on_begins_with_an_allowed_id(cl100k: Encoder) -> None:
    text = "The quick brown f"
    healed = heal(cl100k, text)
    for more in ("ox jumps", "", "oxes", "irst", "'s", "é", "中"):
        ids = cl100k.encode(text + more)
        assert ids[: len(healed.ids)] == healed.ids
        left = healed
        for token_id in ids[len(healed.ids) :]:
            if not left.prefix:
                break
            assert token_id in allowed_next(cl100k, left.prefix)
            left = left.after(cl100k.decode_single_token_bytes(token_id))
        assert left.prefix == b""


def test_allowed_ids_are_those_that_looking_at_every_token_finds(cl100k: Encoder, llama: Encoder) -> None:
    for encoder in (cl100k, llama):
        rules = encoder.spec.sentencepiece
        size = 100_256 if rules is None else len(rules.pieces)
        silent = {n for n, p in enumerate(rules.pieces) if p.kind in ("control", "unknown")} if rules else set()
        tokens = {n: encoder.decode_single_token_bytes(n) for n in range(size) if n not in silent}
        for prefix in (b" wor", "中".encode()[:2], b"\xff", b"zqx"):
            expected = [n for n, token in tokens.items() if token.startswith(prefix) or prefix.startswith(token)]
            mask = allowed_mask(encoder, prefix)
            assert allowed_next(encoder, prefix).tolist() == expected
            assert (mask.shape, mask.nonzero()[0].tolist()) == ((encoder.n_vocab,), expected)


def test_without_a_prefix_every_id_in_use_is_allowed(cl100k: Encoder) -> None:
    found = allowed_next(cl100k, b"")
    assert (len(found), 100257 in found, 100256 in found) == (cl100k.spec.vocab_size, True, False)


def test_the_exact_ids_are_among_the_allowed_ones(cl100k: Encoder) -> None:
    said, healed = encode_with_completions(cl100k, "The answ"), heal(cl100k, "The answ")
    assert healed == Healed(said.stable, said.rest.encode())
    assert {*said.next_ids()} <= {*allowed_next(cl100k, healed.prefix).tolist()}


def test_the_prefix_of_a_sentencepiece_model_has_its_space(llama: Encoder) -> None:
    healed = heal(llama, "The quick bro")
    assert (healed.ids, healed.prefix) == (llama.encode("The quick"), b" bro")
    assert llama.encode("The quick brown")[-1] in allowed_next(llama, healed.prefix)


def test_a_token_that_is_not_allowed_is_refused() -> None:
    with pytest.raises(ValueError, match="does not begin with b' wor'"):
        Healed([], b" wor").after(b"x")
    with pytest.raises(TypeError, match="must be bytes"):
        allowed_next(Encoder(byte_spec()), " wor")  # type: ignore[arg-type]


def test_where_nothing_is_known_healing_is_refused() -> None:
    with pytest.raises(BorderError, match="nothing can be proved"):
        heal(Encoder(byte_spec(r"(?<=a)b|[\s\S]")), "ab")


def test_trailing_white_space_is_warned_of_where_it_matters(cl100k: Encoder) -> None:
    with pytest.warns(UserWarning, match="ends with ' ', which is encoded in another way when 'A' follows"):
        assert warn_trailing_space(cl100k, "The answer is ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("The answer is", "The answer is:\n", "", "x"):
            assert not warn_trailing_space(cl100k, text)
        assert not warn_trailing_space(Encoder(byte_spec()), "bytes are bytes ")


def test_trailing_white_space_is_found_whatever_words_the_vocabulary_has() -> None:
    spec = byte_spec("gpt2").replace(vocab=BYTES | {b" w": 256, b"\tq": 257}, merges=((b" ", b"w"), (b"\t", b"q")))
    with pytest.warns(UserWarning, match="when 'w' follows"):
        assert warn_trailing_space(Encoder(spec), "hello ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not warn_trailing_space(Encoder(spec), "hello\t")  # the pattern never makes such a piece
        assert not warn_trailing_space(Encoder(spec), "hello\n")


def test_special_tokens_are_treated_as_in_encode(cl100k: Encoder) -> None:
    text = "hi <|endoftext|> the"
    allowing = Encoder(cl100k.spec, special="special")
    assert heal(allowing, text) == Healed(allowing.encode("hi <|endoftext|>"), b" the")
    assert stable_part(allowing, text).ids == allowing.encode("hi <|endoftext|>")
    assert encode_with_completions(allowing, "<|endoftext|>Hello wor").stable == allowing.encode("<|endoftext|>Hello")
    for call in (heal, stable_part, encode_with_completions, warn_trailing_space):
        with pytest.raises(DisallowedSpecialTokenError):
            call(cl100k, text)
        call(cl100k, text, disallowed_special=())
    assert heal(cl100k, text, disallowed_special=()).ids[1] != 100257
    assert heal(cl100k, text, allowed_special="all") == heal(allowing, text)


def test_what_is_no_encoder_is_refused(cl100k: Encoder) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda wrong: heal(wrong, "a"),
        lambda wrong: stable_part(wrong, "a"),
        lambda wrong: encode_with_completions(wrong, "a"),
        lambda wrong: warn_trailing_space(wrong, "a"),
        lambda wrong: allowed_next(wrong, b"a"),
        lambda wrong: allowed_mask(wrong, b"a"),
        lambda wrong: is_canonical(wrong, [1]),
        lambda wrong: canonicalise(wrong, [1]),
        lambda wrong: canonical_drift(wrong, [1], []),
        lambda wrong: spans_of_text(wrong, "a"),
        lambda wrong: spans_of_ids(wrong, [1]),
    ]
    for call in calls:
        for wrong in ("gpt2", None, cl100k.spec):
            with pytest.raises(TypeError, match=f"those of an Encoder, not of a {type(wrong).__name__}"):
                call(wrong)


def test_an_encoding_of_the_other_face_is_told_where_its_encoder_is(cl100k: Encoder) -> None:
    encoding = tiktoken.Encoding.from_spec(cl100k.spec, "mine")
    for call in (partial(heal, encoding, "a"), partial(StreamingDecoder, encoding), partial(StreamingEncoder, encoding)):
        with pytest.raises(TypeError, match=r"pass its \.encoder"):
            call()


def test_a_warning_looks_only_at_what_can_change() -> None:
    """The stable part of a text is not encoded again for each token that could follow."""
    encoder = Encoder(cl100k_spec().replace(pattern=r"\s+|\S+"))
    looked_at = []
    encode = encoder.encode
    encoder.encode = lambda text, **options: looked_at.append(len(text)) or encode(text, **options)  # type: ignore
    assert not warn_trailing_space(encoder, "word " * 2000)
    assert sorted(looked_at)[-2] < 200
    assert len(looked_at) > 1000


def test_arguments_of_another_type_are_named(cl100k: Encoder) -> None:
    with pytest.raises(TypeError, match=r"the token must be bytes, .* not a str: ' tu'"):
        heal(cl100k, "tur").after(" tu")  # type: ignore[arg-type]
    for limit in (None, 0, "9", True):
        with pytest.raises(ValueError, match="limit must be how many tokens"):
            encode_with_completions(cl100k, "tur", limit=limit)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"normalizer": ("NFC",)}, "it normalises text"),
        ({"add_prefix_space": True}, "it puts a space before a text"),
        ({"stages": ("a",)}, "it splits in stages"),
        ({"unmatched": "drop"}, "its pattern leaves text out"),
        ({"added_tokens": (AddedToken("<m>", 300, special=False, lstrip=True),)}, "its added token '<m>' has lstrip"),
    ],
)
def test_the_reason_why_completions_are_not_known_is_named(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(BorderError, match=f"are not known exactly: {reason}"):
        encode_with_completions(Encoder(byte_spec("gpt2").replace(**changes)), "a")


def test_the_reason_why_a_sentencepiece_model_has_no_completions_is_named() -> None:
    for name, reason in [
        ("identity", "it removes spaces"),
        ("mistral v3", "it has user-defined pieces"),
    ]:
        with pytest.raises(BorderError, match=f"are not known exactly: {reason}"):
            encode_with_completions(Encoder(parse_model(model(name), name)), "a")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"normalizer": ("Strip",)}, "its normalizer looks at the whole text: Strip"),
        ({"add_prefix_space": True}, "it puts a space before a text"),
        ({"added_tokens": (AddedToken("mm", 300, special=False, single_word=True),)}, "the added token 'mm' must stand alone"),
        ({"pattern": r"(?<=a)b|[\s\S]"}, "its pattern looks back"),
        ({"pattern": None, "ignore_merges": True}, "it has no pattern"),
    ],
)
def test_the_reason_why_nothing_is_stable_is_named(changes: dict[str, Any], reason: str) -> None:
    spec = byte_spec(r"b|[\s\S]").replace(**changes)
    with pytest.raises(BorderError, match=f"nothing can be proved of texts of this tokenizer: {reason}"):
        stable_part(Encoder(spec), "ab")
