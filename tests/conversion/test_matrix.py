"""Every ordered pair of formats: exact there and back, or refused with the smallest counterexample.

A pair goes through a spec, so its cell is what the source can hold, written to the target. The first half of this file runs
every pair with a tokenizer that all byte-level formats can hold, and with a SentencePiece model. The second half runs published
vocabularies to every format, and what is refused on the way with the smallest tokenizer that shows why. Each format's own test
file compares its ids with those of the library it belongs to.
"""

from __future__ import annotations

from functools import cache

import pytest

import conversion
from conversion.equality import first_difference
from conversion.registry import FORMATS, format_for_reading
from conversion.sentencepiece.model import reserved_tokens
from hf_bpe import NAMED_PATTERNS, AddedToken, ConversionRefused, Piece, SentencePieceRules, TokenizerSpec
from hf_bpe.pieces import byte_piece
from tests.conversion.support import spec_of_tokens, spec_with_unreachable_token
from tests.support.pieces import PACKAGED
from tests.support.vocabularies import BYTES, TEKKEN_FILE, byte_spec, cl100k_spec, gpt2_spec

PATH = {
    "tiktoken": "x.tiktoken",
    "tiktoken-plugin": "my_encoding",
    "gpt2": "pair",
    "vocab-merges": "pair",
    "tokenizer.json": "tokenizer.json",
    "huggingface": "folder",
    "tekken": "tekken.json",
    "minbpe": "x.model",
    "gguf": "x.gguf",
    "sentencepiece": "x.model",
    "sentencepiece-vocab": "x.vocab",
}
PIECES = ("sentencepiece", "sentencepiece-vocab")
BYTE_LEVEL = [name for name in PATH if name not in PIECES]
HOLDS_PIECES = (*PIECES, "tokenizer.json", "huggingface", "gguf", "tiktoken")


def plain() -> TokenizerSpec:
    """What every byte-level format holds: bytes in order, then tokens of tokens before, GPT-2's pattern, no special tokens."""
    return spec_of_tokens([b"ab", b"ca", b"bca", b" ab", b"\xe4\xb8"], pattern=NAMED_PATTERNS["gpt2"].pattern)


def pieces() -> TokenizerSpec:
    """What every format of SentencePiece models holds."""
    reserved = [Piece("<unk>", 0.0, "unknown"), Piece("<s>", 0.0, "control")]
    bytes_ = [Piece(byte_piece(byte), 0.0, "byte") for byte in range(256)]
    normal = [Piece(content, -float(n)) for n, content in enumerate(["\u2581a", "ab", "a", "b", "\u2581", "é"])]
    rules = SentencePieceRules((*reserved, *bytes_, *normal), byte_fallback=True, remove_extra_whitespaces=False)
    return TokenizerSpec.from_sentencepiece(rules, added_tokens=reserved_tokens(rules))


def write(spec, folder, name, **options):
    """A tokenizer in a format, and where it is. A Hugging Face folder is one with a tokenizer.json here."""
    path = folder / PATH[name]
    if name == "huggingface":
        conversion.save(spec, path / "tokenizer.json", **options)
    else:
        conversion.save(spec, path, format=name, **options)
    return path


def test_every_format_is_in_the_matrix():
    assert set(PATH) == set(FORMATS) == set(conversion.formats())


# -- every pair -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", BYTE_LEVEL)
@pytest.mark.parametrize("source", BYTE_LEVEL)
def test_byte_level_formats_lead_to_each_other(tmp_path, source, target):
    there = write(plain(), tmp_path / "there", source)
    back = write(conversion.load(there), tmp_path / "back", target)
    assert format_for_reading(there).name == source
    assert format_for_reading(back).name == target
    assert conversion.load(back) == plain()


@pytest.mark.parametrize("target", PIECES)
@pytest.mark.parametrize("source", BYTE_LEVEL)
def test_byte_level_formats_lead_to_sentencepiece_where_there_is_no_pattern(tmp_path, source, target):
    """With one, the smallest counterexample is "a b": SentencePiece merges over the space."""
    split = write(plain(), tmp_path / "split", source)
    with pytest.raises(ConversionRefused, match="it splits text by a pattern"):
        write(conversion.load(split), tmp_path / "refused", target)
    assert not (tmp_path / "refused").exists()
    if source == "gguf":  # no pre-tokenizer of llama.cpp leaves text whole, so there is no such file
        with pytest.raises(ConversionRefused, match="none is 'none'"):
            write(plain().replace(pattern=None), tmp_path / "whole", source)
        return
    whole = write(plain().replace(pattern=None), tmp_path / "whole", source)
    written = write(conversion.load(whole), tmp_path / "written", target)
    assert conversion.load(written).dialect == "sentencepiece"


