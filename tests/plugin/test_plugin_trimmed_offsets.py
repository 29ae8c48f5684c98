"""Offsets that leave out the spaces around tokens, as a post-processor with `trim_offsets` asks for, in whole texts, windows and words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from hf_bpe.plugin import HfBpeTokenizer
from tests.plugin.samples import make_spec

TEXTS = ["  Hello world", " a  b\t\nc <t> ", "größer <t>  안녕 x", "", "Hello"]


@pytest.mark.parametrize("prefix", [True, False])
def test_trimmed_offsets_are_those_of_stock(tmp_path: Path, prefix: bool) -> None:
    tokenizer = HfBpeTokenizer.from_spec(make_spec(), pad_token="<|pad|>")
    tokenizer.add_tokens(["<t>"])
    tokenizer.save_pretrained(tmp_path)
    file = tmp_path / "tokenizer.json"
    content = json.loads(file.read_text("utf-8"))
    content["post_processor"] = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": True}
    file.write_text(json.dumps(content), "utf-8")
    ours, stock = HfBpeTokenizer.from_pretrained(tmp_path), PreTrainedTokenizerFast.from_pretrained(tmp_path)
    windows = {"truncation": True, "max_length": 3, "stride": 1, "return_overflowing_tokens": True}
    calls: list[tuple[Any, dict[str, Any]]] = [
        (TEXTS, {}),
        (TEXTS, windows),
        (TEXTS, {"padding": True, "padding_side": "left"}),
        ([text.split(" ") for text in TEXTS], {"is_split_into_words": True}),
        ([text.split(" ") for text in TEXTS], {"is_split_into_words": True, **windows}),
    ]
    for texts, options in calls:
        found, expected = (dict(t(texts, return_offsets_mapping=True, **options)) for t in (ours, stock))
        assert found == expected


BERT = {"type": "BertProcessing", "cls": ["<|endoftext|>", 0], "sep": ["<|endoftext|>", 0]}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"Sequence": {"id": "B", "type_id": 1}},
    ],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
}


def trimming(prefix: bool) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": True}


def roberta(trims: bool, prefix: bool) -> dict[str, Any]:
    return {**BERT, "type": "RobertaProcessing", "trim_offsets": trims, "add_prefix_space": prefix}


SEQUENCES = {
    "BERT's tokens stand first": [BERT, trimming(True)],
    "BERT's tokens come later": [trimming(True), BERT],
    "a template stands first": [TEMPLATE, trimming(True)],
    "a template comes later": [trimming(True), TEMPLATE],
    "RoBERTa leaves it to the other": [roberta(False, True), trimming(True)],
    "only one of two trims": [{**trimming(True), "trim_offsets": False}, roberta(True, False)],
    "both trim": [roberta(True, True), trimming(True)],
    "both trim, one knows of prefixes": [roberta(True, False), trimming(True)],
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_post_processors_trim_one_after_the_other_as_in_stock(name: str, tmp_path: Path) -> None:
    HfBpeTokenizer.from_spec(make_spec(), pad_token="<|pad|>").save_pretrained(tmp_path)
    file = tmp_path / "tokenizer.json"
    content = json.loads(file.read_text("utf-8"))
    content["post_processor"] = {"type": "Sequence", "processors": SEQUENCES[name]}
    file.write_text(json.dumps(content), "utf-8")
    ours, stock = HfBpeTokenizer.from_pretrained(tmp_path), PreTrainedTokenizerFast.from_pretrained(tmp_path)
    texts = [" hello the world  two  a b c d", "  the  ", ""]
    windows = {"truncation": True, "max_length": 6, "return_overflowing_tokens": True}
    everything = {"return_offsets_mapping": True, "return_special_tokens_mask": True}
    for options in ({}, windows, {"truncation": True, "max_length": 5}):
        for special in (True, False):
            for arguments in ((texts[0],), (texts,), (texts[0], texts[1]), (texts, texts[::-1])):
                found, expected = (t(*arguments, add_special_tokens=special, **everything, **options) for t in (ours, stock))
                assert dict(found) == dict(expected), (arguments, options, special)
                assert found.encodings[0].offsets == expected.encodings[0].offsets
