"""train: what it writes, and that it writes nothing when something is wrong."""

import json
import os

import pytest

import conversion
from tests.cli.samples import CORPUS, EOT

SMALL = ("--vocab-size", 320, "--special-token", EOT)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def test_default_is_a_hugging_face_folder(run, corpus, out, spec):
    result = run("train", corpus, "-o", out, *SMALL, "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert {path.name for path in out.iterdir()} == {"tokenizer.json", "tokenizer_config.json"}
    assert summary["format"] == "huggingface"
    assert summary["vocab_size"] == 320
    assert summary["special_tokens"] == {EOT: 319}
    assert summary["fingerprint"] == conversion.load(out).fingerprint == spec.fingerprint


@pytest.mark.parametrize("arguments", [("-",), ("-", "corpus")])
def test_stdin_is_learnt_from_like_a_file(run, corpus, tmp_path, arguments):
    files = [corpus if name == "corpus" else name for name in arguments]
    again = tmp_path / "again.txt"
    again.write_bytes(corpus.read_bytes())
    assert run("train", *files, "-o", tmp_path / "a.tiktoken", *SMALL, stdin=CORPUS).exit_code == 0
    assert run("train", *[corpus, again][: len(files)], "-o", tmp_path / "b.tiktoken", *SMALL).exit_code == 0
    assert conversion.load(tmp_path / "a.tiktoken") == conversion.load(tmp_path / "b.tiktoken")


@pytest.mark.parametrize(
    ("name", "flags", "written"),
    [
        ("x.tiktoken", (), ["x.tiktoken", "x.tiktoken.hf_bpe.json"]),
        ("tokenizer.json", (), ["tokenizer.json"]),
        ("folder", ("--format", "gpt2"), ["encoder.json", "hf_bpe.json", "vocab.bpe"]),
    ],
)
def test_format_by_name_or_option(run, corpus, tmp_path, spec, name, flags, written):
    target = tmp_path / "new" / name
    assert run("train", corpus, "-o", target, *SMALL, *flags).exit_code == 0
    assert sorted(path.name for path in tmp_path.glob("new/**/*") if path.is_file()) == written
    assert conversion.load(target).fingerprint == spec.fingerprint


def test_options_reach_the_trainer(run, corpus, tmp_path):
    options = ("--pattern", "gpt2", "--min-frequency", 3, "--max-token-length", 4, "--num-threads", 1)
    result = run("train", corpus, "-o", tmp_path / "x.tiktoken", "--vocab-size", 300, *options)
    assert result.exit_code == 0, result.output
    found = conversion.load(tmp_path / "x.tiktoken")
    assert "\\p{L}+" in found.pattern
    assert max(map(len, found.vocab)) == 4


def test_quiet_says_nothing_and_warnings_are_one_line(run, corpus, tmp_path):
    assert run("train", corpus, "-o", tmp_path / "a.tiktoken", *SMALL, "--quiet").output == ""
    result = run("train", corpus, "-o", tmp_path / "b.tiktoken", "--vocab-size", 5000, "--quiet")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: only ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.txt",), "nowhere.txt: does not exist"),
        (("corpus", "--vocab-size", 256, "--special-token", EOT), "at least 257"),
        (("corpus", "--pattern", "nonsense"), "'nonsense'; the names are gpt2"),
        (("corpus", "--pattern", "(a"), "(a"),
        (("corpus", "--pattern", "a*"), "empty string"),
        (("corpus", "--special-token", EOT, "--special-token", EOT), "distinct"),
        (("corpus", "--min-frequency", 0), "min_frequency"),
        (("latin",), "not UTF-8"),
        (("empty",), "empty"),
    ],
)
def test_what_cannot_be_trained_is_said_and_nothing_is_written(fails, corpus, out, tmp_path, arguments, said):
    (tmp_path / "latin").write_bytes("naïve".encode("latin-1"))
    (tmp_path / "empty").touch()
    named = {"corpus": corpus, "latin": tmp_path / "latin", "empty": tmp_path / "empty"}
    before = sorted(tmp_path.rglob("*"))
    assert said in fails("train", *(named.get(a, a) for a in arguments), "-o", out)
    assert sorted(tmp_path.rglob("*")) == before


def test_stdin_that_is_not_utf8_is_called_by_its_name(fails, out):
    assert "standard input: document 1, byte 2 of the text: not UTF-8" in fails("train", "-", "-o", out, stdin=b"na\xefve")


def test_existing_output_is_kept_unless_forced(run, fails, corpus, out):
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    assert "--force" in fails("train", corpus, "-o", out, *SMALL)
    assert [path.name for path in out.iterdir()] == ["notes.txt"]
    assert run("train", corpus, "-o", out, *SMALL, "--force").exit_code == 0
    assert (out / "notes.txt").read_text() == "mine"
    assert conversion.load(out).vocab_size == 320


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX pipes")
@pytest.mark.parametrize("flags", [(), ("--force",)])
def test_a_device_or_pipe_is_never_replaced(fails, corpus, tmp_path, flags):
    pipe = tmp_path / "pipe"  # stands for /dev/null, which a test must not put at risk
    os.mkfifo(pipe)
    assert "neither a file nor a folder" in fails("train", corpus, "-o", pipe, "--format", "tokenizer.json", *flags)
    assert pipe.is_fifo()


def test_an_empty_folder_is_no_output(run, corpus, out):
    out.mkdir()
    assert run("train", corpus, "-o", out, *SMALL).exit_code == 0


@pytest.mark.parametrize(
    "arguments", [(), ("corpus",), ("corpus", "-o", "x", "--num-threads", "0"), ("corpus", "-o", "x", "--format", "y")]
)
def test_usage_errors_exit_with_2(fails, corpus, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    fails("train", *arguments, code=2)
    assert not (tmp_path / "x").exists()
