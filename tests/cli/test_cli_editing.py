"""`hf-bpe prune`, `extend`, `rename`, `audit`."""

import json
import re
import shutil

import numpy as np
import pytest
from safetensors.numpy import save_file

import conversion
from hf_bpe import Encoder
from hf_bpe.editing import IdMap
from hf_bpe.plugin import HfBpeTokenizer
from tests.support.pieces import PACKAGED
from tests.support.vocabularies import gpt2_spec

TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"


@pytest.fixture(scope="module")
def gpt2_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2") / "gpt2"
    HfBpeTokenizer.from_spec(gpt2_spec(), chat_template=TEMPLATE, eos_token="<|endoftext|>").save_pretrained(folder)
    return folder


def test_a_pruned_folder_keeps_its_template_and_says_which_id_became_which(run, gpt2_folder, tmp_path):
    found = run("prune", gpt2_folder, tmp_path / "pruned", "--token", "Ġtheorem")
    assert (found.exit_code, found.stdout) == (0, "")
    assert "gone: ' theorem' (" in found.stderr
    assert found.stderr.index("gone:") < found.stderr.index("wrote ")
    pruned, id_map = HfBpeTokenizer.from_pretrained(tmp_path / "pruned"), IdMap.load(tmp_path / "pruned.id_map.json")
    assert (pruned.chat_template, pruned.eos_token) == (TEMPLATE, "<|endoftext|>")
    ids = Encoder(gpt2_spec()).encode("the theory", disallowed_special=())
    assert pruned("the theory")["input_ids"] == [id_map.kept[token_id] for token_id in ids]


