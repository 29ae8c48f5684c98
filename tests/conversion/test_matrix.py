"""Every ordered pair of formats: exact there and back, or refused with the smallest counterexample.

A pair goes through a spec, so its cell is what the source can hold, written to the target. The first half of this file runs
every pair with a tokenizer that all byte-level formats can hold, and with a SentencePiece model. The second half runs published
vocabularies to every format, and what is refused on the way with the smallest tokenizer that shows why. Each format's own test
file compares its ids with those of the library it belongs to.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

import conversion
from conversion.equality import first_difference
from conversion.format import Given
from conversion.loss import measure
from conversion.registry import FORMATS, format_for_reading
from conversion.sentencepiece.model import reserved_tokens
from conversion.verdict import Checks
from conversion.verification.loaders import OFFICIAL, load_side
from conversion.verification.side import AS_TEXT
from hf_bpe import NAMED_PATTERNS, AddedToken, ConversionRefused, Encoder, FormatError, Piece, SentencePieceRules, TokenizerSpec
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

# Of what every byte-level format holds; what the condition is, `docs/formats.md` says.
VERDICT = dict.fromkeys(BYTE_LEVEL, "exact") | dict.fromkeys(("tiktoken", "minbpe", "gguf"), "conditional")


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
    """A tokenizer in a format, and where it is."""
    path = folder / PATH[name]
    conversion.save(spec, path, format=name, **options)
    return path


# llama.cpp and minbpe are no Python libraries: what stands for them is in the tests of their formats.
LIBRARIES = dict.fromkeys(PATH, (OFFICIAL,)) | dict.fromkeys(("gguf", "minbpe"), ()) | {"huggingface": ("stock", "fast")}
TEXTS = ("bca ab caab", "  two spaces, tab\t\r\n", "don't 123 naïve 안녕 你好 \u00a0👩‍👩‍👧", "<s>", "")


def assert_run_alike(path, name, spec):
    """The libraries that a format belongs to give the ids of the spec: our own reader may share a mistake with the writer."""
    for loader in LIBRARIES[name]:
        side = load_side(path, loader, Given())
        assert side.engine != "hf_bpe"
        assert [list(ids) for ids in side.readings[AS_TEXT](TEXTS)] == Encoder(spec).encode_ordinary_batch(TEXTS), loader


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
    assert_run_alike(back, target, plain())
    assert conversion.check(conversion.load(there), target).kind == VERDICT[target]


@pytest.mark.parametrize("target", PIECES)
@pytest.mark.parametrize("source", BYTE_LEVEL)
def test_byte_level_formats_lead_to_sentencepiece_where_there_is_no_pattern(tmp_path, source, target):
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
        assert conversion.check(found, target).kind == "impossible"
        return
    assert conversion.check(found, target).kind == ("conditional" if target == "tiktoken" else "exact")
    back = write(found, tmp_path / "back", target)
    assert first_difference(conversion.load(back), pieces()) is None
    if target != "tiktoken":  # tiktoken cannot run the table of ids beside it
        assert_run_alike(back, target, pieces())


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
LETTER_AND_MARK = ["श".encode()[:2], "श".encode(), "ी".encode()[:2], "ी".encode(), "शी".encode()]
OTHER_PATTERN = spec_of_tokens(LETTER_AND_MARK, pattern=NAMED_PATTERNS["o200k"].pattern)
OVERLAPPING = byte_spec("gpt2", added_tokens=(AddedToken("<a>", 300), AddedToken("<a><b>", 301)))
GAP = TokenizerSpec(BYTES | {b"ab": 300}, ((b"a", b"b"),), pattern=NAMED_PATTERNS["gpt2"].pattern)
PATTERN_SPLITS = spec_of_tokens([b"1a"], pattern=NAMED_PATTERNS["gpt2"].pattern)
IN_STAGES = spec_of_tokens([b"11", b"1111"], pattern=NAMED_PATTERNS["gpt2"].pattern, stages=("[0-9]{3}",))
"""The text "1111" is one piece of the pattern, and two of the stage behind it."""
IN_TWO_PASSES = byte_spec("gpt2", added_tokens=(AddedToken("ab", 256, normalized=True), AddedToken("bc", 257)))
"""The text "abc" is a|bc, as what is not `normalized` is looked for first; leftmost first it would be ab|c."""

NEVER = None
"""There is no such file, not even a lossy one."""
REFUSED: dict[str, tuple[TokenizerSpec, dict[str, str | None]]] = {  # target -> the smallest text that gets other ids
    "merges against the order of ids": (
        OUT_OF_ORDER,
        {"tiktoken": "abc", "tiktoken-plugin": "abc", "tekken": "abc", "minbpe": NEVER},
    ),
    "whole pieces looked up": (UNREACHABLE, {"gpt2": "abcd", "vocab-merges": "abcd", "minbpe": NEVER, "gguf": NEVER}),
    "a special token after the others": (SPECIAL_LAST, {"tekken": NEVER}),
    "an added token that is always matched": (
        ALWAYS_MATCHED,
        {"tiktoken": "<s>", "tiktoken-plugin": "<s>", "tekken": NEVER, "minbpe": "<s>"},
    ),
    "bytes in another order": (BYTES_SWAPPED, {"tekken": NEVER, "minbpe": NEVER}),
    "a pattern that llama.cpp approximates": (OTHER_PATTERN, {"gguf": "शी"}),
    "a special token that begins another": (
        OVERLAPPING,
        {"tiktoken": "<a><b>", "tiktoken-plugin": "<a><b>", "tekken": NEVER},
    ),
    "an id that is not in use": (GAP, {"tekken": NEVER, "minbpe": NEVER}),
    "stages": (IN_STAGES, dict.fromkeys(("tiktoken", "tiktoken-plugin", "tekken", "minbpe", "gguf"), "1111")),
    "added tokens that are looked for one after the other": (
        IN_TWO_PASSES,
        {"tiktoken": "abc", "tiktoken-plugin": "abc", "tekken": NEVER, "minbpe": "abc", "gguf": "abc"},
    ),
    "a pattern where nothing may be split": (PATTERN_SPLITS, {"sentencepiece": "1a", "sentencepiece-vocab": "1a"}),
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
        assert conversion.check(spec, target).kind in ("exact", "conditional")
        assert first_difference(conversion.load(write(spec, tmp_path, target)), spec) is None


@pytest.mark.parametrize(("why", "target"), [(why, target) for why, (_, refusing) in REFUSED.items() for target in refusing])
def test_the_verdict_says_what_is_lost_with_the_smallest_text_that_shows_it(tmp_path, why, target):
    spec, refusing = REFUSED[why]
    path = tmp_path / PATH[target]
    if refusing[target] is NEVER:
        assert conversion.check(spec, target).kind == "impossible"
        with pytest.raises(ConversionRefused):
            conversion.convert(spec, path, format=target, allow_lossy=True)
        return
    verdict = conversion.convert(spec, path, format=target, allow_lossy=True).verdict
    assert verdict.kind == "lossy"
    assert verdict.loss is not None
    assert verdict.loss.smallest is not None
    assert verdict.loss.smallest.text == refusing[target]
    assert verdict.loss.smallest.source_ids != verdict.loss.smallest.target_ids
    if target not in PIECES:
        assert first_difference(conversion.load(path), spec) is None, "the sidecar says what the file cannot"
    report = next(tmp_path.rglob("*hf_bpe.verdict.json"))
    assert json.loads(report.read_text("utf-8"))["losses"] == list(verdict.losses)


@pytest.mark.parametrize("target", [name for name in PATH if name != "huggingface"])
def test_what_is_measured_of_an_exact_conversion_is_nothing(tmp_path, target):
    """What stands for the target's library gives our ids where nothing is lost, so that a loss is no fault of the stand-in."""
    if target in PIECES:
        spec = plain().replace(pattern=None)
    else:
        spec = plain().replace(added_tokens=()) if target == "tekken" else plain()
    chosen = FORMATS[target]
    checks = Checks()
    held = chosen.converted(spec, checks) if chosen.converted else spec
    contents = chosen.write(held, PATH[target], checks)
    assert checks.losses == []
    loss = measure(spec, chosen.as_run(held, contents, PATH[target]))
    assert (loss.builtin.differing, loss.smallest) == (0, None)


