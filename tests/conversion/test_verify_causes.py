"""Each cause is named by its name, and shown by the smallest text there is for it."""

from __future__ import annotations

import json

import pytest

import conversion
from conversion.format import Given
from conversion.verification import CAUSES
from conversion.verification.causes import find_cause
from conversion.verification.difference import Row, Token
from conversion.verification.loaders import load_side
from conversion.verification.merges_apart import as_text, texts_merged_apart
from conversion.verification.patterns_apart import texts_split_apart
from conversion.verification.side import AS_TEXT
from hf_bpe import NAMED_PATTERNS, AddedToken, Encoder, Piece, SentencePieceRules, TokenizerSpec
from tests.conversion.support import small_spec, spec_of_tokens, spec_with_unreachable_token
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec


def pieces_spec(**rules) -> TokenizerSpec:
    kinds = [Piece("<unk>", 0.0, "unknown"), *(Piece(c, -float(n)) for n, c in enumerate(["\u2581a", "a", "b", "\u2581"]))]
    return TokenizerSpec.from_sentencepiece(SentencePieceRules(tuple(kinds), **rules))


def renumbered(spec: TokenizerSpec) -> TokenizerSpec:
    return spec.replace(vocab={token: token_id + 1000 for token, token_id in spec.vocab.items()})


def reordered() -> TokenizerSpec:
    spec = spec_of_tokens([b"ab", b"bc"], pattern=None)
    return spec.replace(merges=spec.merges[::-1])


@pytest.mark.parametrize(
    ("cause", "text", "a", "b"),
    [
        ("special tokens", "<s>", byte_spec(added_tokens=(AddedToken("<s>", 256),)), byte_spec()),
        (
            "pattern",
            "11",
            spec_of_tokens([b"11"], pattern=r"\p{N}{1,3}|\P{N}"),
            spec_of_tokens([b"11"], pattern=r"\p{N}|\P{N}"),
        ),
        ("pattern", "ab", spec_of_tokens([b"ab"], pattern=r"b+"), spec_of_tokens([b"ab"], pattern=r"b+|\w+")),
        (
            "unreachable tokens",
            "abcd",
            spec_with_unreachable_token(),
            spec_with_unreachable_token().replace(ignore_merges=False),
        ),
        ("merges", "ab", spec_of_tokens([b"ab"]), byte_spec()),
        ("merges", "abc", spec_of_tokens([b"ab", b"bc"], pattern=None), reordered()),
        ("ids only", " ", byte_spec(), renumbered(byte_spec())),
        ("normaliser", " ", pieces_spec(), pieces_spec(remove_extra_whitespaces=False)),
        ("normaliser", "a", pieces_spec(), pieces_spec(prepend_scheme="never")),
    ],
)
def test_a_cause_is_named_and_shown_by_a_text_that_cannot_be_shorter(cause, text, a, b):
    report = conversion.verify(a, b)
    found = {each.cause: each.smallest.text for each in report.causes}
    assert cause in found
    assert len(found[cause]) == len(text)
    assert report.proof is None
    assert {aspect.cause for aspect in report.differences} >= {cause}
    assert all(each.cause in CAUSES for each in report.causes)


def test_a_difference_in_one_part_has_one_cause():
    assert [each.cause for each in conversion.verify(byte_spec(), renumbered(byte_spec())).causes] == ["ids only"]
    assert [each.cause for each in conversion.verify(spec_of_tokens([b"ab"]), byte_spec()).causes] == ["merges"]
    assert [each.cause for each in conversion.verify(byte_spec(), pieces_spec()).differences] == ["merges"]  # the dialect


def test_a_library_with_newer_unicode_is_told_from_another_pattern(tmp_path):
    """Minbpe's `regex` module knows letters that Unicode 16 does not."""
    spec = spec_of_tokens([b"a\xe1"], pattern=r"\p{L}+|\P{L}")
    path = tmp_path / "x.model"
    conversion.save(spec, path, format="minbpe")
    report = conversion.verify(path, path, loader=("own", "minbpe"))
    assert [each.cause for each in report.causes] in (["Unicode version"], [])
    newer = [each for each in report.causes if each.smallest.text[0] == "a" and ord(each.smallest.text[1]) > 0x800]
    assert len(newer) == len(report.causes)


def test_a_decoder_is_compared_too(tmp_path):
    conversion.save(small_spec(), tmp_path / "a" / "tokenizer.json")
    data = json.loads((tmp_path / "a" / "tokenizer.json").read_text("utf-8"))
    data["decoder"] = {
        "type": "Sequence",
        "decoders": [data["decoder"], {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}],
    }
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "tokenizer.json").write_text(json.dumps(data))
    report = conversion.verify(tmp_path / "a", tmp_path / "b", loader="tokenizers")
    assert [each.cause for each in report.causes] == ["decoder"]
    assert report.smallest is not None
    assert (report.smallest.text, report.smallest.a_decoded, report.smallest.b_decoded) == (" ", " ", "")
    assert "decoded by a: ' ', by b: ''" in report.summary()


def test_what_no_step_explains_is_unknown():
    side = load_side(byte_spec(), "own", Given())
    assert find_cause(side, side, "ab", AS_TEXT, [97, 98], [97]) == "normaliser"
    assert find_cause(side, side, "a", AS_TEXT, [97], [98]) != "decoder"


