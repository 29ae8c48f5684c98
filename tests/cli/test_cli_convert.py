"""convert, verify, inspect."""

import json
from dataclasses import replace

import pytest
from tokenizers import Tokenizer
from transformers import AutoTokenizer

import conversion
from hf_bpe.charsmap import build_charsmap
from hf_bpe.plugin import HfBpeTokenizer
from tests.cli.samples import EOT
from tests.conversion.test_matrix import pieces
from tests.support.vocabularies import byte_spec


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("x.tiktoken", ()),
        ("gpt2", ("--to", "gpt2")),
        ("vm", ("--to", "vocab-merges")),
        ("tokenizer.json", ()),
        ("folder", ()),
        ("my_encoding", ("--to", "tiktoken-plugin")),
    ],
)
def test_converts_to_every_format_and_back(run, tokenizer, tmp_path, spec, name, flags):
    target = tmp_path / "there" / name
    there = run("convert", tokenizer, target, *flags, "--json")
    assert there.exit_code == 0, there.output
    summary = json.loads(there.stdout)
    assert summary["fingerprint"] == spec.fingerprint
    assert all(str(target.parent) in file for file in summary["files"])
    assert run("convert", target, tmp_path / "back" / "tokenizer.json").exit_code == 0
    assert conversion.load(tmp_path / "back" / "tokenizer.json") == spec


def test_formats_with_conditions_of_their_own_are_written_and_read_by_name(run, fails, tmp_path):
    sound = tmp_path / "tokenizer.json"
    conversion.save(byte_spec("gpt2"), sound)
    for name, flags in [("tekken.json", ()), ("x.gguf", ()), ("x.model", ("--to", "minbpe"))]:
        target = tmp_path / "there" / name
        assert run("convert", sound, target, *flags).exit_code == 0
        source = ("--from", flags[1]) if flags else ()
        assert run("convert", target, tmp_path / "back" / name / "tokenizer.json", *source).exit_code == 0
        assert conversion.load(tmp_path / "back" / name / "tokenizer.json") == byte_spec("gpt2")
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    assert "x.gguf: byte 4: the version needs 4 bytes" in fails("inspect", tmp_path / "x.gguf")


def test_bare_rank_file_needs_a_pattern_and_takes_special_tokens(run, fails, tokenizer, tmp_path, spec):
    run("convert", tokenizer, tmp_path / "x.tiktoken")
    (tmp_path / "x.tiktoken.hf_bpe.json").unlink()
    target = tmp_path / "new" / "tokenizer.json"
    assert "pattern" in fails("convert", tmp_path / "x.tiktoken", target)
    assert not target.parent.exists()
    given = ("--pattern", "cl100k", "--special-token", f"{EOT}=319")
    assert run("convert", tmp_path / "x.tiktoken", target, *given).exit_code == 0
    assert conversion.load(target) == spec
    assert run("verify", tmp_path / "x.tiktoken", tokenizer, *given, "--official").exit_code == 0
    assert run("inspect", tmp_path / "x.tiktoken", *given).exit_code == 0


@pytest.mark.parametrize("given", ["x", "=5", "x=", "x=y", "x=-1"])
def test_special_token_without_an_id_is_a_usage_error(fails, tokenizer, tmp_path, given):
    assert "NAME=ID" in fails("convert", tokenizer, tmp_path / "y", "--special-token", given, code=2)


def test_what_a_format_cannot_hold_is_refused_and_nothing_written(run, fails, spec, tmp_path):
    first, second, *rest = spec.merges
    conversion.save(spec.replace(merges=(second, first, *rest)), tmp_path / "tokenizer.json")
    target = tmp_path / "new" / "x.tiktoken"
    assert "tiktoken" in fails("convert", tmp_path / "tokenizer.json", target)
    assert not target.parent.exists()
    assert run("convert", tmp_path / "tokenizer.json", target, "--allow-lossy").exit_code == 0
    assert target.is_file()


def test_existing_target_and_unclear_name(fails, tokenizer, tmp_path):
    before = tokenizer.read_bytes()
    assert "--force" in fails("convert", tokenizer, tokenizer)
    assert tokenizer.read_bytes() == before
    assert "does not say which format" in fails("convert", tokenizer, tmp_path / "x.json", code=2)
    assert "no format is named 'nonsense'" in fails("convert", tokenizer, tmp_path / "x", "--to", "nonsense", code=2)


