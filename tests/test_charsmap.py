"""Replacements of a normaliser: found by longest prefix, made so that sentencepiece takes them, refused where damaged."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversion.sentencepiece.model import parse_model
from hf_bpe import Piece
from hf_bpe.charsmap import Charsmap, build_charsmap, charsmap_defect
from tests.support.pieces import model, pieces_spec, serialised

KEYS = st.binary(min_size=1, max_size=5).map(lambda key: key.replace(b"\0", b"z"))
VALUES = st.binary(max_size=5).map(lambda value: value.replace(b"\0", b"z"))


def longest_by_definition(rules: dict[bytes, bytes], text: bytes, start: int) -> tuple[int, bytes] | None:
    found = [key for key in rules if text.startswith(key, start)]
    return (start + len(max(found, key=len)), rules[max(found, key=len)]) if found else None


@given(st.dictionaries(KEYS, VALUES, max_size=40), st.lists(KEYS, max_size=6))
def test_the_longest_key_is_found(rules, texts):
    charsmap = Charsmap(build_charsmap(rules))
    text = b"\0".join([*texts, *rules])
    for start in range(len(text)):
        assert charsmap.longest(text, start) == longest_by_definition(rules, text, start)


def test_many_rules():
    generator = random.Random(0)
    rules = {generator.randbytes(generator.randint(1, 4)).replace(b"\0", b"x"): b"%d" % n for n in range(3000)}
    charsmap = Charsmap(build_charsmap(rules))
    assert all(charsmap.longest(key, 0) == (len(key), value) for key, value in rules.items())


@pytest.mark.parametrize("rules", [{}, {"a": "b"}, {"A": "ab", "AB": "", "é": "e", "日本": "x y"}])
def test_sentencepiece_takes_what_is_built_and_replaces_alike(rules):
    blob = build_charsmap({key.encode(): value.encode() for key, value in rules.items()})
    spec = pieces_spec(*map(Piece, "abexy\u2581"), precompiled_charsmap=blob)
    official = serialised(spec)
    for text in ("A", "ABA", "éa", "日本日", "a b"):
        expected = text
        for key in sorted(rules, key=len, reverse=True):
            expected = expected.replace(key, rules[key])
        assert official.normalize(text) == "\u2581" + expected.strip().replace(" ", "\u2581")


def test_of_keys_that_begin_one_another_only_32_count():
    rules = {b"a" * length: b"%d" % length for length in range(1, 41)}
    assert Charsmap(build_charsmap(rules)).longest(b"a" * 50, 0) == (32, b"32")


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ({b"": b"x"}, "an empty key"),
        ({b"a\0": b"x"}, "a NUL ends a string"),
        ({b"a": b"\0"}, "a NUL ends a string"),
    ],
)
def test_what_cannot_be_built_is_refused(rules, complaint):
    with pytest.raises(ValueError, match=complaint):
        build_charsmap(rules)


SOUND = build_charsmap({b"a": b"b"})


@pytest.mark.parametrize(
    ("blob", "complaint"),
    [
        (b"", "0 bytes, too few"),
        (SOUND[:4], "4 bytes, too few"),
        (SOUND[:500], "is said to take 2048 bytes, and 496 are left"),
        (SOUND[:-1] + b"x", "does not end with NUL"),
        ((1000).to_bytes(4, "little") + SOUND[4:], "no multiple of 1024"),
        ((0).to_bytes(4, "little") + SOUND[4:], "no multiple of 1024"),
        (SOUND[:4] + b"\0\xfe\xff\x7f" + SOUND[8:], "points beyond the 512 units"),
        (SOUND[:8] + b"\xff\0\0\x80" + SOUND[12:], "points at byte 255 of the replacements, which have 2"),
    ],
)
def test_a_damaged_one_is_refused(blob, complaint):
    assert complaint in (charsmap_defect(blob) or "")
    with pytest.raises(ValueError, match=complaint):
        Charsmap(blob)


def test_the_one_of_sentencepiece_itself_is_sound():
    rules = parse_model(model("nmt_nfkc"), "").sentencepiece
    assert rules is not None
    assert charsmap_defect(rules.precompiled_charsmap) is None
    assert Charsmap(rules.precompiled_charsmap).longest("か\uff9e".encode(), 0) == (6, "が".encode())


@pytest.mark.parametrize("seed", range(200))
def test_flipped_bits_are_refused_or_harmless(seed):
    generator = random.Random(seed)
    blob = bytearray(build_charsmap({b"a": b"b", b"ab": b"c", "é".encode(): b"e"}))
    for _ in range(3):
        blob[generator.randrange(len(blob))] ^= 1 << generator.randrange(8)
    if charsmap_defect(bytes(blob)) is None:
        charsmap = Charsmap(bytes(blob))
        for start in range(256):
            charsmap.longest(bytes(range(256)) + b"abab", start)
