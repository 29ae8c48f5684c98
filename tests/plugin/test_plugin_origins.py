"""`from_pretrained` on folders that hold something else than a tokenizer.json; and that nothing asks the network for a folder."""

from __future__ import annotations

import json
import shutil
import socket
import warnings
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

import conversion
import hf_bpe
from hf_bpe import AddedToken, ConversionRefused, Encoder, FormatError, HubError
from hf_bpe.doctor import examine
from hf_bpe.plugin import HfBpeTokenizer
from tests.plugin.samples import CORPUS, TEXTS
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


STOCK = {
    "Qwen2Tokenizer": ({"tokenizer_class": "Qwen2Tokenizer"}, {}),
    "model type": ({}, {"model_type": "qwen2"}),
    "space first": ({"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}, {}),
    "bos": ({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "bos_token": "<|endoftext|>"}, {"model_type": "gpt2"}),
    "RoBERTa": ({"tokenizer_class": "RobertaTokenizer"}, {}),
    "GPTNeoX": ({}, {"model_type": "gpt_neox"}),
}


def write_pair(folder: Path, spec: Any, tokenizer: dict[str, Any], model: dict[str, Any]) -> Path:
    conversion.save(spec, folder, format="vocab-merges")
    (folder / "hf_bpe.json").unlink()
    for name, content in {"tokenizer_config.json": tokenizer, "config.json": model}.items():
        if content:
            (folder / name).write_text(json.dumps(content))
    return folder


@pytest.fixture(scope="module")
def plain_spec() -> Any:
    return hf_bpe.train(iter(CORPUS), 500, pattern="gpt2", special_tokens=["<|endoftext|>"], progress=False)


@pytest.mark.parametrize("kind", STOCK)
def test_vocab_and_merges_are_run_as_the_class_named_beside_them_runs_them(kind: str, plain_spec: Any, tmp_path: Path) -> None:
    write_pair(tmp_path, plain_spec, *STOCK[kind])
    ours, stock = (cls.from_pretrained(tmp_path, padding_side="left") for cls in (HfBpeTokenizer, AutoTokenizer))
    assert type(ours) is HfBpeTokenizer
    assert type(stock) is not HfBpeTokenizer
    for text in (*TEXTS, "12345 hello", "e\u0301"):
        assert ours(text)["input_ids"] == stock(text)["input_ids"], text
    assert (ours.special_tokens_map, ours.padding_side) == (stock.special_tokens_map, "left")


@pytest.mark.parametrize(
    ("tokenizer", "model", "named"),
    [
        ({"tokenizer_class": "CLIPTokenizer"}, {}, "'CLIPTokenizer'"),
        ({"tokenizer_class": "CodeGenTokenizer"}, {}, "'CodeGenTokenizer'.*methods of its own"),
        ({"tokenizer_class": "Mine", "auto_map": {"AutoTokenizer": ["mine.Mine", None]}}, {}, "'Mine'.*custom code.*pattern="),
        ({"tokenizer_class": "NoSuchTokenizer"}, {}, "'NoSuchTokenizer'.*pattern="),
        ({}, {"model_type": "no-such-type"}, "'no-such-type'.*pattern="),
    ],
)
def test_vocab_and_merges_of_a_class_that_is_not_run_exactly_are_refused_by_name(
    tokenizer: dict[str, Any], model: dict[str, Any], named: str, plain_spec: Any, tmp_path: Path
) -> None:
    write_pair(tmp_path, plain_spec, tokenizer, model)
    with pytest.raises(ConversionRefused, match=f"(?s){named}"):
        HfBpeTokenizer.from_pretrained(tmp_path)
    with pytest.raises(ConversionRefused, match="name '"):
        conversion.load(tmp_path)
    said = HfBpeTokenizer.from_pretrained(tmp_path, pattern="gpt2")
    assert plain_ids(said, "12345 hello") == Encoder(plain_spec).encode("12345 hello")


def test_the_doctor_refuses_a_pair_of_another_class_and_not_one_beside_a_tokenizer_json(
    plain_spec: Any, tmp_path: Path
) -> None:
    write_pair(tmp_path, plain_spec, {"tokenizer_class": "Qwen2Tokenizer"}, {})
    assert [found.where for found in examine(tmp_path) if found.code == "refused"] == ["vocab.json"]
    HfBpeTokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path)
    assert [found for found in examine(tmp_path) if found.code == "refused"] == []


def test_a_configuration_beside_other_files_says_what_stands_around_texts_and_before_them(
    plain_spec: Any, tmp_path: Path
) -> None:
    conversion.save(plain_spec, tmp_path, format="gpt2")
    said = {"bos_token": "<|endoftext|>", "add_bos_token": True, "add_prefix_space": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
    bos = plain_spec.special_tokens["<|endoftext|>"]
    assert HfBpeTokenizer.from_pretrained(tmp_path)("a")["input_ids"] == [bos, *Encoder(plain_spec).encode(" a")]
    plain = HfBpeTokenizer.from_pretrained(tmp_path, add_bos_token=False, add_prefix_space=False)
    assert plain("a")["input_ids"] == Encoder(plain_spec).encode("a")


def test_a_rank_file_takes_bos_and_eos_from_the_configuration_beside_it(tmp_path: Path) -> None:
    shutil.copy(CL100K_FILE, tmp_path / "tokenizer.model")
    said = {"bos_token": "<|endoftext|>", "add_bos_token": True, "eos_token": "<|endofprompt|>", "add_eos_token": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
    loaded = HfBpeTokenizer.from_pretrained(tmp_path, pattern="cl100k", special_tokens=CL100K_SPECIALS)
    assert loaded("Hello")["input_ids"] == [100257, 9906, 100276]


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


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "w/o/x", "nowhere/tokenizer.json"])
def test_a_mistyped_path_is_called_missing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HubError, match="there is no such folder or file here"):
        HfBpeTokenizer.from_pretrained(name)
    with pytest.raises(OSError, match="no such folder"):  # what callers of transformers expect
        HfBpeTokenizer.from_pretrained(name)


def test_merges_that_were_cut_off_are_warned_of(plain_spec: Any, tmp_path: Path) -> None:
    merges = write_pair(tmp_path, plain_spec, {}, {}) / "merges.txt"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HfBpeTokenizer.from_pretrained(tmp_path)
    merges.write_text("".join(merges.read_text().splitlines(keepends=True)[:-3]))
    with pytest.warns(UserWarning, match=r"merges.txt: 3 of the 500 tokens.*cut off"):
        HfBpeTokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize("wrong", [["<|end|>"], {"<|end|>": "100257"}, {7: 100257}], ids=str)
def test_special_tokens_that_are_no_dict_of_text_and_id_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"special_tokens must (be a dict of text and id|give a text its id)"):
        HfBpeTokenizer.from_pretrained(CL100K_FILE, pattern="cl100k", special_tokens=wrong)


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
