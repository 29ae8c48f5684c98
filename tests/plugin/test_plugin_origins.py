"""`from_pretrained` on folders that hold something else than a tokenizer.json; and that nothing asks the network for a folder."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

import conversion
from hf_bpe import AddedToken, Encoder, FormatError
from hf_bpe.plugin import HfBpeTokenizer
from tests.plugin.samples import TEXTS
from tests.support.vocabularies import CL100K_FILE, CL100K_SPECIALS, GPT2_ENCODER_FILE, GPT2_MERGES_FILE, TEKKEN_FILE, byte_spec


def plain_ids(loaded: Any, text: str) -> Any:
    return loaded(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("names", [("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")])
def test_gpt2_files_alone(names: tuple[str, str], tmp_path: Path) -> None:
    for source, name in zip((GPT2_ENCODER_FILE, GPT2_MERGES_FILE), names, strict=True):
        shutil.copy(source, tmp_path / name)
    loaded = HfBpeTokenizer.from_pretrained(tmp_path, eos_token="<|endoftext|>")
    assert plain_ids(loaded, "Hello world<|endoftext|>") == [15496, 995, 50256]
    assert (loaded.eos_token_id, len(loaded)) == (50256, 50257)


def test_tekken_json_alone(tmp_path: Path) -> None:
    shutil.copy(TEKKEN_FILE, tmp_path / "tekken.json")
    loaded = HfBpeTokenizer.from_pretrained(tmp_path, bos_token="<s>", add_bos_token=True)
    encoder = Encoder(conversion.load(TEKKEN_FILE))
    for text in TEXTS:
        assert loaded(text)["input_ids"] == [1, *encoder.encode(text, allowed_special="all")]


@pytest.mark.parametrize("name", ["cl100k_base.tiktoken", "tokenizer.model", "tiktoken.model"])
def test_a_rank_file_alone_needs_pattern_and_special_tokens(name: str, tmp_path: Path) -> None:
    shutil.copy(CL100K_FILE, tmp_path / name)
    with pytest.raises(FormatError, match="special_tokens="):
        HfBpeTokenizer.from_pretrained(tmp_path, pattern="cl100k")
    with pytest.raises(FormatError, match="pattern="):
        HfBpeTokenizer.from_pretrained(tmp_path, special_tokens={})
    for place in (tmp_path, tmp_path / name):
        loaded = HfBpeTokenizer.from_pretrained(place, pattern="cl100k", special_tokens=CL100K_SPECIALS)
        assert plain_ids(loaded, "Hello world<|endofprompt|>") == [9906, 1917, 100276]


def test_a_rank_file_takes_its_special_tokens_from_the_configuration_beside_it(tmp_path: Path) -> None:
    shutil.copy(CL100K_FILE, tmp_path / "cl100k_base.tiktoken")
    listed = {str(token_id): {"content": token, "special": True} for token, token_id in CL100K_SPECIALS.items()}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": listed, "eos_token": "<|endoftext|>"}))
    loaded = HfBpeTokenizer.from_pretrained(tmp_path, pattern="cl100k")
    assert plain_ids(loaded, "Hello world<|endofprompt|>") == [9906, 1917, 100276]
    assert (loaded.eos_token_id, len(loaded)) == (100257, 100261)


def test_a_rank_file_with_a_sidecar_needs_nothing(tmp_path: Path) -> None:
    spec = byte_spec("cl100k", added_tokens=(AddedToken("<|end|>", 300),))
    conversion.save(spec, tmp_path / "mine.tiktoken")
    loaded = HfBpeTokenizer.from_pretrained(tmp_path)
    assert (plain_ids(loaded, "A<|end|>"), loaded.spec) == ([65, 300], spec)


def test_several_rank_files_and_none_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(FormatError, match=r"no tokenizer.json.*it holds notes.txt"):
        HfBpeTokenizer.from_pretrained(tmp_path)
    for name in ("a.tiktoken", "b.tiktoken"):
        (tmp_path / name).touch()
    with pytest.raises(FormatError, match=r"a.tiktoken, b.tiktoken; give the path"):
        HfBpeTokenizer.from_pretrained(tmp_path)


def test_a_folder_with_a_tokenizer_json_needs_no_pattern(example: Any) -> None:
    with pytest.raises(FormatError, match="without pattern="):
        HfBpeTokenizer.from_pretrained(example.folder, pattern="gpt2")


def test_a_local_folder_is_loaded_without_a_single_connection(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def refuse(*call: Any, **_: Any) -> Any:
        asked.append(call)
        raise OSError("no network in this test")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for load in (HfBpeTokenizer.from_pretrained, AutoTokenizer.from_pretrained):
        loaded = load(example.folder)
        assert type(loaded) is HfBpeTokenizer
        loaded.save_pretrained(tmp_path)
    with pytest.raises(FormatError):
        HfBpeTokenizer.from_pretrained(tmp_path.parent)
    assert asked == []


def test_thousands_of_added_tokens_load_in_seconds(spec: Any, tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_spec(spec)
    tokenizer.add_tokens([f"<{number}>" for number in range(8_000)], special_tokens=True)
    tokenizer.add_tokens([f"[{number}]" for number in range(8_000)])  # pairs of the two kinds: 64 million
    tokenizer.save_pretrained(tmp_path)
    loaded = HfBpeTokenizer.from_pretrained(tmp_path)
    assert loaded.added_tokens_decoder == tokenizer.added_tokens_decoder
    assert loaded("<7>[7999]") == tokenizer("<7>[7999]")
