"""Prompts whose end the model may finish in any way."""

from __future__ import annotations

import warnings

import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import BorderError, Encoder
from hf_bpe.borders import Healed, allowed_mask, allowed_next, encode_with_completions, heal, warn_trailing_space
from tests.support.pieces import model
from tests.support.vocabularies import byte_spec, cl100k_encoder


@pytest.fixture(scope="module")
def cl100k() -> Encoder:
    return cl100k_encoder()


@pytest.fixture(scope="module")
def llama() -> Encoder:
    return Encoder(parse_model(model("mistral v1"), "m"))


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
    with pytest.warns(UserWarning, match="ends with ' ', which is encoded in another way when 'a' follows"):
        assert warn_trailing_space(cl100k, "The answer is ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("The answer is", "The answer is:\n", "", "x"):
            assert not warn_trailing_space(cl100k, text)
        assert not warn_trailing_space(Encoder(byte_spec()), "bytes are bytes ")
