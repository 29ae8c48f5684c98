"""What `save_pretrained` writes is clean, and what stock transformers does with other folders is what the lints say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from conversion.sentencepiece.model import parse_model
from hf_bpe import TokenizerSpec
from hf_bpe.doctor import examine
from hf_bpe.doctor.rebuilding import rebuilding_class
from hf_bpe.plugin import HfBpeTokenizer
from tests.doctor.folders import sound, write
from tests.plugin.samples import NAMES
from tests.support.pieces import trained

TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}"


def codes(folder: Path) -> list[str]:
    return [finding.code for finding in examine(folder)]


@pytest.mark.parametrize(
    "settings",
    [{}, NAMES, {**NAMES, "add_bos_token": True}, {**NAMES, "model_max_length": 64}],
    ids=["plain", "roles", "bos", "length"],
)
def test_saved_folders_are_clean(settings: dict[str, Any], spec: TokenizerSpec, tmp_path: Path) -> None:
    HfBpeTokenizer.from_spec(spec, **settings).save_pretrained(tmp_path)
    assert codes(tmp_path) == []


def test_a_saved_sentencepiece_model_is_clean(tmp_path: Path) -> None:
    HfBpeTokenizer.from_spec(parse_model(trained("identity"), "a.model")).save_pretrained(tmp_path)
    assert codes(tmp_path) == []


def test_a_saved_chat_template_is_clean_in_the_configuration_and_a_hint_in_a_file(spec: TokenizerSpec, tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_spec(spec, chat_template=TEMPLATE, **NAMES)
    tokenizer.save_pretrained(tmp_path / "file")
    tokenizer.save_pretrained(tmp_path / "config", save_jinja_files=False)
    assert codes(tmp_path / "file") == ["template-in-file-only"]
    assert codes(tmp_path / "config") == []


@pytest.mark.parametrize(
    ("named", "model_type"),
    [
        ("PreTrainedTokenizerFast", "qwen2"),
        ("PreTrainedTokenizerFast", "qwen3"),
        ("PreTrainedTokenizerFast", "qwen3_5"),
        ("PreTrainedTokenizerFast", "gpt2"),
        ("PreTrainedTokenizerFast", None),
        ("GPT2Tokenizer", "llama"),
        ("GPT2TokenizerFast", None),
        ("Qwen2Tokenizer", "qwen3"),
        ("CohereTokenizer", None),
        ("GPTNeoXTokenizerFast", None),
        ("RobertaTokenizer", None),
        (None, "qwen3"),
        (None, "cohere"),
        (None, "gpt_neox"),
        (None, None),
    ],
)
def test_stock_transformers_rebuilds_what_is_said_to_be_rebuilt(
    named: str | None, model_type: str | None, tmp_path: Path
) -> None:
    files = sound()
    files["config.json"] = {} if model_type is None else {"model_type": model_type}
    files["tokenizer_config.json"] = {} if named is None else {"tokenizer_class": named}
    write(tmp_path, files)
    stock = AutoTokenizer.from_pretrained(tmp_path)
    kept = "\\\\s?\\\\S+|\\\\s+" in stock.backend_tokenizer.to_str()
    found = rebuilding_class(files["tokenizer.json"], named, model_type)
    assert (found is None) == kept
    assert found is None or found[0] == type(stock).__name__
