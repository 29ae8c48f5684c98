"""`import hf_bpe` alone makes AutoTokenizer give our class for our folders; without it, stock gives the same ids."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import hf_bpe
from hf_bpe.plugin import HfBpeTokenizer, registration
from tests.plugin.samples import NAMES, TEXTS

REPORT = """
texts = json.load(open(sys.argv[2], encoding="utf-8"))
loaded = AutoTokenizer.from_pretrained(sys.argv[1])
ids = loaded(texts)["input_ids"]
hooks = [finder for finder in sys.meta_path if type(finder).__module__.startswith("hf_bpe")]
print(json.dumps([type(loaded).__name__, ids, loaded.batch_decode(ids), len(hooks)]))
"""


def run(code: str, *arguments: str) -> Any:
    """The JSON that a fresh Python prints last."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ("import hf_bpe; from transformers import AutoTokenizer", "HfBpeTokenizer"),
        ("from transformers import AutoTokenizer; import hf_bpe", "HfBpeTokenizer"),
        ("import transformers; import hf_bpe; from transformers import AutoTokenizer", "HfBpeTokenizer"),
        ("import hf_bpe; import transformers; AutoTokenizer = transformers.AutoTokenizer", "HfBpeTokenizer"),
        ("from transformers import AutoTokenizer", "TokenizersBackend"),
    ],
)
def test_a_separate_process_gives_the_same_ids(imports: str, expected: str, example: Any, tmp_path: Path) -> None:
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS), encoding="utf-8")
    code = f"import json, sys; {imports}\n{REPORT}"
    name, ids, texts, hooks = run(code, str(example.folder), str(tmp_path / "texts.json"))
    assert name == expected
    assert ids == example.ours(TEXTS)["input_ids"]
    assert texts == example.ours.batch_decode(ids)
    assert hooks == 0


def test_importing_the_package_does_not_import_transformers_or_torch() -> None:
    heavy = ["transformers", "torch", "huggingface_hub", "ray", "jinja2", "datasets"]
    code = "import json, sys; before = set(sys.modules); import hf_bpe, hf_bpe.plugin; print(json.dumps(sorted(set(sys.modules) - before)))"
    assert not set(run(code)) & set(heavy)


def test_other_folders_still_give_the_stock_class(example: Any, tmp_path: Path) -> None:
    for name in (
        "PreTrainedTokenizerFast",
        "PreTrainedTokenizer",
        "TokenizersBackend",
        "GPT2Tokenizer",
        "NoSuchTokenizer",
        None,
    ):
        example.stock.save_pretrained(tmp_path)
        config = json.loads((tmp_path / "tokenizer_config.json").read_text())
        config.pop("hf_bpe")
        config["tokenizer_class"] = name
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({k: v for k, v in config.items() if v is not None}))
        loaded = AutoTokenizer.from_pretrained(tmp_path)
        assert type(loaded).__module__.startswith("transformers."), name
        assert "HfBpe" not in type(loaded).__name__, name


@pytest.mark.parametrize("model_type", ["gpt2", "llama", "bert", "gpt_neox"])
def test_a_model_configuration_beside_it_changes_nothing(example: Any, tmp_path: Path, model_type: str) -> None:
    example.ours.save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": model_type}))
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert type(loaded) is HfBpeTokenizer
    assert loaded(TEXTS)["input_ids"] == example.ours(TEXTS)["input_ids"]


def test_a_folder_that_names_our_class_gives_it(example: Any, tmp_path: Path) -> None:
    example.ours.save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "tokenizer_class": "HfBpeTokenizer"}))
    assert type(AutoTokenizer.from_pretrained(tmp_path)) is HfBpeTokenizer
    code = f"import json, sys; from transformers import AutoTokenizer\n{REPORT}"
    (tmp_path / "texts").write_text(json.dumps(TEXTS), encoding="utf-8")
    name, ids, *_ = run(code, str(tmp_path), str(tmp_path / "texts"))
    assert (name, ids) == ("TokenizersBackend", example.ours(TEXTS)["input_ids"])