# -- what is refused on reading ---------------------------------------------------------------------------------------

SPOKEN = {"tiktoken", "gpt2", "vocab-merges", "gguf"}
"""Formats whose special tokens the caller may say."""


@pytest.mark.parametrize("source", [name for name in BYTE_LEVEL if name not in ("tiktoken-plugin", "huggingface")])
def test_a_text_of_two_ids_is_refused_by_name(tmp_path, source):
    path = write(plain(), tmp_path, source)
    given = {"special_tokens": {" ab": 999}} if source in SPOKEN else {}
    if source == "tokenizer.json":
        added = {"id": 261, "content": " ab", "special": True}
        data = json.loads(path.read_text("utf-8"))
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        path.write_text(json.dumps(data | {"added_tokens": [added | flags]}), "utf-8")
    if source == "tekken":
        data = json.loads(path.read_text("utf-8"))
        data["config"] |= {"default_num_special_tokens": 1, "default_vocab_size": data["config"]["default_vocab_size"] + 1}
        data["special_tokens"] = [{"rank": 0, "token_str": " ab", "is_control": True}]
        path.write_text(json.dumps(data), "utf-8")
    if source == "minbpe":
        lines = path.read_text("utf-8").split("\n")
        path.write_text("\n".join([*lines[:2], "1", "ab 999", *lines[3:]]), "utf-8")
    two_ids = r"added token ' ?ab' has id \d+, but the same text has id \d+ in vocab, .* two ids|the same text, has id \d+; a text with two ids"
    with pytest.raises((FormatError, ConversionRefused), match=two_ids):
        conversion.load(path, **given)