@pytest.mark.parametrize("target", PATH)
@pytest.mark.parametrize("source", HOLDS_PIECES)
def test_sentencepiece_models_lead_where_pieces_are_held(tmp_path, source, target):
    there = write(pieces(), tmp_path / "there", source)
    found = conversion.load(there)
    assert first_difference(found, pieces()) is None
    if target not in HOLDS_PIECES:
        with pytest.raises(ConversionRefused, match="this is a SentencePiece model"):
            write(found, tmp_path / "refused", target)
        assert not (tmp_path / "refused").exists()
        return
    assert first_difference(conversion.load(write(found, tmp_path / "back", target)), pieces()) is None


@pytest.mark.parametrize("target", HOLDS_PIECES)
def test_a_published_model_leads_where_pieces_are_held(tmp_path, target):
    spec = conversion.load(PACKAGED["mistral v1"])
    assert first_difference(conversion.load(write(spec, tmp_path, target)), spec) is None


# -- published vocabularies -------------------------------------------------------------------------------------------

IDS = "the ids? .*cannot be kept|ids cannot be kept|from 0 to"
PUBLISHED = {
    "gpt2": {"tekken": IDS, "minbpe": IDS},
    "cl100k": {"tekken": IDS, "minbpe": IDS},
    "tekken": {"minbpe": IDS, "gguf": "is not this pattern exactly"},
}


@cache
def published(name: str) -> TokenizerSpec:
    makers = {"gpt2": gpt2_spec, "cl100k": cl100k_spec, "tekken": lambda: conversion.load(TEKKEN_FILE)}
    return makers[name]()


@pytest.mark.parametrize("target", BYTE_LEVEL)
@pytest.mark.parametrize("vocabulary", PUBLISHED)
def test_published_vocabularies_are_exact_or_refused(tmp_path, vocabulary, target):
    spec = published(vocabulary)
    reason = PUBLISHED[vocabulary].get(target)
    if reason is None:
        found = conversion.load(write(spec, tmp_path, target))
        assert first_difference(found, spec) is None
        assert found.special_tokens == spec.special_tokens
    else:
        with pytest.raises(ConversionRefused, match=reason):
            write(spec, tmp_path / "refused", target)
        assert not (tmp_path / "refused").exists()


# -- the smallest that is refused -------------------------------------------------------------------------------------

OUT_OF_ORDER = TokenizerSpec(
    BYTES | {b"ab": 256, b"bc": 257}, ((b"b", b"c"), (b"a", b"b")), pattern=NAMED_PATTERNS["gpt2"].pattern
)
"""Merged by pairs "abc" is a|bc, by ranks ab|c."""
UNREACHABLE = spec_with_unreachable_token().replace(pattern=NAMED_PATTERNS["gpt2"].pattern)
"""The text "abcd" is one token where whole pieces are looked up, else a|bc|d."""
SPECIAL_LAST = byte_spec("gpt2", added_tokens=(AddedToken("<s>", 256),))
ALWAYS_MATCHED = byte_spec("gpt2", added_tokens=(AddedToken("<s>", 0 + 256, special=False),))
BYTES_SWAPPED = TokenizerSpec({t: i ^ 1 for t, i in BYTES.items()}, (), pattern=NAMED_PATTERNS["gpt2"].pattern)
OTHER_PATTERN = byte_spec("o200k")
OVERLAPPING = byte_spec("gpt2", added_tokens=(AddedToken("<a>", 300), AddedToken("<a><b>", 301)))
GAP = TokenizerSpec(BYTES | {b"ab": 300}, ((b"a", b"b"),), pattern=NAMED_PATTERNS["gpt2"].pattern)

REFUSED = {
    "merges against the order of ids": (OUT_OF_ORDER, {"tiktoken", "tiktoken-plugin", "tekken", "minbpe"}),
    "whole pieces looked up": (UNREACHABLE, {"gpt2", "vocab-merges", "minbpe", "gguf"}),
    "a special token after the others": (SPECIAL_LAST, {"tekken"}),
    "an added token that is always matched": (ALWAYS_MATCHED, {"tiktoken", "tiktoken-plugin", "tekken", "minbpe"}),
    "bytes in another order": (BYTES_SWAPPED, {"tekken", "minbpe"}),
    "a pattern that llama.cpp approximates": (OTHER_PATTERN, {"gguf"}),
    "a special token that begins another": (OVERLAPPING, {"tiktoken", "tiktoken-plugin", "tekken"}),
    "an id that is not in use": (GAP, {"tekken", "minbpe"}),
}


@pytest.mark.parametrize("target", BYTE_LEVEL)
@pytest.mark.parametrize("why", REFUSED)
def test_the_smallest_tokenizer_that_a_format_does_not_hold_is_refused(tmp_path, why, target):
    spec, refusing = REFUSED[why]
    if target in refusing:
        with pytest.raises(ConversionRefused):
            write(spec, tmp_path / "refused", target)
        assert not (tmp_path / "refused").exists()
    else:
        assert first_difference(conversion.load(write(spec, tmp_path, target)), spec) is None