def test_a_marked_folder_that_cannot_be_run_exactly_gives_the_stock_class_and_a_warning(example: Any, tmp_path: Path) -> None:
    example.stock.save_pretrained(tmp_path)  # keeps the mark
    path = tmp_path / "tokenizer.json"
    bert = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    path.write_text(json.dumps({**json.loads(path.read_text()), "normalizer": bert}))
    with pytest.warns(RuntimeWarning, match="instead of HfBpeTokenizer"):
        loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert type(loaded) is PreTrainedTokenizerFast
    assert loaded.encode("ABC") == loaded.encode("abc")


def test_a_stock_tokenizer_saved_again_still_gives_our_class(example: Any, tmp_path: Path) -> None:
    example.stock.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert type(loaded) is HfBpeTokenizer
    assert loaded(TEXTS)["input_ids"] == example.ours(TEXTS)["input_ids"]


def test_arguments_reach_our_class_through_the_auto_class(example: Any) -> None:
    loaded = AutoTokenizer.from_pretrained(
        example.folder, padding_side="left", use_fast=True, model_max_length=12, trust_remote_code=True
    )
    assert (type(loaded), loaded.padding_side, loaded.model_max_length) == (HfBpeTokenizer, "left", 12)
    assert AutoTokenizer.from_pretrained(example.folder, use_fast=False)("a") == example.ours("a")


def test_registering_again_changes_nothing() -> None:
    from transformers.models.auto import tokenization_auto

    before = dict(tokenization_auto.REGISTERED_TOKENIZER_CLASSES)
    registration.install_registration()
    registration.register()
    assert before == tokenization_auto.REGISTERED_TOKENIZER_CLASSES


def test_without_transformers_private_table_only_the_ids_stay_the_same(example: Any, tmp_path: Path) -> None:
    (tmp_path / "texts").write_text(json.dumps(TEXTS), encoding="utf-8")
    code = f"""
import json, sys
from transformers.models.auto import tokenization_auto as auto
auto.REGISTERED_TOKENIZER_CLASSES = frozenset()
auto.AutoTokenizer.register = staticmethod(lambda *a, **k: None)
import hf_bpe
from transformers import AutoTokenizer
{REPORT}"""
    name, ids, *_ = run(code, str(example.folder), str(tmp_path / "texts"))
    assert (name, ids) == ("TokenizersBackend", example.ours(TEXTS)["input_ids"])


def test_a_repository_with_its_own_code_still_runs_it_when_trusted(example: Any, tmp_path: Path) -> None:
    example.stock.save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    config = json.loads(path.read_text())
    config.pop("hf_bpe")
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    config["auto_map"] = {"AutoTokenizer": [None, "their_code.TheirTokenizer"]}
    path.write_text(json.dumps(config))
    source = "from transformers import PreTrainedTokenizerFast\nclass TheirTokenizer(PreTrainedTokenizerFast):\n    pass\n"
    (tmp_path / "their_code.py").write_text(source)
    (tmp_path / "texts").write_text("[]")
    code = f"""
import json, os, sys
os.environ["HF_MODULES_CACHE"] = {str(tmp_path / "modules")!r}
import hf_bpe
from transformers import AutoTokenizer
print(json.dumps([type(AutoTokenizer.from_pretrained({str(tmp_path)!r}, trust_remote_code=t)).__name__ for t in (True, False)]))
"""
    assert run(code) == ["TheirTokenizer", "TokenizersBackend"]


def test_the_class_is_reached_from_the_package() -> None:
    assert hf_bpe.HfBpeTokenizer is HfBpeTokenizer
    with pytest.raises(AttributeError):
        hf_bpe.plugin.NoSuchName  # noqa: B018
    assert NAMES