# -- texts made for two tokenizers ------------------------------------------------------------------------------------


def differing_only_by(report):
    """The built-in strings show nothing, so it is the generated ones that found it."""
    counts = {origin.origin: origin.differing for origin in report.origins}
    assert counts["built-in"] == 0
    assert counts["generated"] > 0
    return {each.smallest.text for each in report.causes}


def test_two_merges_in_another_order_among_a_hundred_thousand_are_found():
    spec = cl100k_spec()
    merges = list(spec.merges)
    begins = {left: rank for rank, (left, _) in enumerate(merges) if len(left) > 2}
    near = next(rank for rank, (_, right) in enumerate(merges) if begins.get(right, 0) > rank > 30_000)
    other = begins[merges[near][1]]  # both pull at the same token
    shared = merges[near][1].decode()
    merges[near], merges[other] = merges[other], merges[near]
    report = conversion.verify(spec, spec.replace(merges=tuple(merges)))
    assert not report.equal
    assert any(shared in text for text in differing_only_by(report))
    assert [each.cause for each in report.causes] == ["merges"]


def test_one_token_among_a_hundred_thousand_is_found():
    spec = cl100k_spec()
    dropped = spec.merges[70_000:70_001]
    report = conversion.verify(spec, spec.replace(merges=spec.merges[:70_000] + spec.merges[70_001:]))
    assert not report.equal
    made = (dropped[0][0] + dropped[0][1]).decode()
    assert any(made in text for text in differing_only_by(report))


def test_one_code_point_of_a_class_is_found():
    a, b = (spec_of_tokens(["a\u0e5b".encode()[:2]], pattern=rf"[\p{{L}}{more}]+|[^\p{{L}}{more}]") for more in ("", "\u0e5b"))
    assert texts_split_apart(a.pattern, b.pattern)[0] in ("a\u0e5b", "\u0e5b\u0e5b", "\u0e5ba")
    report = conversion.verify(a, b)
    assert differing_only_by(report) == {"a\u0e5b"}
    assert [each.cause for each in report.causes] == ["pattern"]


@pytest.mark.parametrize(
    ("a", "b"), [("gpt2", "cl100k"), ("qwen2", "llama3"), ("o200k", "tekken"), ("gpt2", "starcoder"), ("kimi", "o200k")]
)
def test_the_shortest_text_that_two_published_patterns_split_differently(a, b):
    texts = texts_split_apart(NAMED_PATTERNS[a].pattern, NAMED_PATTERNS[b].pattern)
    a_side, b_side = Encoder(byte_spec(a)), Encoder(byte_spec(b))
    assert a_side.pretokenize(texts[0]) != b_side.pretokenize(texts[0])
    assert len(texts[0]) == 2
    assert sum(a_side.pretokenize(text) != b_side.pretokenize(text) for text in texts) >= 0.9 * len(texts)


def test_equal_patterns_are_split_apart_by_nothing():
    assert texts_split_apart(r"a|b|[^ab]", r"[ab]|[^ba]") == []
    assert texts_split_apart(r"(?<=a)b|.", r"b|.") == []  # no automaton: it looks back


def test_merges_in_another_order_are_used_by_the_shortest_texts():
    pairs = [(b"x", b"y"), (b"a", b"b"), (b"b", b"c"), (b"c", b"d")]
    texts = set(texts_merged_apart(pairs, [pairs[0], pairs[2], pairs[1], pairs[3]]))
    assert "abc" in texts
    assert not any("x" in text for text in texts)
    assert list(texts_merged_apart(pairs, pairs)) == []


@pytest.mark.parametrize(
    "token", [bytes([byte]) for byte in range(0x80, 0xF5) if byte not in (0xC0, 0xC1)] + [b"\x9f\x98\x80a\xf0\x9f"]
)
def test_parts_of_characters_are_put_into_whole_ones(token):
    text = as_text(token)
    assert text is not None
    assert token in text.encode()
    assert len(text.encode()) <= len(token) + 6


# -- what is shown ----------------------------------------------------------------------------------------------------


def test_tokens_are_shown_side_by_side_up_to_where_both_begin_one_again():
    a, b = spec_of_tokens([b"ab", b"abc"], pattern=None), spec_of_tokens([b"bc"], pattern=None)
    report = conversion.verify(a, b, texts=["xyzxabcxyz"])
    assert report.first is not None
    assert report.first.rows == (
        *(Row((Token(ord(c), c),), (Token(ord(c), c),), True) for c in "yzx"),
        Row((Token(257, "abc"),), (Token(97, "a"), Token(256, "bc")), False),
        *(Row((Token(ord(c), c),), (Token(ord(c), c),), True) for c in "xy"),
    )


def test_bytes_that_are_no_text_are_shown_as_bytes():
    report = conversion.verify(byte_spec(), spec_of_tokens([b"\xc3\xa9"]), texts=["\xe9"])
    assert report.first is not None
    assert report.first.rows[0].a == (Token(0xC3, "\\xc3"), Token(0xA9, "\\xa9"))
    assert len(BYTES) == 256
