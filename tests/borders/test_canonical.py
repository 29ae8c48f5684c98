"""Ids that encoding gives, and ids that it does not."""

from __future__ import annotations

import random

import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, BorderError, Encoder, UnknownTokenError
from hf_bpe.borders import Drift, canonical_drift, canonicalise, is_canonical
from tests.fuzz.random_specs import ALPHABETS, random_spec, random_text
from tests.support.pieces import TRAINED, model
from tests.support.vocabularies import byte_spec, cl100k_encoder

TEXT = "Hello wörld, 日本語 <|endoftext|> it's\n\n  fine"


@pytest.fixture(scope="module")
def cl100k() -> Encoder:
    return cl100k_encoder()


@pytest.fixture(scope="module")
def llama() -> Encoder:
    return Encoder(parse_model(model("mistral v1"), "m"))


def test_ids_of_texts_are_canonical_and_single_bytes_become_them(cl100k: Encoder, llama: Encoder) -> None:
    for encoder in (cl100k, llama):
        ids = encoder.encode(TEXT, disallowed_special=())
        assert is_canonical(encoder, ids)
        assert canonicalise(encoder, ids) == ids
    pieces = [cl100k.encode_single_token(bytes([byte])) for byte in TEXT.encode()]
    assert not is_canonical(cl100k, pieces)
    assert canonicalise(cl100k, pieces) == cl100k.encode(TEXT, disallowed_special=())


@pytest.mark.parametrize("number", range(25))
def test_random_tokenizers_against_decoding_and_encoding(number: int) -> None:
    generator = random.Random(f"canonical {number}")
    alphabet = generator.choice(ALPHABETS)
    spec = random_spec(generator, alphabet)
    # An id that is both special and made by merging has no text to encode again.
    tokens = tuple(t for t in spec.added_tokens if not (t.special and t.content.encode() in spec.vocab))
    encoder = Encoder(spec.replace(normalizer=(), add_prefix_space=False, added_tokens=tokens))
    special = {*encoder.spec.special_tokens.values()}
    for _ in range(20):
        text = random_text(generator, spec, alphabet)[:60]
        ids = encoder.encode(text, disallowed_special=())
        split = [i for token in ids for i in ([token] if generator.random() < 0.7 else _spelt(encoder, token))]
        expected = encoder.encode(encoder.decode(split), disallowed_special=())
        assert special.isdisjoint(ids)
        assert canonicalise(encoder, split) == expected
        assert is_canonical(encoder, split) == (split == expected)


def _spelt(encoder: Encoder, token_id: int) -> list[int]:
    return [encoder.encode_single_token(bytes([byte])) for byte in encoder.decode_bytes([token_id])]


@pytest.mark.parametrize("name", ["identity", "all spaces", "no dummy prefix, all spaces", "space as suffix", "without bytes"])
def test_sentencepiece_models(name: str) -> None:
    assert name in TRAINED
    encoder = Encoder(parse_model(model(name), name))
    for text in ("the quick brown fox", "Où est  la", "x", "中文 日本", "a b"):
        ids = encoder.encode(text)
        assert is_canonical(encoder, ids), text
        if encoder.spec.sentencepiece and encoder.spec.sentencepiece.unk_id not in ids:
            characters = [i for part in ids for i in encoder.encode(encoder.decode([part]))]
            assert encoder.decode(canonicalise(encoder, characters)) == encoder.decode(
                canonicalise(encoder, canonicalise(encoder, characters))
            )


def test_special_tokens_stay_and_their_spelling_stays_text(cl100k: Encoder) -> None:
    spelt = cl100k.encode("<|endoftext|>", disallowed_special=())
    ids = [*cl100k.encode("a"), 100257, *spelt, 100257]
    assert is_canonical(cl100k, ids)
    assert canonicalise(cl100k, ids) == ids


def test_special_and_unknown_pieces_of_a_sentencepiece_model_stay(llama: Encoder) -> None:
    ids = [1, *llama.encode("Hello"), 0, *llama.encode("world"), 2]
    assert canonicalise(llama, ids) == ids


def test_ids_that_end_within_a_character_are_no_text(cl100k: Encoder) -> None:
    half = cl100k.encode_single_token(b"\xe4")
    assert not is_canonical(cl100k, [half])
    with pytest.raises(BorderError, match="ids 1 to 2 spell bytes that are no UTF-8"):
        canonicalise(cl100k, [100257, 64, half, 100257])


def test_unknown_ids_are_refused(cl100k: Encoder) -> None:
    for call in (is_canonical, canonicalise):
        with pytest.raises(UnknownTokenError):
            call(cl100k, [64, 10**6])
        with pytest.raises(TypeError):
            call(cl100k, ["a"])  # type: ignore[list-item]


def test_white_space_that_a_special_token_would_take() -> None:
    encoder = Encoder(byte_spec("gpt2", added_tokens=(AddedToken("<m>", 300, lstrip=True),)))
    assert not is_canonical(encoder, [97, 32, 300])
    assert canonicalise(encoder, [97, 32, 300]) == [97, 300]


# -- drift ------------------------------------------------------------------------------------------------------------


def test_a_rollout_whose_text_is_encoded_in_the_same_way_has_no_drift(cl100k: Encoder) -> None:
    prompt, completion = cl100k.encode("The answer is"), cl100k.encode(" forty two.")
    assert canonical_drift(cl100k, prompt, completion) is None
    assert canonical_drift(cl100k, [], []) is None


def test_a_drift_at_the_border_is_the_prompts_too(cl100k: Encoder) -> None:
    prompt, completion = cl100k.encode("The answer is "), cl100k.encode("forty two")
    found = canonical_drift(cl100k, prompt, completion)
    expected = cl100k.encode("The answer is forty two")
    assert found == Drift(3, 13, [prompt[3], *completion[: len(found.ids) - 1]], expected[3 : 3 + len(found.canonical)], True)
    assert cl100k.decode(found.ids) == cl100k.decode(found.canonical)


def test_a_drift_within_the_completion(cl100k: Encoder) -> None:
    prompt = cl100k.encode("Say")
    completion = [*cl100k.encode(" hel"), *cl100k.encode("lo"), *cl100k.encode(" there")]
    found = canonical_drift(cl100k, prompt, completion)
    assert found is not None
    assert (found.place, found.in_prompt, cl100k.decode(found.ids), found.canonical) == (
        1,
        False,
        " hello",
        cl100k.encode(" hello"),
    )


def test_a_character_that_is_cut_off_is_not_looked_at(cl100k: Encoder, llama: Encoder) -> None:
    half = [cl100k.encode_single_token(bytes([byte])) for byte in "中".encode()[:2]]
    assert canonical_drift(cl100k, cl100k.encode("It is"), [*cl100k.encode(" this"), *half]) is None
    cut = llama.encode("It is ♥䷀")[:-1]
    assert canonical_drift(llama, cut[:2], cut[2:]) is None
