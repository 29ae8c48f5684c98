"""convert, verify, inspect."""

import json

import pytest
from cli_samples import EOT

import conversion
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
