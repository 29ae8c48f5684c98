"""A model after its tokenizer was changed: every row where its token went, and all the rest as it was."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoTokenizer

import conversion
from hf_bpe import TokenizerSpec
from hf_bpe.editing import IdMap, Made, ResizePlan, id_map_between, plan_resize
from hf_bpe.model_files.safetensors_header import read_header
from tests.editing import models
from tests.editing.models import (
    Tensors,
    content,
    gpt2,
    llama,
    load_tensors,
    new_spec,
    old_spec,
    pruned_spec,
    save_model,
    save_tokenizer,
)
from tests.editing.test_matching import SPACE, pieces

CHECKPOINTS: dict[str, tuple[Tensors, int, dict[str, Any]]] = {
    "gpt2 tied": (gpt2(300), 1, {"tie_word_embeddings": True}),
    "gpt2 padded f16": (gpt2(320, "F16"), 1, {"model_type": "gpt2"}),
    "llama untied sharded": (llama(300), 3, {"tie_word_embeddings": False}),
    "llama tied": (llama(304, "F32", tied=True), 1, {"tie_word_embeddings": True}),
    "tied by configuration, stored twice": (llama(304, "F16"), 2, {"tie_word_embeddings": True}),
    "bias and padding": (models.with_bias(384), 1, {}),
    "fp8": (llama(300, "F8_E4M3"), 2, {}),
    "fp8 e5m2": (llama(301, "F8_E5M2"), 1, {}),
    "multimodal": (
        {f"language_model.{name}": t for name, t in llama(310).items()} | {"vision.embeddings.weight": ("BF16", (310, 8))},
        2,
        {"vocab_size": 999, "text_config": {"vocab_size": 310, "eos_token_id": 299}, "image_token_index": 7},
    ),
    "neox": ({"gpt_neox.embed_in.weight": ("F16", (302, 8)), "embed_out.weight": ("F16", (302, 8)), "n": ("I64", (3,))}, 1, {}),
    "t5": (
        {f"{name}.weight": ("F32", (300, 8)) for name in ("shared", "encoder.embed_tokens", "decoder.embed_tokens", "lm_head")},
        1,
        {},
    ),
}

EDITS: dict[str, tuple[Any, dict[str, Any]]] = {
    "extended": (new_spec, {"init": "pieces"}),
    "pruned": (pruned_spec, {"shrink": True}),
    "pruned and padded": (pruned_spec, {"shrink": True, "pad_to_multiple_of": 64, "init": "normal"}),
    "pruned, as many rows": (pruned_spec, {"init": "zeros"}),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_every_row_is_where_its_token_went_and_every_other_byte_is_the_same(tmp_path: Path, checkpoint: str, edit: str) -> None:
    tensors, shards, config = CHECKPOINTS[checkpoint]
    spec, options = EDITS[edit]
    values = save_model(tmp_path / "model", tensors, shards=shards, config=config | _rows_config(tensors, config))
    save_tokenizer(spec(), tmp_path / "new", bos_token="<s>", eos_token="</s>")
    before = content(tmp_path / "model")
    plan = plan_resize(tmp_path / "model", tmp_path / "new", output=tmp_path / "out", **options)
    record = plan.apply()
    assert content(tmp_path / "model") == before
    assert record == json.loads((tmp_path / "out" / "resize_record.json").read_text())
    check(plan, values, load_tensors(tmp_path / "out"), id_map_between(old_spec(), spec()))
    assert not list(tmp_path.glob(".*"))
    loaded = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert (
        loaded("the quick fox<s>")["input_ids"]
        == AutoTokenizer.from_pretrained(tmp_path / "new")("the quick fox<s>")["input_ids"]
    )


def _rows_config(tensors: Tensors, config: dict[str, Any]) -> dict[str, Any]:
    rows = max(
        shape[0]
        for name, (_, shape) in tensors.items()
        if name.endswith(("wte.weight", "embed_in.weight", "embed_tokens.weight"))
    )
    return {} if "vocab_size" in config else {"vocab_size": rows}


def check(plan: ResizePlan, old: dict[str, np.ndarray], new: dict[str, np.ndarray], id_map: IdMap) -> None:
    """Compare every tensor with what an id map says of it, by another way than the code takes."""
    assert new.keys() == old.keys()
    edited = {matrix.tensor.name: matrix.axis for matrix in plan.matrices.found}
    after = plan.to_dict()["rows"]["after"]
    for name, value in old.items():
        if name not in edited:
            assert (new[name].shape, new[name].tobytes()) == (value.shape, value.tobytes()), name
            continue
        rows = np.moveaxis(value, edited[name], 0).reshape(value.shape[edited[name]], -1)
        found = np.moveaxis(new[name], edited[name], 0).reshape(new[name].shape[edited[name]], -1)
        assert len(found) == after
        mean = rows[sorted(id_map.old_ids)].astype(np.float64).mean(axis=0).astype(np.float32).astype(value.dtype)
        origin = {new_id: old_id for old_id, new_id in id_map.kept.items()}
        for number, row in enumerate(found):
            if number in origin:
                assert row.tobytes() == rows[origin[number]].tobytes(), (name, number)
            elif number in id_map.made:
                assert plan.init != "zeros" or not row.astype(np.float32).any()
                assert np.isfinite(row.astype(np.float32)).all()
            elif number < len(rows) and number not in id_map.old_ids:
                assert row.tobytes() == rows[number].tobytes(), (name, number)
            else:
                assert row.tobytes() == mean.tobytes(), (name, number)


def random_id_map(order: random.Random, new: TokenizerSpec) -> IdMap:
    """Of the 300 old ids onto those of a new tokenizer, in any order."""
    new_ids = list(range(new.n_vocab))
    if order.random() < 0.8:
        order.shuffle(new_ids)
    old_ids = order.sample(range(300), order.randint(1, len(new_ids)))
    kept = dict(zip(old_ids, new_ids, strict=False))
    ways = [None, Made("zeros"), Made("mean", tuple(order.choices(old_ids, k=3))), Made("mean", (old_ids[0],))]
    made = {number: order.choice(ways) for number in new_ids[len(kept) :]}
    return IdMap(300, new.n_vocab, kept, set(range(300)) - kept.keys(), made)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    folder = tmp_path_factory.mktemp("sound")
    values = save_model(folder / "model", models.with_bias(310), shards=2)
    save_tokenizer(pruned_spec(), folder / "new", bos_token="<s>", eos_token="</s>")
    return folder, values


@pytest.mark.parametrize("seed", range(12))
def test_any_id_map_is_followed(sound: tuple[Path, dict[str, np.ndarray]], seed: int) -> None:
    folder, values = sound
    order = random.Random(seed)
    id_map = random_id_map(order, pruned_spec())
    output = folder / f"out{seed}"
    plan = plan_resize(
        folder / "model",
        folder / "new",
        id_map=id_map,
        shrink=order.random() < 0.5,
        pad_to_multiple_of=order.choice([1, 16]),
        output=output,
    )
    plan.apply()
    new = load_tensors(output)
    check(plan, values, new, id_map)
    for number, made in id_map.made.items():
        if made is not None and len(made.of) == 1:
            assert new["lm_head.weight"][number].tobytes() == values["lm_head.weight"][made.of[0]].tobytes()
        if made == Made("zeros"):
            assert not any(new["lm_head.weight"][number].tobytes())
    written = IdMap.load(output / "id_map.json")
    assert (written.kept, written.gone, set(written.made)) == (id_map.kept, id_map.gone, set(id_map.made))
    assert None not in written.made.values()


def test_a_forward_pass_gives_the_same_logits_to_the_bit(tmp_path: Path) -> None:
    tensors = gpt2(320)
    for name, shape in {"attn.c_proj": (24, 24), "mlp.c_fc": (24, 96), "mlp.c_proj": (96, 24)}.items():
        tensors[f"h.0.{name}.weight"] = ("F32", shape)
    save_model(tmp_path / "model", tensors)
    save_tokenizer(pruned_spec(), tmp_path / "new", bos_token="<s>", eos_token="</s>")
    plan_resize(tmp_path / "model", tmp_path / "new", output=tmp_path / "out", shrink=True).apply()
    old, new = load_tensors(tmp_path / "model"), load_tensors(tmp_path / "out")
    kept = id_map_between(old_spec(), pruned_spec()).kept
    ids = random.Random(3).choices(sorted(kept), k=30)
    before, after = logits(old, ids), logits(new, [kept[number] for number in ids])
    assert after.shape[1] == pruned_spec().n_vocab < before.shape[1]
    assert after[:, list(kept.values())].tobytes() == before[:, list(kept)].tobytes()


def logits(weights: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """A GPT of one block, tied. Sums go row by row, so that their order does not depend on how many rows there are."""
    hidden = weights["wte.weight"][ids] + weights["wpe.weight"][: len(ids)]
    q, k, v = np.split(_norm(hidden) @ weights["h.0.attn.c_attn.weight"], 3, axis=1)
    scores = np.where(np.tri(len(ids), dtype=bool), q @ k.T / np.sqrt(24), -np.inf)
    attention = np.exp(scores - scores.max(axis=1, keepdims=True))
    hidden = hidden + attention / attention.sum(axis=1, keepdims=True) @ v @ weights["h.0.attn.c_proj.weight"]
    hidden = hidden + np.maximum(_norm(hidden) @ weights["h.0.mlp.c_fc.weight"], 0) @ weights["h.0.mlp.c_proj.weight"]
    return (_norm(hidden)[:, None, :] * weights["wte.weight"][None]).sum(axis=-1)


def _norm(hidden: np.ndarray) -> np.ndarray:
    return (hidden - hidden.mean(axis=1, keepdims=True)) / hidden.std(axis=1, keepdims=True)


# ---------------------------------------------------------------------------------------------------------------------
# Files beside the weights


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", llama(304), shards=3)
    return tmp_path / "model"


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return save_tokenizer(new_spec(), tmp_path / "new", bos_token="<s>", eos_token="</s>", pad_token="<|end|>")


def test_the_model_is_replaced_in_its_place(model: Path, new: Path) -> None:
    plan = plan_resize(model, new, pad_to_multiple_of=128)
    plan.apply()
    assert load_tensors(model)["lm_head.weight"].shape == (384, models.WIDTH)
    assert sorted(path.name for path in model.parent.iterdir()) == ["model", "new"]
    assert conversion.load(model) == new_spec()


def test_sizes_are_written_wherever_they_stand(model: Path, new: Path) -> None:
    old_index = json.loads((model / "model.safetensors.index.json").read_text())
    plan_resize(model, new, pad_to_multiple_of=128).apply()
    index = json.loads((model / "model.safetensors.index.json").read_text())
    assert index["weight_map"] == old_index["weight_map"]
    arrays = load_tensors(model).values()
    assert index["metadata"] == {"total_parameters": sum(a.size for a in arrays), "total_size": sum(a.nbytes for a in arrays)}
    assert json.loads((model / "config.json").read_text())["vocab_size"] == 384
    assert {h.metadata["format"] for h in (read_header(p) for p in model.glob("*.safetensors")) if h.metadata} == {"pt"}


def test_files_that_stay_the_same_are_linked_or_copied(model: Path, new: Path, tmp_path: Path) -> None:
    (model / "code").mkdir()
    (model / "code" / "modeling.py").write_text("pass")
    for name, link in (("linked", True), ("copied", False)):
        plan_resize(model, new, output=tmp_path / name, link=link).apply()
        for file in ("model-00002-of-00003.safetensors", "LICENSE", "code/modeling.py"):
            assert (tmp_path / name / file).samefile(model / file) == link
            assert (tmp_path / name / file).read_bytes() == (model / file).read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_what_is_written_anew_can_be_read_by_whoever_could_read_the_old(model: Path, new: Path, tmp_path: Path) -> None:
    model.chmod(0o700)
    for path in model.glob("*.safetensors"):
        path.chmod(0o600)
    plan_resize(model, new, output=tmp_path / "out").apply()
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").glob("*.safetensors")} == {0o600}


def test_a_dry_run_writes_nothing_and_names_everything(model: Path, new: Path, tmp_path: Path) -> None:
    before = content(tmp_path)
    summary = plan_resize(model, new).summary()
    assert content(tmp_path) == before
    for part in (
        "300 kept (0 with another id), 0 gone, 3 new",
        "rows: 304 -> 304",
        "3 mean of the rows in use",
        "model.embed_tokens.weight (embedding, BF16) [304, 24] -> [304, 24] in model-00001-of-00003.safetensors",
        "lm_head.weight (head, BF16)",
        "config.json: pad_token_id null -> 301",
        "2 of 3 files of weights written anew",
    ):
        assert part in summary


def test_the_freeze_list_names_the_new_rows(tmp_path: Path) -> None:
    save_model(tmp_path / "model", models.with_bias(310))
    save_tokenizer(pruned_spec(), tmp_path / "new", bos_token="<s>")
    plan_resize(tmp_path / "model", tmp_path / "new").apply()
    freeze = json.loads((tmp_path / "model" / "new_rows.json").read_text())
    tool = pruned_spec().special_tokens["<|tool|>"]
    axes = {"model.embed_tokens.weight": 0, "lm_head.weight": 0, "lm_head.bias": 0, "final_logits_bias": 1}
    assert {entry["tensor"]: entry["axis"] for entry in freeze["train"]} == axes
    assert all(entry["rows"] == [[tool, 1]] for entry in freeze["train"])


def test_ids_in_the_configuration_follow_their_tokens(tmp_path: Path) -> None:
    config = {"image_token_index": 3, "pad_token_id": None, "eos_token_id": [299, 303], "vision_config": {"pad_token_id": 298}}
    save_model(tmp_path / "model", llama(304), config=config)
    generation = {
        "bos_token_id": 298,
        "suppress_tokens": [3, 297, 303],
        "bad_words_ids": [[299, 3], [297]],
        "forced_decoder_ids": [[1, 298]],
        "sequence_bias": [[[299], -1.0], [[297], 2.0]],
        "lang_to_id": {"<|en|>": 4},
        "max_length": 298,
        "temperature": 0.5,
    }
    (tmp_path / "model" / "generation_config.json").write_text(json.dumps(generation))
    save_tokenizer(pruned_spec(), tmp_path / "new", bos_token="<s>", eos_token="</s>", pad_token="<|tool|>")
    plan = plan_resize(tmp_path / "model", tmp_path / "new", shrink=True)
    plan.apply()
    bos, eos, tool = (pruned_spec().special_tokens[name] for name in ("<s>", "</s>", "<|tool|>"))
    said = json.loads((tmp_path / "model" / "config.json").read_text())
    assert (said["bos_token_id"], said["eos_token_id"], said["pad_token_id"]) == (bos, [eos], tool)
    assert (said["image_token_index"], said["vocab_size"], said["vision_config"]) == (3, 291, {"pad_token_id": 298})
    assert json.loads((tmp_path / "model" / "generation_config.json").read_text()) == {
        "bos_token_id": bos,
        "suppress_tokens": [3],
        "bad_words_ids": [[eos, 3]],
        "forced_decoder_ids": [[1, bos]],
        "sequence_bias": [[[eos], -1.0]],
        "lang_to_id": {"<|en|>": 4},
        "max_length": 298,
        "temperature": 0.5,
        "pad_token_id": tool,
    }
    assert any("entries whose tokens are gone" in note for note in plan.to_dict()["notes"])


def test_an_id_without_a_token_that_a_new_token_takes_is_told(tmp_path: Path, new: Path) -> None:
    save_model(tmp_path / "model", llama(304), config={"pad_token_id": 302, "image_token_index": 303})
    save_tokenizer(new_spec(), tmp_path / "new", bos_token="<s>", eos_token="</s>")
    plan = plan_resize(tmp_path / "model", tmp_path / "new")
    assert plan.to_dict()["notes"] == ["config.json: pad_token_id is 302, an id that no token had; now one has it"]


def test_a_size_that_a_class_has_by_default_is_written(tmp_path: Path) -> None:
    save_model(tmp_path / "model", llama(300))
    (tmp_path / "model" / "config.json").write_text(json.dumps({"text_config": {"hidden_size": 24}}))
    save_tokenizer(new_spec(), tmp_path / "new", bos_token="<s>")
    plan_resize(tmp_path / "model", tmp_path / "new").apply()
    assert json.loads((tmp_path / "model" / "config.json").read_text())["text_config"] == {"hidden_size": 24, "vocab_size": 303}


def test_nothing_is_rewritten_where_every_row_stays(model: Path, tmp_path: Path) -> None:
    renamed = old_spec().with_renamed_tokens({"<s>": "<bos>"})
    save_tokenizer(renamed, tmp_path / "new", bos_token="<bos>", eos_token="</s>")
    id_map = IdMap(300, 300, {number: number for number in range(300)})
    plan = plan_resize(model, tmp_path / "new", id_map=id_map)
    before = {path.name: path.stat().st_ino for path in model.glob("*.safetensors*")}
    plan.apply()
    assert {path.name: path.stat().st_ino for path in model.glob("*.safetensors*")} == before
    assert conversion.load(model) == renamed


def test_files_of_the_old_tokenizer_do_not_stay(model: Path, new: Path) -> None:
    for name in ("vocab.json", "merges.txt", "added_tokens.json", "spiece.model", "chat_template.jinja"):
        (model / name).write_text("{}")
    plan_resize(model, new).apply()
    names = {path.name for path in model.iterdir()}
    assert not names & {"vocab.json", "merges.txt", "added_tokens.json", "spiece.model", "chat_template.jinja"}
    assert {"tokenizer.json", "tokenizer_config.json"} <= names


def test_what_lies_in_a_folder_of_the_model_stays(model: Path, new: Path) -> None:
    (model / "original").mkdir()
    for name in ("tokenizer.model", "ranks.tiktoken"):
        (model / "original" / name).write_text("of another")
    plan_resize(model, new).apply()
    assert {path.name for path in (model / "original").iterdir()} == {"tokenizer.model", "ranks.tiktoken"}


def test_names_that_are_not_known_are_given(tmp_path: Path, new: Path) -> None:
    tensors: Tensors = {
        "enc.table": ("F32", (300, 8)),
        "out.proj": ("F32", (300, 8)),
        "out.bias": ("F32", (300,)),
        "x": ("F32", (900, 2)),
    }
    values = models.values_of(tensors)
    (tmp_path / "model").mkdir()
    models.save_tensors(tmp_path / "model" / "weights.safetensors", values)
    save_tokenizer(old_spec(), tmp_path / "model")
    plan = plan_resize(tmp_path / "model", new, embedding=["enc.table"], head=["out.proj"])
    assert [(matrix.tensor.name, matrix.role) for matrix in plan.matrices.found] == [
        ("enc.table", "embedding"),
        ("out.proj", "head"),
    ]


def test_links_of_a_download_cache_become_files(model: Path, new: Path, tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    for path in list(model.iterdir()):
        path.rename(tmp_path / "blobs" / path.name)
        path.symlink_to(tmp_path / "blobs" / path.name)
    plan_resize(model, new, output=tmp_path / "out").apply()
    assert not any(path.is_symlink() for path in (tmp_path / "out").iterdir())
    assert load_tensors(tmp_path / "out")["lm_head.weight"].shape == (304, models.WIDTH)


def test_a_sentencepiece_model_gets_tokens_and_a_byte_level_one_takes_its_place(tmp_path: Path) -> None:
    old = pieces(*"abcdehlqtuy", SPACE, "he", "the", f"{SPACE}the", "qu")
    values = save_model(tmp_path / "model", {"model.embed_tokens.weight": ("F16", (320, 4))}, spec=old, eos_token="<s>")
    more = save_tokenizer(old.with_added_tokens(["<|tool|>", " theb"]), tmp_path / "more", bos_token="<s>")
    other = save_tokenizer(old_spec(), tmp_path / "other", bos_token="<s>")
    rows_before = values["model.embed_tokens.weight"]

    plan_resize(tmp_path / "model", more, init="pieces", output=tmp_path / "extended").apply()
    rows = load_tensors(tmp_path / "extended")["model.embed_tokens.weight"]
    assert rows[: old.n_vocab].tobytes() == rows_before[: old.n_vocab].tobytes()
    assert rows[old.n_vocab + 2 :].tobytes() == rows_before[old.n_vocab + 2 :].tobytes()
    the, b = (rows_before[old.vocab[piece.encode()]].astype("f8") for piece in (f"{SPACE}the", "b"))
    assert rows[old.n_vocab + 1].tolist() == ((the + b) / 2).astype("f4").astype("f2").tolist()

    plan_resize(tmp_path / "model", other, output=tmp_path / "replaced", shrink=True).apply()
    rows = load_tensors(tmp_path / "replaced")["model.embed_tokens.weight"]
    assert len(rows) == 300
    for token, piece in ((b" the", f"{SPACE}the"), (b"q", "q"), (b"\xff", "<0xFF>"), (b"<s>", "<s>")):
        assert rows[old_spec().token_id(token)].tobytes() == rows_before[old.vocab[piece.encode()]].tobytes(), token
