"""Ids that encoding gives, and ids that it does not."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import get_args

import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, BorderError, Encoder, SentencePieceRules, TokenizerSpec, UnknownTokenError
from hf_bpe.borders import Drift, canonical_drift, canonicalise, is_canonical, spans_of_ids
from hf_bpe.normalizers import NamedStep, NormalizerStep, Prepend, Replace
from tests.fuzz.random_specs import ALPHABETS, random_spec, random_text
from tests.support.pieces import TRAINED, model
from tests.support.vocabularies import BYTES, byte_spec

TEXT = "Hello wörld, 日本語 <|endoftext|> it's\n\n  fine"


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
    encoder = Encoder(_with_a_text_for_each_id(spec.replace(normalizer=(), add_prefix_space=False, unmatched="keep")))
    special = {*encoder.spec.special_tokens.values()}
    for _ in range(20):
        text = random_text(generator, spec, alphabet)[:60]
        ids = encoder.encode(text, disallowed_special=())
        split = [i for token in ids for i in ([token] if generator.random() < 0.7 else _spelt(encoder, token))]
        expected = encoder.encode(encoder.decode(split), disallowed_special=())
        assert special.isdisjoint(ids)
        try:
            assert canonicalise(encoder, split) == expected
            assert is_canonical(encoder, split) == (split == expected)
        except BorderError:
            assert any(token.single_word for token in encoder.spec.added_tokens)


NORMALIZERS: list[tuple[NormalizerStep, ...]] = [
    ("NFC",),
    ("NFKD",),
    ("Lowercase",),
    ("StripAccents",),
    ("Strip",),
    ("StripRight",),
    ("NFC", "Lowercase"),
    (Prepend("_"),),
    (Replace("a", "aa"),),
    (Replace(" ", "_"), "NFC"),
    (),
]


@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=str)
def test_what_encoding_gives_is_never_called_uncanonical(normalizer: tuple[NormalizerStep, ...]) -> None:
    """Whatever the tokenizer does to a text before it merges: the answer is True, or that it is not known."""
    generator = random.Random(f"normalised {normalizer}")
    known = 0
    for number in range(8):
        alphabet = generator.choice(ALPHABETS)
        spec = random_spec(generator, alphabet)
        encoder = Encoder(_with_a_text_for_each_id(spec.replace(normalizer=normalizer, add_prefix_space=number % 2 == 0)))
        for _ in range(15):
            text = random_text(generator, spec, alphabet)[:40] + generator.choice(["", " A", "h\u0331H\u0331", "\u212a "])
            ids = encoder.encode(text, disallowed_special=())
            with suppress(BorderError):
                assert is_canonical(encoder, ids), text
                assert canonicalise(encoder, ids) == ids
                known += 1
    assert known or Prepend("_") in normalizer


def _with_a_text_for_each_id(spec: TokenizerSpec) -> TokenizerSpec:
    """Without the ids that are both special and made by merging: they have no text to encode again. Nor have those of white space
    alone that a normalizer strips.
    """
    tokens = (t for t in spec.added_tokens if not (t.special and t.content.encode() in spec.vocab) and t.content.strip())
    return spec.replace(added_tokens=tuple(tokens))


@pytest.mark.parametrize(
    ("normalizer", "text", "again"),
    [
        ((Prepend("_"),), "hello", "_hello"),
        ((Replace("a", "aa"),), "a e", "aa e"),
        (("NFC", "Lowercase"), "H\u0331", "h\u0331"),
    ],
)
def test_what_a_normalizer_would_change_again_is_refused(normalizer: tuple[NormalizerStep, ...], text: str, again: str) -> None:
    encoder = Encoder(byte_spec("gpt2", normalizer=normalizer))
    ids = encoder.encode(text)
    for call in (is_canonical, canonicalise, lambda encoder, ids: canonical_drift(encoder, ids, [])):
        with pytest.raises(BorderError, match="the normalizer changes '" + again):
            call(encoder, ids)


@pytest.mark.parametrize("step", [(step,) for step in get_args(NamedStep)])
def test_a_single_named_step_leaves_its_own_result_alone(step: tuple[NormalizerStep, ...]) -> None:
    encoder = Encoder(byte_spec(normalizer=step))
    characters = "".join(c for c in map(chr, range(0x110000)) if not "\ud800" <= c <= "\udfff")
    once = "".join(encoder.pretokenize(characters))
    assert "".join(encoder.pretokenize(once)) == once


def test_an_added_token_that_normalising_can_make_is_refused_and_others_are_not() -> None:
    lower = Encoder(byte_spec(normalizer=("Lowercase",), added_tokens=(AddedToken("<m>", 300, special=False),)))
    with pytest.raises(BorderError, match="ordinary ids spell the added token '<m>'"):
        is_canonical(lower, lower.encode("<M>"))
    nfc = Encoder(byte_spec(normalizer=("NFC",), added_tokens=(AddedToken("<m>", 300, special=False),)))
    assert canonicalise(nfc, list(b"<m>")) == [300]
    assert not is_canonical(nfc, list(b"<m>"))


def test_text_that_a_pattern_leaves_out_is_not_known() -> None:
    encoder = Encoder(byte_spec(r"\w+", unmatched="drop").replace(vocab=BYTES | {b"ab": 256}, merges=((b"a", b"b"),)))
    assert is_canonical(encoder, [256])
    with pytest.raises(BorderError, match="its pattern leaves text out"):
        is_canonical(encoder, encoder.encode("a b"))


def _spelt(encoder: Encoder, token_id: int) -> list[int]:
    return [encoder.encode_single_token(bytes([byte])) for byte in encoder.decode_bytes([token_id])]


@pytest.mark.parametrize("name", TRAINED)
def test_sentencepiece_models(name: str) -> None:
    encoder = Encoder(parse_model(model(name), name))
    rules = encoder.spec.sentencepiece
    assert rules is not None
    generator = random.Random(name)
    texts = [
        "the quick brown fox",
        "Où est  la",
        "x",
        "中文 日本",
        "a b",
        "a \u2581b",
        "a\u2581\u2581b",
        "\u2581a",
        " a ",
        "",
        "ﬁ ①",
    ]
    texts += ["".join(generator.choices(["a", "the", " ", "\u2581", "q", "é", "<x>", "y "], k=6)) for _ in range(30)]
    for text in texts:
        ids = encoder.encode(text)
        assert is_canonical(encoder, ids), text
        split = [n for i in ids for n in _spelt_with_pieces(rules, i)]
        assert canonicalise(encoder, split) == ids, text
        assert is_canonical(encoder, split) == (split == ids)


def _spelt_with_pieces(rules: SentencePieceRules, token_id: int) -> list[int]:
    """The ids of the characters of a piece, or its own where they are none."""
    ids = {piece.content: number for number, piece in enumerate(rules.pieces) if piece.kind == "normal"}
    piece = rules.pieces[token_id]
    characters = [ids.get(character) for character in piece.content]
    return [i for i in characters if i is not None] if piece.kind == "normal" and None not in characters else [token_id]


def test_text_behind_an_added_token_of_a_sentencepiece_model_has_its_prefix(llama: Encoder) -> None:
    encoder = Encoder(llama.spec.with_added_tokens(["<tag>"], special=False))
    ids = encoder.encode("a<tag>b c")
    assert is_canonical(encoder, ids)


def test_the_prefix_that_is_missing_is_put_and_the_space_that_no_text_has_goes() -> None:
    encoder = Encoder(parse_model(model("identity"), "identity"))
    assert encoder.spec.sentencepiece is not None
    ids = {piece.content: number for number, piece in enumerate(encoder.spec.sentencepiece.pieces)}
    assert canonicalise(encoder, [ids["a"]]) == encoder.encode("a")
    assert canonicalise(encoder, [*encoder.encode("a"), ids["\u2581"]]) == encoder.encode("a")


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


def test_the_byte_of_a_drift_is_that_of_the_decoded_text(llama: Encoder) -> None:
    ids = [264, 541, 347, 2287, 28705]
    drift = canonical_drift(llama, [], ids)
    assert drift is not None
    assert drift.byte == len(llama.decode_bytes(ids[: drift.place])) == spans_of_ids(llama, ids).in_bytes[drift.place, 0]
