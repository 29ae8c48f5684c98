"""What the plan of a resize decides where nobody says it, and what it says of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hf_bpe import EditError
from hf_bpe.editing import IdMap, ResizePlan, plan_resize
from tests.editing.models import gpt2, llama, load_tensors, new_spec, old_spec, pruned_spec, save_model, save_tokenizer


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return save_tokenizer(new_spec(), tmp_path / "new", bos_token="<s>", eos_token="</s>")


def plan_for(folder: Path, rows: int, spec: Any, **options: Any) -> ResizePlan:
    save_model(folder / "model", llama(rows))
    return plan_resize(folder / "model", save_tokenizer(spec, folder / "other", bos_token="<s>"), **options)


@pytest.mark.parametrize(
    ("before", "more", "options", "after"),
    [
        (320, 30, {}, 384),  # 64 is in 320, so 64 it was
        (304, 10, {}, 320),
        (300, 30, {}, 330),  # not padded
        (301, 30, {}, 330),  # a row more, but no multiple
        (320, 30, {"pad_to_multiple_of": 1}, 330),
        (320, 30, {"pad_to_multiple_of": 8}, 336),
        (320, 30, {"shrink": True}, 330),
        (320, 3, {}, 320),
    ],
)
def test_rows_that_were_padded_stay_padded(tmp_path: Path, before: int, more: int, options: dict[str, Any], after: int) -> None:
    spec = old_spec().with_added_tokens([f"<|{number}|>" for number in range(more)])
    plan = plan_for(tmp_path, before, spec, **options)
    plan.apply()
    assert len(load_tensors(tmp_path / "model")["lm_head.weight"]) == after
    assert any("were padded for 300 ids" in note for note in plan.to_dict()["notes"]) == (after > max(before, 300 + more))


def test_rows_that_nothing_needs_are_told(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, 304, pruned_spec())
    assert "the new tokenizer needs 291 of 304 rows; shrink=True leaves out the others" in plan.to_dict()["notes"]
    shrunk = plan_resize(tmp_path / "model", tmp_path / "other", shrink=True)
    assert not any("shrink" in note for note in shrunk.to_dict()["notes"])


def test_a_token_that_may_only_have_been_renamed_is_told(tmp_path: Path) -> None:
    renamed = old_spec().with_renamed_tokens({"</s>": "<|end|>"})
    plan = plan_for(tmp_path, 304, renamed)
    assert any("299 is '<|end|>' instead of '</s>'" in note for note in plan.to_dict()["notes"])
    kept = IdMap(300, 300, {number: number for number in range(300)})
    told = plan_resize(tmp_path / "model", tmp_path / "other", id_map=kept)
    assert not any("other texts than before" in note for note in told.to_dict()["notes"])


def test_a_plan_has_every_field_of_the_record(tmp_path: Path, new: Path) -> None:
    save_model(tmp_path / "model", llama(304), shards=2)
    (tmp_path / "model" / "tokenizer.model").write_bytes(b"of the old one")
    plan = plan_resize(tmp_path / "model", new, output=tmp_path / "out")
    planned = json.loads(json.dumps(plan.to_dict()))
    assert plan.apply() == planned == json.loads((tmp_path / "out" / "resize_record.json").read_text())
    assert planned["files"]["old_tokenizer"] == ["tokenizer.json", "tokenizer.model", "tokenizer_config.json"]
    assert "in place of tokenizer.json, tokenizer.model, tokenizer_config.json" in plan.summary()


def test_weights_in_folders_below_stay_and_are_told(tmp_path: Path, new: Path) -> None:
    save_model(tmp_path / "model", llama(304))
    (tmp_path / "model" / "original").mkdir()
    (tmp_path / "model" / "original" / "consolidated.00.pth").write_bytes(b"old rows")
    plan = plan_resize(tmp_path / "model", new, output=tmp_path / "out")
    assert "original/consolidated.00.pth may hold old rows, too, and stays as it is" in plan.to_dict()["notes"]
    plan.apply()
    assert (tmp_path / "out" / "original" / "consolidated.00.pth").read_bytes() == b"old rows"


# -- the head ---------------------------------------------------------------------------------------------------------


def test_a_model_that_is_tied_has_no_head_of_its_own(tmp_path: Path, new: Path) -> None:
    save_model(tmp_path / "model", gpt2(300), config={"tie_word_embeddings": True})
    plan = plan_resize(tmp_path / "model", new)
    assert plan.to_dict()["tied"]
    assert "the head is the embedding (tied)" in plan.summary()


def test_a_base_model_without_a_head_is_not_called_tied(tmp_path: Path, new: Path) -> None:
    save_model(tmp_path / "model", llama(300, tied=True), config={"tie_word_embeddings": False})
    plan = plan_resize(tmp_path / "model", new)
    assert not plan.to_dict()["tied"]
    assert "no head is there, and config.json says that it is not the embedding" in plan.summary()


def test_a_head_beside_a_tied_embedding_gets_its_rows_and_is_told(tmp_path: Path, new: Path) -> None:
    save_model(tmp_path / "model", llama(300), config={"tie_word_embeddings": True})
    plan = plan_resize(tmp_path / "model", new)
    assert any("and lm_head.weight is there, too" in note for note in plan.to_dict()["notes"])
    plan.apply()
    assert len(load_tensors(tmp_path / "model")["lm_head.weight"]) == 303


def test_only_matrices_with_rows_enough_are_offered(tmp_path: Path, new: Path) -> None:
    save_model(tmp_path / "model", llama(304))
    with pytest.raises(EditError, match=r"no tensor 'nothing', which embedding= names\. Name the embedding") as caught:
        plan_resize(tmp_path / "model", new, embedding=["nothing"])
    assert "up_proj" not in str(caught.value)
    assert "lm_head.weight (304 rows), model.embed_tokens.weight (304 rows)" in str(caught.value)
