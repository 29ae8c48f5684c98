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
