"""`encode_parts` against its definition, and the engines against each other."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, DisallowedSpecialTokenError, Encoder, TokenizerSpec
from tests.support.pieces import model
from tests.support.vocabularies import byte_spec, random_specs

PLAIN = ("<a>", "<a><b>", "<b>", "b><", "a", "aa", "é中")
FLAGS = (
    AddedToken("<a>", 0),
    AddedToken("<a><b>", 0, rstrip=True),
    AddedToken("<b>", 0, lstrip=True),
    AddedToken("ab", 0, special=False),
    AddedToken("  ", 0),
    AddedToken("é>", 0, single_word=True),
    AddedToken("b ", 0, special=False, lstrip=True, rstrip=True),
)
BITS = ["<a>", "<b>", "<", "a", "b", ">", " ", "  ", "é", "中", "é>", " \n", "", "\ud83d", "\ude09"]
TRUSTS = st.sampled_from([True, False, "raise", "special", "text"])
PARTS = st.lists(st.tuples(st.lists(st.sampled_from(BITS), max_size=5).map("".join), TRUSTS), max_size=6)


def added(spec: TokenizerSpec, tokens: Any) -> TokenizerSpec:
    known = spec.vocab
    made = [AddedToken(**{**vars(t), "id": known.get(t.content.encode(), spec.n_vocab + n)}) for n, t in enumerate(tokens)]
    return spec.replace(added_tokens=tuple(made))


def result(encoder: Encoder, parts: Any) -> Any:
    try:
        return encoder.encode_parts(parts)
    except DisallowedSpecialTokenError as error:
        return str(error)


@settings(max_examples=80)
@given(random_specs("<a>b é中", 12), PARTS, st.sets(st.sampled_from(PLAIN)))
def test_is_what_its_definition_says(spec, parts, special):
    """At each place the longest token that is not special, or all trusted; text between is encoded as if there were none."""
    spec = added(spec, [AddedToken(token, 0, special=token in special) for token in PLAIN])
    parts = [
        (text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), trust) for text, trust in parts if trust != "raise"
    ]
    text = "".join(text for text, _ in parts)
    trusts = [trust in (True, "special") for part, trust in parts for _ in part]
    bare = Encoder(spec.replace(added_tokens=()), engine="reference")
    longest_first = sorted(spec.added_tokens, key=lambda token: -len(token.content))
    expected: list[int] = []
    from_text: list[int] = []
    at = done = 0
    while at < len(text):
        fits = (t for t in longest_first if text.startswith(t.content, at))
        token = next((t for t in fits if not t.special or all(trusts[at : at + len(t.content)])), None)
        if token is not None:
            from_text += bare.encode_ordinary(text[done:at])
            expected += [*bare.encode_ordinary(text[done:at]), token.id]
            done = at + len(token.content)
        at = done if token is not None else at + 1
    from_text += bare.encode_ordinary(text[done:])
    expected += bare.encode_ordinary(text[done:])
    is_refused = not {token.id for token in spec.added_tokens if token.special}.isdisjoint(from_text)
    for engine in ("native", "reference"):
        found = result(Encoder(spec, engine=engine), parts)
        assert "as an ordinary token too" in found if is_refused else found == expected


@settings(max_examples=150)
@given(PARTS)
def test_engines_agree_on_all_flags(parts):
    for dialect in (byte_spec("gpt2"), byte_spec()):
        spec = added(dialect, FLAGS)
        native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
        found = result(native, parts)
        assert found == result(reference, parts)
        if isinstance(found, list):
            offsets = [encoder.encode_parts_with_offsets(parts) for encoder in (native, reference)]
            assert [ids.tolist() for ids, _ in offsets] == [found, found]
            assert offsets[0][1].tolist() == offsets[1][1].tolist()
            aligned = [encoder.align_parts(parts) for encoder in (native, reference)]
            assert [column.tolist() for column in aligned[0]] == [column.tolist() for column in aligned[1]]
            assert [aligned[0].starts.tolist(), aligned[0].stops.tolist()] == offsets[0][1].T.tolist()
            in_bytes = [encoder.encode_parts_with_offsets(parts, unit="bytes")[1].tolist() for encoder in (native, reference)]
            assert in_bytes[0] == in_bytes[1]


def test_units_of_places_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="'characters' or 'bytes'"):
        Encoder(byte_spec()).encode_parts_with_offsets([("a", True)], unit="words")


@settings(max_examples=60)
@given(PARTS)
def test_engines_agree_on_a_sentencepiece_model(parts):
    spec = SENTENCEPIECE
    assert result(Encoder(spec, engine="native"), parts) == result(Encoder(spec, engine="reference"), parts)


SENTENCEPIECE = added(parse_model(model("nmt_nfkc"), ""), FLAGS)


@given(st.lists(st.sampled_from(BITS[:-2]), max_size=12).map("".join), st.lists(st.integers(0, 40), max_size=4))
def test_all_trusted_or_none_is_what_encode_does_however_it_is_cut(text, cuts):
    encoder = Encoder(added(byte_spec("gpt2"), FLAGS))
    bounds = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    assert encoder.encode_parts([(piece, True) for piece in pieces]) == encoder.encode(text, allowed_special="all")
    assert encoder.encode_parts([(piece, False) for piece in pieces]) == encoder.encode_ordinary(text)


@settings(max_examples=100)
@given(PARTS, st.sampled_from([(), ("NFKC",), ("NFC", "Lowercase")]), st.booleans())
def test_engines_agree_on_tokens_that_are_looked_for_in_normalised_text(parts, normalizer, with_space):
    mixed = [AddedToken(**{**vars(token), "normalized": number % 2 == 0}) for number, token in enumerate(FLAGS)]
    spec = added(byte_spec("gpt2", normalizer=normalizer, add_prefix_space=with_space), mixed)
    native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    assert result(native, parts) == result(reference, parts)
    text = "".join(text for text, _ in join_parts_of(parts))
    assert native.encode_parts([(text, True)]) == native.encode(text, allowed_special="all")
    if not normalizer:
        assert native.encode_parts([(text, False)]) == native.encode_ordinary(text)


def join_parts_of(parts: Any) -> Any:
    return [(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), trust) for text, trust in parts]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_look_alike_that_normalising_makes_a_token_is_refused(engine):
    """Fullwidth letters, and a letter with its accent apart, become what the token is looked for as."""
    tokens = [AddedToken("<|é|>", 0, normalized=True), AddedToken("<|raw|>", 0)]
    encoder = Encoder(added(byte_spec(normalizer=("NFKC",)), tokens), engine=engine)
    special = encoder.encode_single_token("<|é|>")
    for text in ("＜|é|＞", "<|e\u0301|>", "<|é|>"):
        assert special in encoder.encode_parts([(text, True), ("hi", False)])
        with pytest.raises(DisallowedSpecialTokenError, match="normalised text") as error:
            encoder.encode_parts([("a", True), (text, False)])
        assert error.value.token == "<|é|>"
        with pytest.raises(DisallowedSpecialTokenError):
            encoder.encode_parts([(text[:3], True), (text[3:], False)])
    raw = encoder.encode_single_token("<|raw|>")
    assert raw not in encoder.encode_parts([("＜|raw|＞<|raw|>", False), ("＜|raw|＞", True)])


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_without_a_normalizer_a_normalized_token_in_untrusted_text_is_text(engine):
    encoder = Encoder(added(byte_spec(), [AddedToken("<x>", 0, normalized=True), AddedToken("x>y", 0)]), engine=engine)
    assert encoder.encode_parts([("<x>", False), ("<x>", True)]) == [*b"<x>", 256]
    assert encoder.encode_parts([("<x>y", True)]) == encoder.encode("<x>y", allowed_special="all")


def test_merges_cross_the_borders_of_parts():
    spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)} | {b"ab": 256}, merges=((b"a", b"b"),))
    for engine in ("native", "reference"):
        assert Encoder(spec, engine=engine).encode_parts([("xa", True), ("by", False)]) == [120, 256, 121]


def test_halves_in_two_parts_are_no_token():
    spec = added(byte_spec(), [AddedToken("<|x|>", 0)])
    for engine in ("native", "reference"):
        encoder = Encoder(spec, engine=engine)
        assert encoder.encode_parts([("<|", True), ("x", False), ("|>", True)]) == list(b"<|x|>")
        assert encoder.encode_parts([("<|", True), ("x", True), ("", False), ("|>", True)]) == [256]


def test_a_refusing_part_refuses_what_touches_it():
    encoder = Encoder(added(byte_spec(), [AddedToken("<x>", 0)]))
    for parts in ([("<x>", "raise")], [("<", True), ("x", "raise"), (">", True)], [("<x", False), (">", "raise")]):
        with pytest.raises(DisallowedSpecialTokenError, match="untrusted text spells '<x>'"):
            encoder.encode_parts(parts)
    assert encoder.encode_parts([("<x>", True), ("", "raise"), ("<x", "raise"), ("", True), ("<x>", False)]) == [256, *b"<x<x>"]


@pytest.mark.parametrize("part", ["text", ("text",), ("text", True, 1), (1, True), (b"text", True)], ids=str)
def test_what_is_no_part_is_refused(part):
    with pytest.raises(TypeError, match="a part is"):
        Encoder(byte_spec()).encode_parts([part])


def test_a_trust_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="'special', 'text', 'raise'"):
        Encoder(byte_spec()).encode_parts([("text", "yes")])  # type: ignore[list-item]


def test_many_tokens_and_parts_take_no_long_time():
    """Ten thousand tokens, and a part for every character."""
    spec = added(byte_spec(), [AddedToken(f"<{n}>", 0) for n in range(10_000)])
    encoder = Encoder(spec)
    generator = random.Random(1)
    parts = [(c, generator.random() < 0.9) for _ in range(20_000) for c in f"<{generator.randrange(10_000)}>"]
    ids = encoder.encode_parts(parts)
    assert encoder.decode(ids) == "".join(text for text, _ in parts)
    assert max(ids) > 256
