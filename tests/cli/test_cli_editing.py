"""`hf-bpe prune`, `extend`, `rename`, `audit`."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

import conversion
from hf_bpe import Encoder
from hf_bpe.editing import IdMap
from hf_bpe.plugin import HfBpeTokenizer
from tests.support.vocabularies import gpt2_spec

TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"


@pytest.fixture(scope="module")
def gpt2_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2") / "gpt2"
    HfBpeTokenizer.from_spec(gpt2_spec(), chat_template=TEMPLATE, eos_token="<|endoftext|>").save_pretrained(folder)
    return folder


def test_a_pruned_folder_keeps_its_template_and_says_which_id_became_which(run, gpt2_folder, tmp_path):
    found = run("prune", gpt2_folder, tmp_path / "pruned", "--token", "Ġtheorem")
    assert "tokens go" in found.stdout
    pruned, id_map = HfBpeTokenizer.from_pretrained(tmp_path / "pruned"), IdMap.load(tmp_path / "pruned.id_map.json")
    assert (pruned.chat_template, pruned.eos_token) == (TEMPLATE, "<|endoftext|>")
    ids = Encoder(gpt2_spec()).encode("the theory", disallowed_special=())
    assert pruned("the theory")["input_ids"] == [id_map.kept[token_id] for token_id in ids]


def test_pruning_by_a_corpus_tells_what_it_does_to_it(run, gpt2_folder, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("hello world, hello words " * 50, "utf-8")
    arguments = ("prune", gpt2_folder, tmp_path / "x.json", "--to", "tokenizer.json", "--corpus", text, "--vocab-size", 40_000)
    assert "nothing was written" in run(*arguments, "--dry-run").stderr
    record = json.loads(run(*arguments, "--json").stdout)
    assert record["vocab_size"] == 40_000
    assert record["effect"]["changed"] == 0
    assert len(record["removed"]) == 10_257
    assert record["fingerprints"]["after"] == conversion.load(tmp_path / "x.json").fingerprint
    again = run(*arguments)
    assert (again.exit_code, "exists" in again.stderr) == (1, True)


def test_extending_learns_tokens_and_adds_those_that_are_given(run, gpt2_folder, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("ὁ λόγος ἦν " * 20, "utf-8")
    options = ("--corpus", text, "--tokens", 5, "--add-special", "<|tool|>", "--add-block", "image=3", "--add", "Ωmega", "-q")
    found = run("extend", gpt2_folder, tmp_path / "more", *options)
    assert "10 tokens are new, 50,267 in all" in found.stdout
    assert "1 of 1 texts changes" in found.stdout
    spec = conversion.load(tmp_path / "more")
    assert Encoder(spec).encode("<|image_2|><|tool|>", allowed_special="all") == [50265, 50262]
    assert IdMap.load(tmp_path / "more.id_map.json").made.keys() == {*range(50257, 50267)}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "nothing is to be added"),
        (("--tokens", 5), "no corpus is named"),
        (("--add-block", "image"), "is not NAME=COUNT"),
    ],
)
def test_extending_by_nothing_is_a_wrong_use(run, gpt2_folder, tmp_path, options, said):
    found = run("extend", gpt2_folder, tmp_path / "more", *options)
    assert found.exit_code == 2
    assert said in " ".join(found.stderr.replace("│", " ").split())


def test_what_is_there_already_is_not_added_again(run, gpt2_folder, tmp_path):
    assert "are there already" in run("extend", gpt2_folder, tmp_path / "more", "--add-special", "<|endoftext|>").stderr


def test_a_renamed_token_keeps_its_id_and_its_role(run, gpt2_folder, tmp_path):
    found = run("rename", gpt2_folder, tmp_path / "renamed", "--token", "<|endoftext|>=<|end|>")
    assert "50256: <|endoftext|> -> <|end|>" in found.stderr
    renamed = HfBpeTokenizer.from_pretrained(tmp_path / "renamed")
    assert (renamed.eos_token, renamed.eos_token_id) == ("<|end|>", 50256)
    assert "is not OLD=NEW" in run("rename", gpt2_folder, tmp_path / "x", "--token", "a").stderr


def test_auditing_a_model_names_the_rows_that_look_untrained(run, gpt2_folder, tmp_path):
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(50304, 16)).astype(np.float32)
    rows[[177, 188, 262, *range(50257, 50304)]] = 0.3 + generator.normal(size=(50, 16)) * 0.01
    save_file({"wte.weight": rows}, tmp_path / "model.safetensors")
    found = json.loads(
        run("audit", gpt2_folder, "--model", tmp_path, "--json", "--untrained", 50300, "--untrained", 50301).stdout
    )
    suspected = {token["id"] for token in found["tokens"] if "undertrained" in token["findings"]}
    assert suspected == {177, 188, 262}
    assert found["counts"]["no text"] == 13
    assert "undertrained" in run("audit", gpt2_folder, "--model", tmp_path).stdout
