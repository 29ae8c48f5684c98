"""How AutoTokenizer is told of our class, and what the model type in a config.json beside the tokenizer does to it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer
from transformers.models.auto import tokenization_auto

from hf_bpe.plugin import HfBpeTokenizer, model_types
from hf_bpe.plugin.remote_code import CODE_FILE
from tests.plugin.samples import TEXTS
from tests.plugin.test_plugin_registration import run

FORCED = ["mistral", "phi3"]
"""Model types for which transformers takes its own generic class, whatever is registered; the ids are the same."""

REBUILT = "qwen2"
"""One for which it builds a class that drops tokenizer.json's split pattern, unless an auto_map is there."""

READERS = """
import json, os, sys
jobs, texts, with_us = json.load(open(sys.argv[1])), json.load(open(sys.argv[2])), sys.argv[3] == "True"
os.environ["HF_MODULES_CACHE"] = sys.argv[4]
if with_us:
    import hf_bpe
else:
    sys.modules["hf_bpe"] = None  # not installed
from transformers import AutoTokenizer
found = []
for folder, trusted, model_type in jobs:
    json.dump({"model_type": model_type}, open(folder + "/config.json", "w"))
    loaded = AutoTokenizer.from_pretrained(folder, trust_remote_code=trusted)
    loaded.save_pretrained(sys.argv[4] + "/again")
    again = AutoTokenizer.from_pretrained(sys.argv[4] + "/again", trust_remote_code=trusted)
    found.append([type(loaded).__name__, loaded(texts)["input_ids"], again(texts)["input_ids"]])
print(json.dumps(found))
"""


@pytest.mark.parametrize("with_us", [True, False])
def test_every_reader_gives_the_same_ids(with_us: bool, example: Any, tmp_path: Path) -> None:
    jobs, expected = [], []
    for auto in ("marker", "class-name", "remote-code"):
        example.ours.save_pretrained(tmp_path / auto, auto=auto)
        for trusted in (True, False):
            # Without us, a trusted file of code gives the stock class under our name.
            ours = with_us or (auto == "remote-code" and trusted)
            for model_type in ["llama", "gpt2", "bert", *FORCED] + ([REBUILT] if auto == "remote-code" else []):
                jobs.append((str(tmp_path / auto), trusted, model_type))
                forced = model_type in FORCED and auto != "remote-code"
                expected.append("HfBpeTokenizer" if ours and not forced else "TokenizersBackend")
    (tmp_path / "jobs").write_text(json.dumps(jobs))
    (tmp_path / "texts").write_text(json.dumps(TEXTS))
    found = run(READERS, *(str(tmp_path / name) for name in ("jobs", "texts")), str(with_us), str(tmp_path / "modules"))
    ids = example.ours(TEXTS)["input_ids"]
    for job, name, (found_name, *found_ids) in zip(jobs, expected, found, strict=True):
        assert (found_name, found_ids) == (name, [ids, ids]), job


def test_only_the_recipe_with_code_writes_code(example: Any, tmp_path: Path) -> None:
    for auto, code in (("marker", False), ("class-name", False), ("remote-code", True)):
        paths = example.ours.save_pretrained(tmp_path / auto, auto=auto)
        assert ((tmp_path / auto / CODE_FILE).is_file(), any(CODE_FILE in path for path in paths)) == (code, code)
        assert ("auto_map" in json.loads((tmp_path / auto / "tokenizer_config.json").read_text())) is code
        again = HfBpeTokenizer.from_pretrained(tmp_path / auto)
        again.save_pretrained(tmp_path / "again")
        assert (tmp_path / "again" / CODE_FILE).is_file() == code
        again.save_pretrained(tmp_path / "again", auto="marker")
        assert not list((tmp_path / "again").glob("*.py"))


def test_an_unknown_recipe_is_refused_and_writes_nothing(tokenizer: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'marker', 'class-name', 'remote-code'"):
        tokenizer.save_pretrained(tmp_path / "none", auto="magic")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("model_type", ["qwen2", "qwen3_5"])
def test_beside_a_model_whose_tokenizer_is_rebuilt_the_recipe_with_code_is_proposed(
    model_type: str, tokenizer: Any, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": model_type}))
    with pytest.warns(RuntimeWarning, match='auto="remote-code"'):
        tokenizer.save_pretrained(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokenizer.save_pretrained(tmp_path, auto="remote-code")
        tokenizer.save_vocabulary(str(tmp_path))
    assert AutoTokenizer.from_pretrained(tmp_path)(TEXTS)["input_ids"] == tokenizer(TEXTS)["input_ids"]


@pytest.mark.parametrize("config", [{"model_type": "llama"}, {"model_type": 3}, [], {}, {"model_type": "no such model"}])
def test_beside_any_other_model_nothing_is_said(config: Any, tokenizer: Any, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokenizer.save_pretrained(tmp_path)


def test_without_transformers_tables_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_types.rebuilding_class(REBUILT) is not None
    monkeypatch.delattr(tokenization_auto, "MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS")
    assert model_types.rebuilding_class(REBUILT) is None


def test_where_a_tokenizer_came_from_survives_saving(spec: Any, tmp_path: Path) -> None:
    first = HfBpeTokenizer.from_spec(spec.replace(provenance={"trained on": "old letters"}))
    first.save_pretrained(tmp_path / "1")
    HfBpeTokenizer.from_pretrained(tmp_path / "1").save_pretrained(tmp_path / "2")
    mark = json.loads((tmp_path / "2" / "tokenizer_config.json").read_text())["hf_bpe"]
    assert mark["provenance"] == {"trained on": "old letters"}