def test_pruning_by_a_corpus_tells_what_it_does_to_it(run, gpt2_folder, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("hello world, hello words " * 50, "utf-8")
    arguments = ("prune", gpt2_folder, tmp_path / "x.json", "--to", "tokenizer.json", "--corpus", text, "--vocab-size", 40_000)
    planned = run(*arguments, "--dry-run")
    assert "nothing was written" in planned.stderr
    assert sorted(tmp_path.iterdir()) == [text]
    (size,) = re.findall(r"x\.json: ([\d,]+) bytes", planned.stdout)
    dry = json.loads(run(*arguments, "--dry-run", "--json").stdout)
    record = json.loads(run(*arguments, "--json").stdout)
    assert dry == record == json.loads((tmp_path / "x.json.record.json").read_text())
    assert int(size.replace(",", "")) == record["files"][0]["bytes"] == (tmp_path / "x.json").stat().st_size
    assert record["vocab_size"] == 40_000
    assert record["effect"]["changed"] == 0
    assert len(record["removed"]) == 10_257
    assert record["fingerprints"]["after"] == conversion.load(tmp_path / "x.json").fingerprint
    again = run(*arguments)
    assert (again.exit_code, "exists" in again.stderr) == (1, True)


def test_extending_learns_tokens_and_adds_those_that_are_given(run, gpt2_folder, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("ὁ λόγος ἦν " * 20, "utf-8")
    options = ("--corpus", text, "--tokens", 5, "--add-special", "<|tool|>", "--add-block", "image=3", "--add", "Ωmega")
    found = run("extend", gpt2_folder, tmp_path / "more", *options)
    assert "tokens: 50,257 -> 50,267; 50,257 kept (0 with another id), 0 gone, 10 new" in found.stderr
    assert "1 of 1 texts changes" in found.stderr
    record = json.loads((tmp_path / "more.record.json").read_text())
    assert record["added"]["50262"] == "<|tool|>"
    assert record["blocks"] == {"image": {"first": 50263, "count": 3}}
    assert record["tokens"] == {"kept": 50257, "moved": 0, "gone": 0, "new": 10}
    spec = conversion.load(tmp_path / "more")
    assert Encoder(spec).encode("<|image_2|><|tool|>", allowed_special="all") == [50265, 50262]
    assert IdMap.load(tmp_path / "more.id_map.json").made.keys() == {*range(50257, 50267)}


def test_a_language_goes_by_its_text(run, fails, gpt2_folder, tmp_path):
    english, french = tmp_path / "en.txt", tmp_path / "fr.txt"
    english.write_text("The house is there, and the school is not.", "utf-8")
    french.write_text("Un rapport de police.", "utf-8")
    options = ("--unwanted", french, "--corpus", english)
    found = run("prune", gpt2_folder, tmp_path / "x", *options)
    assert "unwanted: 1 of 1 texts changes: " in found.stderr
    assert "corpus: 0 of 1 texts change: " in found.stderr
    record = json.loads((tmp_path / "x.record.json").read_text())
    assert "Ġrapport" in record["removed"].values()
    assert "Ġthe" not in record["removed"].values()
    assert record["effect_on_unwanted"]["changed"] == 1
    assert "without a corpus of what is to remain" in fails("prune", gpt2_folder, tmp_path / "y", "--unwanted", french)


def test_the_plan_says_which_habits_new_pieces_keep(run, fails, gpt2_folder, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("1987 1987 λόγος, λόγος, " * 5, "utf-8")
    options = ("--corpus", text, "--tokens", 2, "--dry-run")
    source = PACKAGED["mistral v1"]
    planned = run("extend", source, tmp_path / "x.model", *options).stdout
    assert "holds a digit beside another character, and no new one does; --no-split-digits would allow it" in planned
    assert "--no-split-by-unicode-script would allow it" in planned
    record = json.loads(run("extend", source, tmp_path / "x.model", *options, "--no-split-digits", "--json").stdout)
    assert record["habits"] == {"split_digits": False, "split_by_unicode_script": True, "split_by_number": True}
    assert "▁1" in record["added"].values()
    assert "only for SentencePiece models" in fails("extend", gpt2_folder, tmp_path / "x", *options, "--split-digits")


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


def test_an_ordinary_token_is_not_cut_out_of_other_words(run, fails, gpt2_folder, tmp_path):
    assert "'the' is a token that merging makes" in fails("extend", gpt2_folder, tmp_path / "x", "--add", "the")
    assert not (tmp_path / "x").exists()
    found = run(
        "extend", gpt2_folder, tmp_path / "x", "--add-special", "<|endoftext|>", "--add-special", "<|new|>", "--dry-run"
    )
    assert "'<|endoftext|>' is there already and keeps its id\n" in found.stdout
    found = run("extend", gpt2_folder, tmp_path / "x", "--add-special", " the", "--dry-run")
    assert "' the' is there already and keeps its id; special from now on" in found.stdout
    both = ("--add", "<|new|>", "--add-special", "<|new|>")
    assert "'<|new|>' is to be a special token and a plain one" in fails("extend", gpt2_folder, tmp_path / "x", *both)


@pytest.mark.parametrize("option", ["--add", "--add-special"])
def test_an_empty_text_is_no_token_to_add(fails, gpt2_folder, tmp_path, option):
    assert "a token to add is empty" in fails("extend", gpt2_folder, tmp_path / "x", option, "")


def test_what_is_there_already_is_not_added_again(run, gpt2_folder, tmp_path):
    assert "are there already" in run("extend", gpt2_folder, tmp_path / "more", "--add-special", "<|endoftext|>").stderr


def test_a_block_is_one_range(fails, gpt2_folder, tmp_path):
    options = ("--add-special", "<|image_1|>", "--add-block", "image=3")
    assert "'image' are there already: <|image_1|>" in fails("extend", gpt2_folder, tmp_path / "more", *options)


def test_a_block_of_more_tokens_than_there_are_ids_is_refused_at_once(fails, gpt2_folder, tmp_path):
    assert "ids end at 2,147,483,647" in fails("extend", gpt2_folder, tmp_path / "more", "--add-block", "image=99999999999")


def test_a_replaced_token_gives_its_id_to_another(run, fails, gpt2_folder, tmp_path):
    listed = tmp_path / "tokens.tsv"
    text = tmp_path / "text.txt"
    text.write_text("a theorem and qzvk", "utf-8")
    target = tmp_path / "new"
    listed.write_text(" SolidGoldMagikarp\t qzvk\n", "utf-8")
    refused = fails("replace", gpt2_folder, target, "--tokens", listed)
    assert "b' q' b'z' b'v' b'k', and a merge joins two; put b' qz', b' qzv' in the place of other tokens" in refused
    listed.write_text("Ġtheorem\t qz\nĠinformants\t qzv\n SolidGoldMagikarp\t qzvk\n", "utf-8")
    found = run("replace", gpt2_folder, target, "--tokens", listed, "--corpus", text)
    assert "replaced: 43453: ' SolidGoldMagikarp' -> ' qzvk'" in found.stderr
    assert "1 of 1 texts changes" in found.stderr
    assert Encoder(conversion.load(target)).encode(" qzvk") == [43453]
    assert dict(IdMap.load(tmp_path / "new.id_map.json").made).keys() == IdMap.load(tmp_path / "new.id_map.json").gone
    listed.write_text("Ġtheorem\t qz\nĠtheorem\t qzz\n", "utf-8")
    assert "line 2: 'Ġtheorem' is named twice" in fails("replace", gpt2_folder, tmp_path / "x", "--tokens", listed)
    twice = ("--token", "Ġtheorem= qv", "--tokens", listed)
    assert "line 1: 'Ġtheorem' is named twice" in fails("replace", gpt2_folder, tmp_path / "x", *twice)
    listed.write_text("Ġtheorem", "utf-8")
    assert "line 1 is not a token, a tab," in fails("replace", gpt2_folder, tmp_path / "x", "--tokens", listed)
    warned = run("replace", gpt2_folder, tmp_path / "x", "--token", "Ġinformants=Ġq", "--dry-run")
    assert "Ġ is that letter" in warned.stderr


def test_a_renamed_token_keeps_its_id_and_its_role(run, gpt2_folder, tmp_path):
    found = run("rename", gpt2_folder, tmp_path / "renamed", "--token", "<|endoftext|>=<|end|>")
    assert "50256: <|endoftext|> -> <|end|>" in found.stderr
    renamed = HfBpeTokenizer.from_pretrained(tmp_path / "renamed")
    assert (renamed.eos_token, renamed.eos_token_id) == ("<|end|>", 50256)
    assert "is not OLD=NEW" in run("rename", gpt2_folder, tmp_path / "x", "--token", "a").stderr


def test_what_is_wrong_about_a_renaming_is_said_of_it(fails, gpt2_folder, tmp_path):
    said = fails("rename", gpt2_folder, tmp_path / "x", "--token", "<|nothing|>=<|end|>")
    assert said.startswith("error: there is no token '<|nothing|>' to rename; the added tokens are '<|endoftext|>'")
    said = fails("rename", gpt2_folder, tmp_path / "x", "--token", "<|endoftext|>=the")
    assert said.startswith("error: 'the' cannot be a new name, as there is a token of that name; choose another")


def test_the_plan_has_notes_of_rules_without_effect(run, gpt2_folder, tmp_path):
    found = run("prune", gpt2_folder, tmp_path / "x", "--script", "Ogham", "--vocab-size", 50_000, "--dry-run")
    assert "note: no token holds a character of 'Ogham'" in found.stdout
    assert "note: 257 tokens are chosen by their ids, the highest first" in found.stdout


def test_a_model_follows_a_renamed_token_by_the_id_map(run, gpt2_folder, tmp_path):
    run("rename", gpt2_folder, tmp_path / "renamed", "--token", "<|endoftext|>=<|end|>", "-q")
    id_map = IdMap.load(tmp_path / "renamed.id_map.json")
    assert (dict(id_map.kept), id_map.gone, dict(id_map.made)) == ({i: i for i in range(50257)}, frozenset(), {})


@pytest.mark.parametrize(("answer", "options", "written"), [("n", (), False), ("y", (), True), ("", ("--yes",), True)])
def test_on_a_terminal_the_command_asks_before_it_writes(run, tokenizer, tmp_path, monkeypatch, answer, options, written):
    monkeypatch.setattr("hf_bpe.cli.console._is_interactive", lambda: True)
    target = tmp_path / "new" / "tokenizer.json"
    found = run("extend", tokenizer, target, "--add-special", "<|tool|>", *options, stdin=f"{answer}\n".encode())
    assert ("Write these files?" in found.output) == (not options)
    assert found.exit_code == (0 if written else 1)
    assert target.exists() == target.parent.exists() == written


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer.json.id_map.json", "tokenizer.json.record.json"])
def test_nothing_is_written_over_unless_forced(run, fails, tokenizer, tmp_path, name):
    target = tmp_path / "new" / "tokenizer.json"
    target.parent.mkdir()
    (target.parent / name).write_text("before")
    arguments = ("extend", tokenizer, target, "--add-special", "<|tool|>")
    assert "exists; choose another name" in fails(*arguments)
    assert (target.parent / name).read_text() == "before"
    assert run(*arguments, "--force").exit_code == 0
    assert (target.parent / name).read_text() != "before"


def test_a_tokenizer_may_be_replaced_by_its_edited_self(run, gpt2_folder, tmp_path):
    shutil.copytree(gpt2_folder, tmp_path / "own")
    (tmp_path / "own" / "config.json").write_text('{"model_type": "gpt2"}')
    assert run("extend", tmp_path / "own", tmp_path / "own", "--add-special", "<|tool|>", "--force").exit_code == 0
    assert (tmp_path / "own" / "config.json").read_text() == '{"model_type": "gpt2"}'
    assert conversion.load(tmp_path / "own").special_tokens["<|tool|>"] == 50257


def test_old_files_that_name_tokens_are_noted(run, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    shutil.copy(PACKAGED["mistral v1"], source / "tokenizer.model")
    arguments = ("extend", source, "--add-special", "<|tool|>")
    planned = run(*arguments[:2], tmp_path / "new", *arguments[2:], "--dry-run").stdout
    assert (
        f"note: tokenizer.model of {source}, with the old tokens, is not taken over; tokenizer.json, tokenizer_config.json"
        in planned
    )
    assert "note:" not in run(*arguments[:2], tmp_path / "new.model", *arguments[2:], "--dry-run").stdout
    record = json.loads(run(*arguments[:2], source, *arguments[2:], "--force", "--json").stdout)
    assert record["notes"] == [f"tokenizer.model in {source} stays, with the tokens of another vocabulary; remove it"]
    assert (
        "note:" not in run("extend", source / "tokenizer.json", tmp_path / "new", "--add-special", "<|x|>", "--dry-run").stdout
    )


def test_what_cannot_be_written_is_refused_by_the_plan(fails, gpt2_folder, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tokenizer.json").write_text("{}")
    options = ("--to", "vocab-merges", "--force")
    assert "would be read in place" in fails("extend", gpt2_folder, tmp_path / "out", "--add-special", "<|x|>", *options)


def test_the_field_of_a_corpus_can_be_named(run, gpt2_folder, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"content": "qz qz"}\n' * 3)
    options = ("--corpus", rows, "--text-field", "content", "--dry-run")
    found = run("extend", gpt2_folder, tmp_path / "x", "--tokens", 1, *options)
    assert "3 of 3 texts change: " in found.stdout
    assert "corpus: 0 of 3" in run("prune", gpt2_folder, tmp_path / "x", "--min-count", 1, *options).stdout
    assert "unused" in run("audit", gpt2_folder, *options[:-1]).stdout


def test_the_audit_says_what_it_reads_and_can_write_it_all(run, fails, tokenizer, tmp_path):
    target = tmp_path / "audit.json"
    planned = run("audit", tokenizer, "--output", target, "--dry-run")
    assert "320 tokens" in planned.stdout
    assert f"to write: {target}" in planned.stdout
    assert not target.exists()
    found = run("audit", tokenizer, "--output", target)
    assert f"wrote {target}" in found.stderr
    assert json.loads(target.read_text()) == json.loads(run("audit", tokenizer, "--json").stdout)
    assert "exists" in fails("audit", tokenizer, "--output", target)


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


@pytest.fixture
def untied(spec, tmp_path):
    """A model whose tensors have names that nobody knows."""
    generator = np.random.default_rng(2)
    tensors = {name: generator.normal(1, 1, (384, 16)).astype(np.float32) for name in ("a.table", "b.table")}
    for rows in tensors.values():
        rows[[spec.vocab[b"Z"], *range(320, 384)]] *= 0.001
    model = tmp_path / "untied"
    model.mkdir()
    save_file(tensors | {"c.table": np.zeros((30, 16), np.float32)}, model / "model.safetensors")
    return model


def test_tensors_to_audit_can_be_named(run, spec, tokenizer, untied):
    options = ("--model", untied, "--embedding", "a.table", "--head", "b.table", "--untrained", 370)
    found = json.loads(run("audit", tokenizer, *options, "--json").stdout)
    assert [token["id"] for token in found["tokens"] if "undertrained" in token["findings"]] == [spec.vocab[b"Z"]]
    rows = found["rows"]
    assert (rows["embedding"], rows["head"]) == ("a.table in model.safetensors", "b.table in model.safetensors")
    assert (rows["indicator"], rows["untrained"]) == ("norm", [370])
    shown = run("audit", tokenizer, *options).stdout
    assert "undertrained: norm up to" in shown
    tied = ("--model", untied, "--embedding", "a.table", "--head", "a.table")
    assert "undertrained: distance up to" in run("audit", tokenizer, *tied).stdout


def test_suspects_are_shown_with_their_counts(run, tokenizer, untied, tmp_path):
    (tmp_path / "text.txt").write_text("Z Z")
    options = ("--model", untied, "--embedding", "a.table", "--corpus", tmp_path / "text.txt", "--untrained", 370)
    shown = run("audit", tokenizer, *options).stdout
    assert "in the corpus" in shown
    assert re.search(r"│\s*\d+ │ 'Z' +│ +[\d.e-]+ │ +[\d.e-]+ │ +2 │", shown)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            (),
            "Name the embedding with --embedding NAME, and the head, if it is not tied, with --head NAME; rows enough have a.table",
        ),
        (("--embedding", "d"), "no tensor 'd', which --embedding names. Name"),
        (("--embedding", "c.table"), "take the tokenizer that the model was trained with"),
        (("--embedding", "a.table", "--head", "c.table"), "name the one that goes with it as --head"),
        (("--embedding", "a.table", "--untrained", 400), "row 400 is said to be untrained, and a.table in"),
        (("--embedding", "a.table", "--untrained", 400), "name others with --untrained"),
    ],
)
def test_what_an_audit_advises_are_options_that_it_has(fails, tokenizer, untied, options, message):
    said = " ".join(fails("audit", tokenizer, "--model", untied, *options).split())
    assert message in said
    assert "--old-tokenizer" not in said
    assert "=" not in said


def test_rows_are_not_asked_about_without_a_model(fails, tokenizer):
    for option in (("--untrained", 5), ("--embedding", "x"), ("--head", "x")):
        assert "--model" in fails("audit", tokenizer, *option, code=2)
