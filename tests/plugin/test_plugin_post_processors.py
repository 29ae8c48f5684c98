"""The post-processors of BERT and RoBERTa put the same tokens, types and offsets around texts as `tokenizers` does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from transformers import PreTrainedTokenizerFast

from hf_bpe import ConversionRefused, FormatError, HfBpeTokenizer
from tests.plugin.samples import CORPUS

PAIRS = [("hello world", None), ("", None), ("  two  spaces ", " a b"), ("hello", ""), ("don't", "x" * 40), ("\n é", " é\n")]
CALLS: list[dict[str, Any]] = [
    {},
    {"add_special_tokens": False},
    {"truncation": True, "max_length": 9, "stride": 1, "return_overflowing_tokens": True},
    {"padding": "max_length", "max_length": 40},
]


def folder_with(path: Path, post_processor: dict[str, Any], *, prefix: bool = False) -> Path:
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(ignore_merges=False))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    backend.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>", "<pad>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(CORPUS, trainer)
    document = {**json.loads(backend.to_str()), "post_processor": post_processor}
    (path / "tokenizer.json").write_text(json.dumps(document))
    stock = PreTrainedTokenizerFast(
        tokenizer_file=str(path / "tokenizer.json"), bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    stock.save_pretrained(path)
    return path


@pytest.mark.parametrize("kind", ["BertProcessing", "RobertaProcessing"])
@pytest.mark.parametrize("flags", [(True, True), (True, False), (False, True), (False, False)])
def test_tokens_types_and_offsets_are_the_same(kind: str, flags: tuple[bool, bool], tmp_path: Path) -> None:
    described: dict[str, Any] = {"type": kind, "cls": ["<s>", 0], "sep": ["</s>", 2]}
    if kind == "RobertaProcessing":
        described |= {"trim_offsets": flags[0], "add_prefix_space": flags[1]}
    folder = folder_with(tmp_path, described, prefix=flags[1])
    ours, stock = HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)
    everything = dict.fromkeys(("return_offsets_mapping", "return_token_type_ids", "return_special_tokens_mask"), True)
    for text, second in PAIRS:
        for call in CALLS:
            found, expected = (each(text, second, **everything, **call) for each in (ours, stock))
            assert dict(found) == dict(expected), (text, second, call)
            assert found.sequence_ids(0) == expected.sequence_ids(0)
            assert found.word_ids(0) == expected.word_ids(0)
    ours.save_pretrained(tmp_path / "again")
    again = PreTrainedTokenizerFast.from_pretrained(tmp_path / "again")
    assert dict(again(*PAIRS[2], **everything)) == dict(stock(*PAIRS[2], **everything))


def test_retraining_moves_the_tokens_to_their_new_ids(tmp_path: Path) -> None:
    described = {
        "type": "RobertaProcessing",
        "cls": ["<s>", 0],
        "sep": ["</s>", 2],
        "trim_offsets": True,
        "add_prefix_space": False,
    }
    trained = HfBpeTokenizer.from_pretrained(folder_with(tmp_path, described)).train_new_from_iterator(CORPUS, 300)
    ids = trained("hello")["input_ids"]
    assert (ids[0], ids[-1]) == (trained.convert_tokens_to_ids("<s>"), trained.convert_tokens_to_ids("</s>"))
    assert trained.as_stock()("hello")["input_ids"] == ids


def test_damaged_and_unknown_ones_are_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, {"type": "BertProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2]})
    document = json.loads((folder / "tokenizer.json").read_text())
    for damaged in (
        {"type": "BertProcessing", "cls": ["<s>", 0]},
        {"type": "RobertaProcessing", "cls": 1, "sep": ["</s>", "2"]},
    ):
        (folder / "tokenizer.json").write_text(json.dumps({**document, "post_processor": damaged}))
        with pytest.raises(FormatError, match=f"the {damaged['type']} post_processor is not well formed"):
            HfBpeTokenizer.from_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps({**document, "post_processor": {"type": "Other"}}))
    with pytest.raises(ConversionRefused, match="BertProcessing, RobertaProcessing can be run"):
        HfBpeTokenizer.from_pretrained(folder)
