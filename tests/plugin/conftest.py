from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported: no test may touch the network

import pytest
from transformers import PreTrainedTokenizerFast

from hf_bpe import TokenizerSpec
from hf_bpe.plugin import HfBpeTokenizer
from tests.plugin.samples import CHAT_TEMPLATE, NAMES, make_spec


@dataclass(frozen=True)
class Saved:
    """One folder, loaded by this package and by stock transformers."""

    folder: Path
    ours: Any
    stock: Any


def save_and_load_both(tokenizer: Any, folder: Path) -> Saved:
    tokenizer.save_pretrained(folder)
    return Saved(folder, HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder))


@pytest.fixture(scope="session")
def spec() -> TokenizerSpec:
    return make_spec()


def save_example(kind: str, spec: TokenizerSpec, folder: Path) -> Saved:
    base = make_spec(pattern=None) if kind == "no pattern" else spec
    around = {f"add_{name}_token": True for name in ("bos", "eos") if name in kind}
    tokenizer = HfBpeTokenizer.from_spec(base, **NAMES, **around, chat_template=CHAT_TEMPLATE, model_max_length=64)
    return save_and_load_both(tokenizer, folder)


@pytest.fixture(scope="session", params=["plain", "bos", "eos", "bos and eos", "no pattern"])
def saved(request: pytest.FixtureRequest, spec: TokenizerSpec, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Shared by tests that do not change the tokenizers."""
    return save_example(request.param, spec, tmp_path_factory.mktemp("saved"))


@pytest.fixture(scope="session")
def example(spec: TokenizerSpec, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """One of them, for slow tests that need no more."""
    return save_example("bos and eos", spec, tmp_path_factory.mktemp("example"))


@pytest.fixture
def tokenizer(spec: TokenizerSpec) -> Any:
    """One that a test may change."""
    return HfBpeTokenizer.from_spec(spec, **NAMES, chat_template=CHAT_TEMPLATE)
