"""Normalizers in tokenizer.json, in sidecars, in folders, and in formats that have none."""

from __future__ import annotations

import json

import pytest

import conversion
from conversion.equality import first_difference
from conversion.normalizers import read_normalizer, write_normalizer
from conversion.tokenizer_json import from_dict, to_dict
from hf_bpe import AddedToken, ConversionRefused, Encoder, FormatError
from hf_bpe.normalizers import Prepend, Replace
from hf_bpe.plugin import HfBpeTokenizer
from tests.normalizers.support import NAMES, library, spec_with

EVERYTHING = (*NAMES, Prepend("_"), Replace(r"\s+", " "))
TEXT = "e\u0301te\u0301 ﬁ \u1112\u1161\u11ab <s>É\u0958"
WITHOUT = {
    "tiktoken": "x.tiktoken",
    "tiktoken-plugin": "my_encoding",
    "gpt2": "pair",
    "vocab-merges": "pair",
    "tekken": "tekken.json",
    "minbpe": "x.model",
    "gguf": "x.gguf",
}


@pytest.mark.parametrize("step", EVERYTHING)
def test_a_step_there_and_back(step):
    spec = spec_with(step)
    assert first_difference(spec, from_dict(to_dict(spec), "x")) is None
    assert library(spec).encode(TEXT).ids == Encoder(spec).encode(TEXT)


@pytest.mark.parametrize(("pattern", "prefix"), [(None, True), ("gpt2", True), (None, False), ("qwen2", False)])
def test_the_prefix_space_there_and_back(pattern, prefix):
    spec = spec_with(pattern=pattern, add_prefix_space=prefix)
    assert first_difference(spec, from_dict(to_dict(spec), "x")) is None
    assert library(spec).encode(TEXT).ids == Encoder(spec).encode(TEXT)


def test_specs_that_normalise_otherwise_are_not_the_same():
    assert "'NFC' against 'NFD'" in str(first_difference(spec_with("NFC"), spec_with("NFD")))
    assert first_difference(spec_with(), spec_with(add_prefix_space=True)) == "add_prefix_space: False against True"


def test_a_prefix_space_has_no_place_beside_another_pattern():
    with pytest.raises(ConversionRefused, match="before every piece"):
        to_dict(spec_with(pattern="qwen2", add_prefix_space=True))


@pytest.mark.parametrize(
    ("data", "steps"),
    [
        (None, ()),
        ({"type": "Sequence", "normalizers": []}, ()),
        ({"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": [{"type": "NFC"}]}]}, ("NFC",)),
        ({"type": "Strip", "strip_left": False, "strip_right": False}, ()),
        ({"type": "Replace", "pattern": {"String": "a.|"}, "content": "b"}, (Replace(r"a\.\|", "b"),)),
        ({"type": "Replace", "pattern": {"Regex": r"\s{2,}+"}, "content": ""}, (Replace(r"(?:\s{2,})+", ""),)),
    ],
)
def test_what_files_hold_is_read(data, steps):
    assert read_normalizer(data, "$") == steps


