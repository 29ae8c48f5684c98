"""`register(accelerate=True)`: our class for every tokenizer that it runs exactly, the stock one for the rest, the same ids always."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from transformers import AutoTokenizer

import hf_bpe
from conversion.nasty_strings import nasty_strings
from hf_bpe.plugin import HfBpeTokenizer
from hf_bpe.plugin.acceleration import accelerated
from tests.plugin.samples import CHAT_TEMPLATE, TEXTS
from tests.plugin.test_plugin_registration import run

MANY_TEXTS = [*TEXTS, *nasty_strings(["<|end|>", "<mask>"])]


@pytest.fixture
def on() -> Iterator[None]:
    hf_bpe.register(accelerate=True)
    yield
    hf_bpe.register(accelerate=False)


def stock_folder(example: Any, folder: Path, model_type: str | None, **config: Any) -> Path:
    example.stock.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    found = {key: value for key, value in json.loads(path.read_text()).items() if key != "hf_bpe"}
    path.write_text(json.dumps(found | config))
    if model_type:
        (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    return folder


@pytest.mark.parametrize(
    ("model_type", "name"),
    [
        (None, "PreTrainedTokenizerFast"),
        ("llama", "PreTrainedTokenizerFast"),
        ("llama", "LlamaTokenizerFast"),  # byte-level under that name: Llama 3 of old
        ("gpt2", "GPT2Tokenizer"),
        ("phi3", "LlamaTokenizerFast"),
        ("modernbert", "PreTrainedTokenizerFast"),
    ],
)
def test_stock_folders_give_our_class_and_the_stock_ids(
    model_type: str | None, name: str, example: Any, tmp_path: Path, on: None
) -> None:
    folder = stock_folder(example, tmp_path, model_type, tokenizer_class=name, padding_side="left", chat_template=CHAT_TEMPLATE)
    hf_bpe.register(accelerate=False)
    stock = AutoTokenizer.from_pretrained(folder)
    hf_bpe.register(accelerate=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = AutoTokenizer.from_pretrained(folder)
    assert (type(ours), type(stock).__module__[:13]) == (HfBpeTokenizer, "transformers.")
    batch = {"padding": True, "truncation": True, "max_length": 20}
    assert dict(ours(MANY_TEXTS, **batch)) == dict(stock(MANY_TEXTS, **batch))
    assert ours.batch_decode(ours(MANY_TEXTS)["input_ids"]) == stock.batch_decode(stock(MANY_TEXTS)["input_ids"])
    for attribute in ("special_tokens_map", "all_special_ids", "chat_template", "padding_side", "model_max_length", "model_input_names",
                      "name_or_path"):  # fmt: skip
        assert getattr(ours, attribute) == getattr(stock, attribute), attribute
    ours.save_pretrained(tmp_path / "again")
    assert HfBpeTokenizer.from_pretrained(tmp_path / "again")(TEXTS)["input_ids"] == stock(TEXTS)["input_ids"]


def test_where_transformers_rebuilds_the_tokenizer_the_ids_are_what_it_makes_of_it(
    example: Any, tmp_path: Path, on: None
) -> None:
    folder = stock_folder(example, tmp_path, "qwen2", tokenizer_class="Qwen2Tokenizer")
    found = AutoTokenizer.from_pretrained(folder)
    hf_bpe.register(accelerate=False)
    stock = AutoTokenizer.from_pretrained(folder)
    assert type(stock).__name__ == "Qwen2Tokenizer"
    assert found(MANY_TEXTS)["input_ids"] == stock(MANY_TEXTS)["input_ids"]
    assert found(MANY_TEXTS)["input_ids"] != example.ours(MANY_TEXTS)["input_ids"]


def test_what_we_cannot_run_stays_stock_without_a_word(tmp_path: Path, on: None) -> None:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    words.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert type(loaded).__module__.startswith("transformers.")
    assert loaded.encode("a") == [0]


def test_tokenizers_with_methods_of_their_own_and_slow_ones_stay_as_they_are(example: Any) -> None:
    class WithMethod(type(example.stock)):  # type: ignore[misc]
        def translate(self) -> str:
            return "to another language"

    class WithNone(type(example.stock)):  # type: ignore[misc]
        pass

    path = str(example.folder / "tokenizer.json")
    with_method, with_none = WithMethod(tokenizer_file=path), WithNone(tokenizer_file=path)
    assert accelerated(with_method) is with_method
    assert type(accelerated(with_none)) is HfBpeTokenizer
    assert accelerated(example.ours) is example.ours


def test_it_is_off_unless_asked_for_and_can_be_turned_off(example: Any, tmp_path: Path) -> None:
    folder = stock_folder(example, tmp_path, None)
    before = vars(AutoTokenizer)["from_pretrained"]
    for wanted, expected in ((None, "TokenizersBackend"), (True, "HfBpeTokenizer"), (True, "HfBpeTokenizer")):
        hf_bpe.register(accelerate=wanted)
        assert type(AutoTokenizer.from_pretrained(folder)).__name__ == expected
    hf_bpe.register(accelerate=False)
    assert vars(AutoTokenizer)["from_pretrained"] is before


def test_an_environment_variable_turns_it_on(example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stock_folder(example, tmp_path, None)
    code = f"""
import hf_bpe, json
from transformers import AutoTokenizer
print(json.dumps(type(AutoTokenizer.from_pretrained({str(folder)!r})).__name__))
"""
    monkeypatch.setitem(os.environ, "HF_BPE_ACCELERATE", "1")
    assert run(code) == "HfBpeTokenizer"
