"""What a saved folder holds, that it loads everywhere with the same ids, and that a failed save leaves no trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from hf_bpe import ConversionRefused, FormatError
from hf_bpe.plugin import HfBpeTokenizer, saving
from tests.plugin.conftest import save_and_load_both
from tests.plugin.samples import CHAT_TEMPLATE, NAMES, TEXTS


def config_of(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "tokenizer_config.json").read_text())
    return data


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_folder_holds_these_files_and_nothing_private(tokenizer: Any, tmp_path: Path) -> None:
    paths = tokenizer.save_pretrained(tmp_path)
    names = {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}
    assert {path.name for path in tmp_path.iterdir()} == {Path(path).name for path in paths} == names
    for loaded in (tokenizer, HfBpeTokenizer.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(tmp_path)):
        loaded.save_pretrained(tmp_path / "again")
        config = config_of(tmp_path / "again")
        assert config["tokenizer_class"] == "PreTrainedTokenizerFast"
        assert config["hf_bpe"]["version"]
        assert config["additional_special_tokens"] == NAMES["additional_special_tokens"]
        assert config["clean_up_tokenization_spaces"] is False
        allowed = {*NAMES, "tokenizer_class", "hf_bpe", "clean_up_tokenization_spaces", "model_max_length"}
        assert set(config) == allowed
        assert str(tmp_path) not in json.dumps(config)


def test_saving_twice_gives_the_same_bytes(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path / "1")
    HfBpeTokenizer.from_pretrained(tmp_path / "1").save_pretrained(tmp_path / "2")
    assert snapshot(tmp_path / "1") == snapshot(tmp_path / "2")


def test_the_tokenizers_library_reads_the_same_ids(saved: Any) -> None:
    raw = tokenizers.Tokenizer.from_file(str(saved.folder / "tokenizer.json"))
    for text in TEXTS:
        assert raw.encode(text).ids == saved.ours.encode(text)
        assert raw.encode(text, "pair").ids == saved.ours.encode(text, "pair")
    assert raw.get_vocab() == saved.ours.get_vocab()


def test_settings_come_back(spec: Any, tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_spec(
        spec, **NAMES, model_max_length=77, padding_side="left", truncation_side="left", split_special_tokens=True,
        model_input_names=["input_ids"], my_own_setting={"a": [1]},
    )  # fmt: skip
    again = save_and_load_both(tokenizer, tmp_path)
    for loaded in (again.ours, again.stock):
        assert (loaded.model_max_length, loaded.padding_side, loaded.truncation_side) == (77, "left", "left")
        assert loaded.split_special_tokens is True
        assert loaded.init_kwargs["my_own_setting"] == {"a": [1]}
    assert dict(again.ours("<|end|> x")) == dict(again.stock("<|end|> x"))
    again.ours.padding_side = "right"
    again.ours.save_pretrained(tmp_path)
    assert HfBpeTokenizer.from_pretrained(tmp_path).padding_side == "right"


def test_the_specification_comes_back(saved: Any) -> None:
    assert HfBpeTokenizer.from_pretrained(saved.folder).spec == saved.ours.spec


def test_tokens_around_texts_come_back(saved: Any) -> None:
    again = HfBpeTokenizer.from_pretrained(saved.folder)
    assert (again.add_bos_token, again.add_eos_token) == (saved.ours.add_bos_token, saved.ours.add_eos_token)
    changed = HfBpeTokenizer.from_pretrained(saved.folder, add_bos_token=True, add_eos_token=False)
    stock = PreTrainedTokenizerFast.from_pretrained(saved.folder, add_bos_token=True, add_eos_token=False)
    assert changed("a", "b")["input_ids"] == stock("a", "b")["input_ids"]


def test_a_configuration_does_not_overrule_the_post_processor(saved: Any, tmp_path: Path) -> None:
    saved.ours.save_pretrained(tmp_path)
    config = config_of(tmp_path) | {"add_bos_token": True, "add_eos_token": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    ours, stock = (cls.from_pretrained(tmp_path) for cls in (HfBpeTokenizer, PreTrainedTokenizerFast))
    assert ours.encode("a") == stock.encode("a") == saved.ours.encode("a")


def test_a_template_of_any_shape_is_run_and_kept(saved: Any, tmp_path: Path) -> None:
    ids = saved.ours.convert_tokens_to_ids(["<|im|>", "<|end|>"])
    document = json.loads((saved.folder / "tokenizer.json").read_text())

    def token(name: str, type_id: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": name, "type_id": type_id}}

    first, second = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 3}}
    template = {
        "type": "TemplateProcessing",
        "single": [token("<|im|>", 2), first, token("<|im|>", 0), token("two", 1)],
        "pair": [second, token("<|im|>", 1), first],
        "special_tokens": {
            "<|im|>": {"id": "<|im|>", "ids": ids[:1], "tokens": ["<|im|>"]},
            "two": {"id": "two", "ids": ids, "tokens": ["<|im|>", "<|end|>"]},
        },
    }
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    for processor in (template, {"type": "Sequence", "processors": [byte_level, template]}, byte_level):
        document["post_processor"] = processor
        saved.ours.save_pretrained(tmp_path)
        (tmp_path / "tokenizer.json").write_text(json.dumps(document))
        again = save_and_load_both(HfBpeTokenizer.from_pretrained(tmp_path), tmp_path / "again")
        for call in (("one text",), ("one text", "two texts"), (["a", ("b", "c d")],)):
            for add_special_tokens in (True, False):
                options = {"add_special_tokens": add_special_tokens}
                options |= {"return_token_type_ids": True, "return_special_tokens_mask": True}
                assert dict(again.ours(*call, **options)) == dict(again.stock(*call, **options))
        assert json.loads((tmp_path / "again" / "tokenizer.json").read_text())["post_processor"] == processor


def test_padding_and_truncation_in_tokenizer_json_set_the_sides(saved: Any, tmp_path: Path) -> None:
    raw = tokenizers.Tokenizer.from_file(str(saved.folder / "tokenizer.json"))
    raw.enable_padding(direction="left", pad_token="<|im|>", pad_id=raw.token_to_id("<|im|>"))
    raw.enable_truncation(5, direction="left")
    raw.save(str(tmp_path / "tokenizer.json"))
    ours, stock = (cls.from_pretrained(tmp_path) for cls in (HfBpeTokenizer, PreTrainedTokenizerFast))
    for name in ("padding_side", "truncation_side", "pad_token"):
        assert getattr(ours, name) == getattr(stock, name)
    call = {"padding": True, "truncation": True, "max_length": 8}
    assert dict(ours(TEXTS[:5], **call)) == dict(stock(TEXTS[:5], **call))


def test_a_prefix_for_the_file_names(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path, filename_prefix="my")
    assert (tmp_path / "my-tokenizer.json").is_file()
    assert (tmp_path / "my-chat_template.jinja").is_file()


def test_the_vocabulary_alone(tokenizer: Any, tmp_path: Path) -> None:
    (path,) = tokenizer.save_vocabulary(str(tmp_path))
    assert Path(path).name == "tokenizer.json"
    assert HfBpeTokenizer(tokenizer_file=path).encode("hello") == tokenizer.encode("hello")
    assert HfBpeTokenizer.from_pretrained(path).encode("hello") == tokenizer.encode("hello")


@pytest.mark.parametrize("version", ["single", "single in config", "several", "none"])
def test_chat_templates_come_back_and_earlier_ones_do_not(spec: Any, tmp_path: Path, version: str) -> None:
    templates: dict[str, Any] = {"several": {"default": CHAT_TEMPLATE, "short": "{{ messages[0]['content'] }}"}, "none": None}
    earlier = {"default": "{{ 'an earlier one' }}", "stale": "{{ 'another' }}"}
    HfBpeTokenizer.from_spec(spec, chat_template=earlier).save_pretrained(tmp_path)
    for stale in ("special_tokens_map.json", "added_tokens.json"):
        (tmp_path / stale).write_text('{"<stale>": 3}')
    template = templates.get(version, CHAT_TEMPLATE)
    tokenizer = HfBpeTokenizer.from_spec(spec, chat_template=template)
    tokenizer.save_pretrained(tmp_path, save_jinja_files=version != "single in config")
    for cls in (HfBpeTokenizer, PreTrainedTokenizerFast):
        loaded = cls.from_pretrained(tmp_path)
        assert loaded.chat_template == template
        assert len(loaded) == len(tokenizer)


@pytest.mark.parametrize("name", ["../escaped", "a/b", "", "..", "a\\b", "nul\0"])
def test_a_chat_template_cannot_be_written_outside_the_folder(tokenizer: Any, tmp_path: Path, name: str) -> None:
    tokenizer.chat_template = {"default": CHAT_TEMPLATE, name: "{{ 'escaped' }}"}
    with pytest.raises(ValueError, match="its name must be one that a file can have"):
        tokenizer.save_pretrained(tmp_path / "folder")
    assert not list(tmp_path.iterdir())


def test_saving_over_a_folder_replaces_it(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path)
    tokenizer.add_tokens(["<more>"])
    tokenizer.save_pretrained(tmp_path)
    assert "<more>" in HfBpeTokenizer.from_pretrained(tmp_path).get_vocab()


def test_a_legacy_format_is_refused_by_name(tokenizer: Any, tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="legacy_format"):
        tokenizer.save_pretrained(tmp_path / "none", legacy_format=True)
    assert not (tmp_path / "none").exists()


def test_a_save_that_would_not_be_exact_is_refused_and_writes_nothing(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer.save_pretrained(tmp_path)
    before = snapshot(tmp_path)
    to_dict = saving.tokenizer_json.to_dict

    def without_merges(spec: Any, **_: Any) -> dict[str, Any]:
        document = to_dict(spec)
        document["model"]["merges"] = document["model"]["merges"][:-20]
        return document  # type: ignore[no-any-return]

    def with_other_pattern(spec: Any, **_: Any) -> dict[str, Any]:
        return to_dict(spec.replace(pattern=r"\s+|\S"))  # type: ignore[no-any-return]

    def with_shifted_ids(spec: Any, **_: Any) -> dict[str, Any]:
        document = to_dict(spec)
        document["added_tokens"] = document["added_tokens"][1:]
        return document  # type: ignore[no-any-return]

    tokenizer.add_tokens(["<more>"])
    for damage in (without_merges, with_other_pattern, with_shifted_ids):
        monkeypatch.setattr(saving.tokenizer_json, "to_dict", damage)
        with pytest.raises((ConversionRefused, FormatError)):
            tokenizer.save_pretrained(tmp_path)
        assert snapshot(tmp_path) == before


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_save_that_fails_half_way_leaves_the_old_files(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    tokenizer.save_pretrained(tmp_path)
    before = snapshot(tmp_path)
    tokenizer.add_tokens(["<more>"])
    calls = []

    def fail_at_second(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise failure

    monkeypatch.setattr("os.fsync", fail_at_second)
    with pytest.raises(type(failure)):
        tokenizer.save_pretrained(tmp_path)
    assert snapshot(tmp_path) == before


def test_settings_that_json_cannot_hold_are_refused_before_anything_is_written(spec: Any, tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_spec(spec, my_object=object())
    with pytest.raises(TypeError, match="JSON"):
        tokenizer.save_pretrained(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_file_in_place_of_the_folder_is_refused(tokenizer: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        tokenizer.save_pretrained(tmp_path / "file")


def test_a_trusted_load_does_not_copy_source_code_into_later_saves(tokenizer: Any, tmp_path: Path) -> None:
    type(tokenizer).register_for_auto_class()
    tokenizer.save_pretrained(tmp_path)
    assert not list(tmp_path.glob("*.py"))
    assert "auto_map" not in config_of(tmp_path)