@pytest.mark.parametrize(
    ("data", "error", "complaint"),
    [
        ({"type": "Nmt"}, ConversionRefused, r"\$.normalizer is Nmt: .* NFC, NFD"),
        ({"type": "ByteLevel"}, ConversionRefused, "is ByteLevel"),
        ({"type": "StripLeft"}, ConversionRefused, "is StripLeft"),
        ({"type": "Precompiled", "precompiled_charsmap": ""}, ConversionRefused, "is Precompiled"),
        (
            {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Nmt"}]},
            ConversionRefused,
            r"normalizers\[1\] is Nmt",
        ),
        ({"type": ["NFC"]}, ConversionRefused, "NFC"),
        ({"type": "Replace", "pattern": {"Regex": "a*"}, "content": ""}, ConversionRefused, "can match the empty string"),
        ({"type": "Replace", "pattern": {"String": ""}, "content": ""}, ConversionRefused, "can match the empty string"),
        ({"type": "Replace", "pattern": {}, "content": ""}, FormatError, r"pattern must be \{'String'"),
        ({"type": "Replace", "pattern": {"String": "a"}}, FormatError, "content is missing"),
        ({"type": "Prepend"}, FormatError, "prepend is missing"),
        ({"type": "Prepend", "prepend": 7}, FormatError, "prepend"),
        ({"type": "Strip"}, FormatError, "strip_left is missing"),
        ("NFC", FormatError, "must be an object or null, not a str"),
    ],
)
def test_others_are_refused_by_name(data, error, complaint):
    with pytest.raises(error, match=complaint):
        read_normalizer(data, "x: $.normalizer")


@pytest.mark.parametrize("name", WITHOUT)
def test_a_format_without_normalizers_leaves_them_to_callers_and_its_sidecar_carries_them(tmp_path, name):
    path = tmp_path / WITHOUT[name]
    spec = spec_with("NFKC", Prepend("_"), Replace(r"\s+", " "), "StripLeft", add_prefix_space=True)
    verdict = conversion.check(spec, name)
    assert verdict.kind == "conditional"
    assert any("text between added tokens is normalised before it is encoded (NFKC, " in c for c in verdict.conditions)
    with pytest.warns(UserWarning, match="only if every text between added tokens is normalised") as warned:
        conversion.save(spec, path, format=name)
    assert warned[0].filename == __file__
    assert first_difference(spec, conversion.load(path)) is None


@pytest.mark.parametrize("name", ["tokenizer.json", "huggingface"])
def test_a_format_with_normalizers_leaves_nothing_to_callers(name):
    assert conversion.check(spec_with("NFC", tokens=(AddedToken("tick", 300, normalized=True),)), name).kind == "exact"


@pytest.mark.parametrize("name", WITHOUT)
def test_a_token_looked_for_in_normalised_text_is_lost_where_callers_normalise(name):
    spec = spec_with("NFC", tokens=(AddedToken("<s>", spec_with().n_vocab, normalized=True),))
    verdict = conversion.check(spec, name)
    assert verdict.kind == "impossible" if name == "tekken" else "'<s>' is looked for in normalised text" in str(verdict.losses)


def test_a_sentencepiece_model_has_no_sidecar_to_carry_them(tmp_path):
    spec = spec_with("NFC", pattern=None)
    with pytest.raises(ConversionRefused, match="the normaliser is lost"):
        conversion.save(spec, tmp_path / "x.model")


def test_a_loss_is_measured_on_normalised_text(tmp_path):
    tokens = (AddedToken("<s>", 300, special=False),)
    with pytest.warns(UserWarning, match="is not exact"):
        conversion.save(spec_with("NFC", tokens=tokens), tmp_path / "x.tiktoken", allow_lossy=True)
    report = json.loads((tmp_path / "x.tiktoken.hf_bpe.verdict.json").read_text("utf-8"))
    assert report["loss"]["smallest"]["text"] == "<s>"


def test_tiktoken_itself_does_not_normalise():
    with pytest.raises(ConversionRefused, match="tiktoken has no normaliser"):
        conversion.to_tiktoken_encoding(spec_with("NFC"))


def test_a_sidecar_with_a_normalizer_that_is_not_known_is_refused(tmp_path):
    with pytest.warns(UserWarning, match="has no normaliser"):
        _, sidecar = conversion.save(spec_with("NFC"), tmp_path / "x.tiktoken")
    sidecar.write_text(sidecar.read_text().replace('"NFC"', '"Nmt"'))
    with pytest.raises(ConversionRefused, match=r"normalizer is Nmt"):
        conversion.load(tmp_path / "x.tiktoken")


def test_one_that_does_nothing_is_not_written():
    assert write_normalizer(()) is None
    assert write_normalizer(("NFC", "Strip")) == {
        "type": "Sequence",
        "normalizers": [{"type": "NFC"}, {"type": "Strip", "strip_left": True, "strip_right": True}],
    }


@pytest.mark.parametrize(("steps", "prefix"), [(("NFC",), False), (("NFKC",), False), ((), True)])
def test_a_folder_gives_the_ids_of_stock_transformers(tmp_path, steps, prefix):
    from transformers import PreTrainedTokenizerFast

    spec = spec_with(*steps, add_prefix_space=prefix)
    HfBpeTokenizer.from_spec(spec).save_pretrained(tmp_path)
    ours, stock = (kind.from_pretrained(tmp_path) for kind in (HfBpeTokenizer, PreTrainedTokenizerFast))
    assert ours.spec.normalizer == steps
    assert json.loads((tmp_path / "tokenizer.json").read_text())["normalizer"] == write_normalizer(steps)
    for tokenizer in (ours, stock):
        tokenizer.add_tokens(["été", "<new>"])
    for text in (TEXT, "", "  \xa0x", "été été ete\u0301", "a<new>b <new> é"):
        assert ours(text)["input_ids"] == stock(text)["input_ids"], text
        assert ours.tokenize(text) == stock.tokenize(text), text
    words = ["e\u0301te\u0301", "ﬁ", "x"]
    assert ours(words, is_split_into_words=True)["input_ids"] == stock(words, is_split_into_words=True)["input_ids"]