def test_verify_counts_documents_and_exits_with_1_on_a_difference(run, tokenizer, corpus, spec, tmp_path):
    run("convert", tokenizer, tmp_path / "x.tiktoken")
    equal = run("verify", tokenizer, tmp_path / "x.tiktoken", "--corpus", corpus, "--official", "--json")
    assert equal.exit_code == 0, equal.output
    report = json.loads(equal.stdout)
    assert report["equal"]
    assert {origin["origin"] for origin in report["origins"]} == {"built-in", "generated", "corpus"}
    assert "tiktoken" in report["b"]

    fewer = spec.replace(merges=spec.merges[:-1])
    conversion.save(fewer, tmp_path / "fewer" / "tokenizer.json")
    different = run("verify", tokenizer, tmp_path / "fewer", "--corpus", corpus)
    assert different.exit_code == 1
    assert "documents differ" in different.stdout
    assert not json.loads(run("verify", tokenizer, tmp_path / "fewer", "--corpus", corpus, "--json").stdout)["equal"]


def test_verify_with_a_missing_corpus(fails, tokenizer, tmp_path):
    assert "nowhere" in fails("verify", tokenizer, tokenizer, "--corpus", tmp_path / "nowhere", code=2)


def test_inspect_shows_and_json_holds_the_facts(run, tokenizer, spec):
    facts = json.loads(run("inspect", tokenizer, "--json").stdout)
    assert facts["vocab_size"] == facts["n_vocab"] == 320
    assert facts["merges"] == len(spec.merges)
    assert facts["special_tokens"] == {EOT: 319}
    assert facts["pattern_name"] == "cl100k"
    assert facts["unreachable_tokens"] == 0
    assert facts["fingerprint"] == spec.fingerprint
    longest = facts["longest_tokens"]
    assert longest[0]["bytes"] == max(map(len, spec.vocab))
    shown = run("inspect", tokenizer).stdout
    assert all(fact in shown for fact in ("cl100k", "byte_level", EOT, spec.fingerprint[:40]))


def test_inspect_counts_unreachable_tokens(run, spec, tmp_path):
    conversion.save(spec.replace(merges=spec.merges[:-1]), tmp_path / "tokenizer.json")
    assert json.loads(run("inspect", tmp_path / "tokenizer.json", "--json").stdout)["unreachable_tokens"] == 1


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"\xff\xfe", b"nonsense", b'{"model": {"type": "Unigram"}}'])
def test_damaged_tokenizers_are_named(fails, tmp_path, content):
    (tmp_path / "tokenizer.json").write_bytes(content)
    assert "tokenizer.json" in fails("inspect", tmp_path / "tokenizer.json")


# -- verdict ----------------------------------------------------------------------------------------------------------


def test_the_verdict_of_an_exact_conversion_is_said(run, tokenizer, tmp_path):
    result = run("convert", tokenizer, tmp_path / "x.tiktoken")
    assert "tiktoken: exact under a condition: the same ids for every text\n  if tiktoken is given" in result.stderr
    assert "checked: merging by id is merging by the list of merges" in result.stderr


def test_a_dry_run_says_the_verdict_and_writes_nothing(run, tokenizer, tmp_path):
    for target, kind in (
        ("x.tiktoken", "exact under"),
        ("y.model", "lossy"),
        ("folder", "exact"),
        ("tekken.json", "impossible"),
    ):
        result = run("convert", tokenizer, tmp_path / target, "--dry-run")
        assert result.exit_code == 0
        assert f": {kind}" in result.stdout
        assert not (tmp_path / target).exists()
    verdict = json.loads(run("convert", tokenizer, tmp_path / "y.model", "--dry-run", "--json").stdout)
    assert (verdict["verdict"], verdict["files"]) == ("lossy", [])
    assert verdict["loss"]["smallest"]["source_ids"] != verdict["loss"]["smallest"]["target_ids"]


def test_a_lossy_conversion_is_measured_on_a_corpus_and_reported_beside_the_result(run, fails, tokenizer, tmp_path):
    target = tmp_path / "x.model"
    assert "--allow-lossy writes the nearest file" in fails("convert", tokenizer, target)
    verdict = json.loads(run("convert", tokenizer, target, "--dry-run", "--json").stdout)
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(verdict["loss"]["smallest"]["text"], "utf-8")
    said = run("convert", tokenizer, target, "--allow-lossy", "--corpus", corpus)
    assert "smallest counterexample: " in said.stderr
    assert "documents of the corpus" in said.stderr
    report = json.loads((tmp_path / "x.model.hf_bpe.verdict.json").read_text("utf-8"))
    assert report["loss"]["corpus"] == {"texts": 1, "differing": 1}
    whole = tmp_path / "whole.json"
    conversion.save(conversion.load(tokenizer).replace(pattern=None), whole, format="tokenizer.json")
    assert run("convert", whole, target, "--force").exit_code == 0
    assert not (tmp_path / "x.model.hf_bpe.verdict.json").exists()


