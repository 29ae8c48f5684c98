"""Folders and files that are missing, damaged, or of a kind that cannot be run: one clear error each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import transformers
from huggingface_hub.errors import HTTPError

from hf_bpe import ConversionRefused, FormatError, HubNotFound, HubUnreachable
from hf_bpe.plugin import HfBpeTokenizer
from hf_bpe.plugin.template import read_template


@pytest.fixture
def folder(tokenizer: Any, tmp_path: Path) -> Path:
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


def rewrite(folder: Path, **changes: Any) -> None:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        HfBpeTokenizer.from_pretrained(tmp_path / "nowhere")


def test_a_folder_without_tokenizer_json_is_listed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(FormatError, match=r"no tokenizer\.json.*notes\.txt"):
        HfBpeTokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", [b"", b'{"a": ', b"[1, 2]", b"\xff\xfe{}", b"not json"])
def test_damaged_files_are_named(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(FormatError, match=name.replace(".", r"\.")):
        HfBpeTokenizer.from_pretrained(folder)


def test_a_file_that_is_cut_off_is_said_to_be(folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(FormatError, match=r"tokenizer\.json.*cut off"):
        HfBpeTokenizer.from_pretrained(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"model": {"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "a"}},
        {"model": {"type": "Unigram", "vocab": [["a", 0.0]], "unk_id": 0}},
        {"normalizer": {"type": "Nmt"}},
        {"post_processor": {"type": "Whatever"}},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_tokenizer_that_cannot_be_run_exactly_is_refused_by_name(folder: Path, changes: dict[str, Any]) -> None:
    rewrite(folder, **changes)
    (kind,) = (value["type"] for value in changes.values())
    with pytest.raises((ConversionRefused, FormatError), match=kind):
        HfBpeTokenizer.from_pretrained(folder)


TEMPLATE = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": [], "special_tokens": {}}


@pytest.mark.parametrize(
    "processor",
    [
        3,
        {},
        {"type": "Sequence"},
        {"type": "Sequence", "processors": [3]},
        {"type": "TemplateProcessing"},
        {**TEMPLATE, "single": [{"SpecialToken": {"id": "<unknown>", "type_id": 0}}]},
        {**TEMPLATE, "single": [{"Sequence": {"id": "C", "type_id": 0}}]},
        {**TEMPLATE, "single": [{}]},
        {**TEMPLATE, "single": None},
    ],
    ids=str,
)
def test_a_damaged_post_processor_is_refused(processor: Any) -> None:
    with pytest.raises(FormatError, match=r"file\.json"):
        read_template(processor, "file.json")


def test_two_templates_are_refused() -> None:
    with pytest.raises(ConversionRefused, match="TemplateProcessing \\+ TemplateProcessing"):
        read_template({"type": "Sequence", "processors": [TEMPLATE, TEMPLATE]}, "file.json")


def test_making_one_from_nothing_says_how_to(spec: Any) -> None:
    for arguments in ({}, {"spec": spec, "tokenizer_file": "tokenizer.json"}):
        with pytest.raises(ValueError, match="from_spec"):
            HfBpeTokenizer(**arguments)


def test_unknown_arguments_are_tolerated_as_in_stock(spec: Any) -> None:
    assert HfBpeTokenizer.from_spec(spec, made_up=3).init_kwargs["made_up"] == 3


def test_a_template_keeps_the_order_of_its_pieces() -> None:
    template = read_template(TEMPLATE, "file.json")
    assert template.ids([1, 2], None) == [1, 2]
    assert template.count_added(pair=False) == 0


def test_no_name_and_a_hub_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HubNotFound, match="the name is empty"):
        HfBpeTokenizer.from_pretrained("")

    def fail(*_: Any, **__: Any) -> None:
        raise HTTPError("no route to host")

    monkeypatch.setattr(transformers.PreTrainedTokenizerBase, "from_pretrained", fail)
    with pytest.raises(HubUnreachable, match=r"'me/tokenizer': there is no such folder or file here.*no route to host"):
        HfBpeTokenizer.from_pretrained("me/tokenizer")
