"""Byte pieces that no text has are named, and sentencepiece never gives one of them."""

from __future__ import annotations

import random

import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import Encoder, Piece, TokenizerSpec
from hf_bpe.charsmap import build_charsmap
from hf_bpe.engine.backends import EngineName
from hf_bpe.engine.reference import as_unicode
from hf_bpe.pieces import byte_piece
from hf_bpe.vocabulary.byte_pieces import bytes_fallen_back_to
from hf_bpe.vocabulary.findings import UNREACHED, findings_of, findings_of_token
from tests.support.pieces import PACKAGED, TRAINED, model, nasty, pieces_spec, processor, serialised, spliced

BYTE_PIECES = tuple(Piece(byte_piece(byte), 0.0, "byte") for byte in range(256))
IMPOSSIBLE = {0xC0, 0xC1, *range(0xF5, 0x100)}
ALONE = "\U000e0123"
"""A character that no vocabulary here holds."""
SOME_OF_ALL_KINDS = (*range(0x800), *range(0x800, 0xD800, 61), *range(0xE000, 0x10000, 61), *range(0x10000, 0x110000, 4099))
"""Characters with every byte that UTF-8 has."""


def fallback_spec(*contents: str, kind: str = "normal", **rules: object) -> TokenizerSpec:
    pieces = [Piece(content, -1.0, kind) for content in contents]  # type: ignore[arg-type]
    return pieces_spec(*BYTE_PIECES, *pieces, byte_fallback=True, **rules)


def named(spec: TokenizerSpec, engine: EngineName = "native") -> dict[str, set[int]]:
    """Finding -> the bytes whose pieces have it."""
    byte_of = {n: int(p.content[3:5], 16) for n, p in enumerate(spec.sentencepiece.pieces) if p.kind == "byte"}  # type: ignore[union-attr]
    found: dict[str, set[int]] = {}
    for token_id, findings in findings_of(Encoder(spec, engine=engine)).items():
        for finding in findings if token_id in byte_of else ():
            found.setdefault(finding, set()).add(byte_of[token_id])
    return found


def test_bytes_of_characters_that_are_pieces_are_shadowed() -> None:
    spec = fallback_spec("A", "é", "▁")
    assert named(spec) == {
        "no text": IMPOSSIBLE,
        "shadowed": {0x41, 0x20},  # of é there are other characters with each byte
        "part of a character": {*range(0x80, 0x100)} - IMPOSSIBLE,
    }
    assert named(fallback_spec("A", escape_whitespaces=False))["shadowed"] == {0x41}
    assert findings_of_token(Encoder(spec), spec.vocab[b"<0x41>"]) == ["shadowed"]
    assert findings_of_token(Encoder(spec), spec.vocab[b"<0x42>"]) == []


def test_a_first_byte_is_shadowed_when_all_its_characters_are_pieces() -> None:
    latin = [chr(code) for code in range(0xC0, 0x100)]  # all that begin with 0xC3
    assert named(fallback_spec(*latin))["shadowed"] == {0x20, 0xC3}
    assert named(fallback_spec(*latin[1:]))["shadowed"] == {0x20}


def test_unused_pieces_shadow_nothing_and_user_defined_ones_do() -> None:
    assert named(fallback_spec("A", kind="unused"))["shadowed"] == {0x20}
    assert named(fallback_spec("A", kind="user_defined"))["shadowed"] == {0x20, 0x41}


def test_what_the_normaliser_takes_away_has_no_bytes() -> None:
    assert named(fallback_spec(precompiled_charsmap=build_charsmap({b"A": b"a"})))["shadowed"] == {0x20, 0x41}
    assert named(fallback_spec(precompiled_charsmap=build_charsmap({b"A": b"b", b"b": b"A"})))["shadowed"] == {0x20}
    kept = fallback_spec("AB", kind="user_defined", precompiled_charsmap=build_charsmap({b"A": b"a"}))
    assert named(kept)["shadowed"] == {0x20}  # what is left of a piece may come up