def test_a_lossy_folder_is_refused_or_written_with_its_report(run, fails, tokenizer, tmp_path):
    rules = pieces().sentencepiece
    unused = tuple(replace(piece, kind="unused") if piece.content == "ab" else piece for piece in rules.pieces)
    conversion.save(pieces().replace(sentencepiece=replace(rules, pieces=unused)), tmp_path / "x.model")
    target = tmp_path / "folder"
    message = fails("convert", tmp_path / "x.model", target)
    assert "1 unused pieces come apart again" in message
    assert "--allow-lossy writes the nearest" in message
    assert not target.exists()
    assert run("convert", tmp_path / "x.model", target, "--allow-lossy").exit_code == 0
    report = json.loads((target / "hf_bpe.verdict.json").read_text("utf-8"))
    assert (report["format"], report["verdict"]) == ("huggingface", "lossy")
    assert report["loss"]["smallest"]["source_ids"] != report["loss"]["smallest"]["target_ids"]
    assert conversion.load(target).dialect == "sentencepiece"
    assert run("convert", tokenizer, target, "--force").exit_code == 0
    assert not (target / "hf_bpe.verdict.json").exists()


def test_what_no_folder_can_hold_is_refused_even_as_the_nearest(fails, tmp_path):
    spec = pieces()
    charsmap = build_charsmap({b"A": b"a"})
    conversion.save(
        spec.replace(sentencepiece=replace(spec.sentencepiece, precompiled_charsmap=charsmap)), tmp_path / "x.model"
    )
    message = fails("convert", tmp_path / "x.model", tmp_path / "folder", "--allow-lossy")
    assert "no folder of this package can hold: $.normalizer holds a Precompiled charsmap" in message
    assert not (tmp_path / "folder").exists()


def test_messages_speak_of_options_not_of_arguments(fails, tmp_path):
    (tmp_path / "x.tiktoken").write_bytes(b"YQ== 0\n")
    assert "pass --pattern one of gpt2" in fails("convert", tmp_path / "x.tiktoken", tmp_path / "tokenizer.json")
    (tmp_path / "y").write_bytes(b"?")
    assert "choose one with --from" in fails("convert", tmp_path / "y", tmp_path / "tokenizer.json")


# -- what goes along --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tokenizer):
    """A Hugging Face folder with bos before every text, and a chat template."""
    spec = conversion.load(tokenizer)
    made = HfBpeTokenizer.from_spec(
        spec, bos_token=EOT, add_bos_token=True, chat_template="{{ bos_token }}{{ messages[0].content }}"
    )
    made.save_pretrained(tokenizer.parent / "source")
    return tokenizer.parent / "source"


def test_a_folder_from_a_folder_keeps_what_is_put_around_texts(run, folder, tmp_path):
    result = run("convert", folder, tmp_path / "target", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["left_out"] == []
    before, after = (AutoTokenizer.from_pretrained(path) for path in (folder, tmp_path / "target"))
    assert after("ab").input_ids == before("ab").input_ids
    assert before("ab").input_ids[0] == 319
    assert after.chat_template == before.chat_template
    assert after.special_tokens_map == before.special_tokens_map


def test_a_file_from_a_file_keeps_the_post_processor(run, folder, tmp_path):
    assert run("convert", folder / "tokenizer.json", tmp_path / "tokenizer.json", "--force").exit_code == 0
    assert Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode("ab").ids[0] == 319
    assert run("convert", folder / "tokenizer.json", tmp_path / "target").exit_code == 0
    assert AutoTokenizer.from_pretrained(tmp_path / "target")("ab").input_ids[0] == 319


def test_what_does_not_go_along_is_said(run, folder, tmp_path):
    said = run("convert", folder, tmp_path / "x.tiktoken").stderr
    assert f"left out: the source's post_processor, which puts '{EOT}' before every text" in said
    assert "left out: the source's tokenizer_config.json, chat_template.jinja: which tokens" in said


def test_force_does_not_leave_the_old_tokenizer_in_charge(run, fails, tokenizer, folder):
    before = sorted(path.name for path in folder.iterdir())
    assert "tokenizer.json in it would be read in place" in fails("convert", tokenizer, folder, "--to", "gpt2", "--force")
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_special_token_with_two_ids_is_a_usage_error(fails, tokenizer, tmp_path):
    twice = ("--special-token", "<q>=1", "--special-token", "<q>=2")
    assert "'<q>' is named twice" in fails("convert", tokenizer, tmp_path / "y", *twice, code=2)


def test_options_that_a_file_does_not_take_are_refused_in_the_words_of_the_command(fails, tokenizer):
    message = fails("inspect", tokenizer, "--pattern", "gpt2")
    assert message.endswith("load it without --pattern and --special-token")
