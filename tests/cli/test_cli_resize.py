"""`hf-bpe resize`."""

import json

import pytest

from tests.editing.models import WIDTH, content, llama, load_tensors, new_spec, pruned_spec, save_model, save_tokenizer


@pytest.fixture
def model(tmp_path):
    save_model(tmp_path / "model", llama(304), shards=2)
    return tmp_path / "model"


@pytest.fixture
def new(tmp_path):
    return save_tokenizer(new_spec(), tmp_path / "new", bos_token="<s>", eos_token="</s>")


def test_the_plan_is_shown_before_the_model_is_replaced(run, model, new):
    result = run("resize", model, "--tokenizer", new, "--init", "pieces", "--pad-to-multiple-of", "64")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "rows: 304 -> 320" in result.stderr
    assert result.stderr.index("rows: 304 -> 320") < result.stderr.index(f"wrote {model}")
    assert load_tensors(model)["lm_head.weight"].shape == (320, WIDTH)


def test_a_dry_run_writes_nothing(run, model, new):
    before = content(model.parent)
    result = run("resize", model, "-t", new, "--dry-run")
    assert "nothing was written" in result.stderr
    assert content(model.parent) == before
    planned = json.loads(run("resize", model, "-t", new, "--dry-run", "--json").stdout)
    assert planned["tokens"] == {"kept": 300, "moved": 0, "gone": 0, "new": 3}
    assert content(model.parent) == before


def test_json_is_the_record_in_the_folder(run, model, new):
    result = run("resize", model, "-t", new, "--json", "-o", model.parent / "out", "--copy", "--seed", "5", "--init", "normal")
    assert json.loads(result.stdout) == json.loads((model.parent / "out" / "resize_record.json").read_text())
    assert result.stderr == ""


def test_an_id_map_is_followed(run, model, tmp_path):
    save_tokenizer(pruned_spec(), tmp_path / "new", bos_token="<s>", eos_token="</s>")
    first = run("resize", model, "-t", tmp_path / "new", "--shrink", "-q", "-o", tmp_path / "one")
    assert (first.exit_code, first.output) == (0, "")
    again = run(
        "resize",
        model,
        "-t",
        tmp_path / "new",
        "--shrink",
        "-o",
        tmp_path / "two",
        "--id-map",
        tmp_path / "one" / "id_map.json",
    )
    assert again.exit_code == 0, again.output
    one, two = (content(tmp_path / name) for name in ("one", "two"))
    assert {name for name in one if one[name] != two[name]} <= {"resize_record.json"}


def test_errors_speak_of_options(fails, model, new, tmp_path):
    message = fails("resize", model, "--tokenizer", new, "--embedding", "nothing")
    assert "which --embedding names" in message
    assert "no such file" in fails("resize", model, "--tokenizer", tmp_path / "nowhere").lower()
    (model / "pytorch_model.bin").write_bytes(b"x")
    assert "or pass --output, where it is left out" in fails("resize", model, "--tokenizer", new)
    assert "is no folder" in fails("resize", tmp_path / "nowhere", "--tokenizer", new)


@pytest.mark.parametrize("emptied", ["MODEL_DIR", "--tokenizer", "--old-tokenizer", "--id-map", "--output"])
def test_an_empty_path_is_not_the_current_folder(run, model, new, monkeypatch, emptied):
    monkeypatch.chdir(model)  # which would be replaced
    before = content(model)
    options = {"--tokenizer": new, "--old-tokenizer": model, "--id-map": "map.json", "--output": "new"} | {emptied: ""}
    arguments = (each for option, value in options.items() if option.startswith("--") for each in (option, value))
    found = run("resize", "" if emptied == "MODEL_DIR" else model, *arguments)
    assert (found.exit_code, "the path is empty" in found.stderr, content(model)) == (2, True, before)


def test_the_help_has_an_example(run):
    assert "hf-bpe resize my-model --tokenizer my-new-tokenizer" in " ".join(run("resize", "--help").stdout.split())