@pytest.mark.parametrize("escapes", [False, True])
def test_the_normaliser_does_not_see_the_space_before_a_text(escapes: bool) -> None:
    space = "\u2581" if escapes else " "
    spec = fallback_spec(escape_whitespaces=escapes, precompiled_charsmap=build_charsmap({space.encode(): b""}))
    given = [spec.vocab[byte_piece(byte).encode()] for byte in space.encode()]
    assert serialised(spec).encode("B")[: len(given)] == given
    assert named(spec).get("shadowed", set()) == {0x20} - {*space.encode()}


def test_of_a_normaliser_that_writes_no_text_nothing_is_said() -> None:
    spec = fallback_spec(precompiled_charsmap=build_charsmap({b"A": b"\xff"}))
    assert bytes_fallen_back_to(spec.sentencepiece) is None  # type: ignore[arg-type]
    assert named(spec, engine="reference") == {"part of a character": {*range(0x80, 0x100)}}
    assert spec.vocab[b"<0xFF>"] in serialised(spec).encode("A")


def test_bytes_that_a_corpus_lacks_are_unused() -> None:
    spec = fallback_spec("A")
    counts = [0] * spec.n_vocab
    counts[spec.vocab[b"<0x42>"]] = 1
    found = findings_of(Encoder(spec), counts)
    assert found[spec.vocab[b"<0x43>"]] == ["unused"]
    assert found[spec.vocab[b"<0x41>"]] == ["shadowed"]
    assert spec.vocab[b"<0x42>"] not in found


def charsmap(generator: random.Random) -> bytes:
    characters = ["a", "b", "c", "é", "è", "中", " ", "\t"]
    keys = ("".join(generator.choices(characters, k=generator.randint(1, 2))) for _ in range(5))
    return build_charsmap(
        {key.encode(): "".join(generator.choices(characters, k=generator.randint(0, 2))).encode() for key in keys}
    )


@pytest.mark.parametrize("seed", range(40))
def test_random_models_give_no_byte_that_is_said_to_be_unreached(seed: int) -> None:
    generator = random.Random(seed)
    has_charsmap = seed % 2 == 0
    alphabet = "abcéè中▁\t"
    contents = {"".join(generator.choices(alphabet, k=generator.choice([1, 1, 2, 3]))) for _ in range(9)}
    pieces = [Piece(content, -1.0, generator.choice(["normal", "normal", "unused", "user_defined"])) for content in contents]  # type: ignore[arg-type]
    spec = pieces_spec(
        *BYTE_PIECES,
        *pieces,
        byte_fallback=True,
        escape_whitespaces=generator.random() < 0.7,
        remove_extra_whitespaces=generator.random() < 0.5,
        precompiled_charsmap=charsmap(generator) if has_charsmap else b"",
    )
    found, official = named(spec), serialised(spec)
    unreached = {byte for finding in UNREACHED for byte in found.get(finding, ())}
    texts = ["".join(generator.choices("abcéè中▁\t Aàé" + ALONE, k=generator.randrange(20))) for _ in range(300)]
    texts += [f"{ALONE}{chr(code)}{ALONE}" for code in SOME_OF_ALL_KINDS]
    given = {token_id - 1 for ids in official.encode(texts) for token_id in ids if 1 <= token_id <= 256}
    assert not given & unreached
    if not has_charsmap:
        assert given | unreached == {*range(256)}, "none is left unsaid"


@pytest.mark.parametrize("name", [*PACKAGED, *(name for name, kind in TRAINED.items() if kind.get("byte_fallback", True))])
def test_real_models_give_no_byte_that_is_said_to_be_unreached(name: str) -> None:
    spec, official = parse_model(model(name), name), processor(model(name))
    generator = random.Random(3)
    unreached = {byte for finding in UNREACHED for byte in named(spec).get(finding, ())}
    assert unreached > IMPOSSIBLE | {*b" etaoin"}
    texts = [as_unicode(text) for text in (*nasty(), *(spliced(generator) for _ in range(2000)))]
    texts += [f"{ALONE}{chr(code)}{ALONE}" for code in SOME_OF_ALL_KINDS]
    first = next(n for n, piece in enumerate(spec.sentencepiece.pieces) if piece.kind == "byte")  # type: ignore[union-attr]
    given = {token_id - first for ids in official.encode(texts) for token_id in ids if first <= token_id < first + 256}
    assert not given & unreached
    assert given | unreached == {*range(256)}
