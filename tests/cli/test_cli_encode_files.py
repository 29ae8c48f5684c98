"""`hf-bpe encode-files`: the options reach `encode_files`; what it says and where."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import hf_bpe
from tests.cli.samples import CORPUS, EOT


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps({"content": line}) + "\n" for line in CORPUS.splitlines()), "utf-8")
    return path


def test_encodes_and_says_what_it_wrote(run, tokenizer, lines, spec, tmp_path):
    out = tmp_path / "out"
    result = run("encode-files", tokenizer, lines, "-o", out, "--text-field", "content", "--eos", EOT, "--shard-tokens", 500)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    corpus = hf_bpe.open_encoded(out)
    encoder, end = hf_bpe.Encoder(spec), spec.special_tokens[EOT]
    assert [ids.tolist() for ids in corpus] == [[*encoder.encode_ordinary(line), end] for line in CORPUS.splitlines()]
    assert f"{corpus.tokens:,} ids (uint16) of 40 documents in {corpus.num_shards} shards" in " ".join(result.stderr.split())


def test_json_for_programs(run, tokenizer, lines, spec, tmp_path):
    with lines.open("a") as file:
        file.write("bad\n")
    arguments = ["encode-files", tokenizer, lines, "-o", tmp_path / "out", "--text-field", "content", "--json"]
    result = run(*arguments, "--on-bad", "skip", "--dtype", "uint32")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told.pop("seconds") >= 0
    assert told.pop("tokens") > 0
    assert told == {
        "output": str(tmp_path / "out"),
        "documents": 40,
        "skipped": 1,
        "shards": 1,
        "dtype": "uint32",
        "fingerprint": spec.fingerprint,
    }
    assert "warning: left out 1 document" in result.stderr


def test_separator_understands_escapes(run, tokenizer, corpus, tmp_path):
    assert run("encode-files", tokenizer, corpus, "-o", tmp_path / "out", "--separator", r"\n", "-q").exit_code == 0
    assert len(hf_bpe.open_encoded(tmp_path / "out")) == 40


def test_unknown_escape_is_a_usage_error(fails, tokenizer, corpus, tmp_path):
    message = fails("encode-files", tokenizer, corpus, "-o", tmp_path / "out", "--separator", r"\x", code=2)
    assert r"\x is not an escape" in message


@pytest.mark.parametrize("eos", [EOT, "0"])
def test_eos_by_name_or_id(run, tokenizer, corpus, spec, tmp_path, eos):
    assert run("encode-files", tokenizer, corpus, "-o", tmp_path / "out", "--eos", eos, "-q").exit_code == 0
    assert hf_bpe.open_encoded(tmp_path / "out")[0][-1] == spec.special_tokens.get(eos, 0)


def test_wrong_eos_or_dtype_is_a_usage_error(fails, tokenizer, corpus, tmp_path):
    arguments = ("encode-files", tokenizer, corpus, "-o", tmp_path / "out")
    assert f"its special tokens: '{EOT}'" in fails(*arguments, "--eos", "<eos>", code=2)
    assert "--eos" in fails(*arguments, "--eos", "99999", code=2)
    assert "'int64' is not one of" in fails(*arguments, "--dtype", "int64", code=2)


def test_bad_input_is_one_message(fails, tokenizer, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": 5}')
    message = fails("encode-files", tokenizer, tmp_path / "a.jsonl", "-o", tmp_path / "out")
    assert "line 1: invalid type: integer `5`, expected a string" in message


def test_another_run_in_the_folder_needs_force(run, tokenizer, corpus, tmp_path):
    arguments = ("encode-files", tokenizer, corpus, "-o", tmp_path / "out", "-q")
    assert run(*arguments).exit_code == 0
    assert run(*arguments).exit_code == 0
    refused = run(*arguments, "--eos", EOT)
    assert refused.exit_code == 1
    assert "eos: None there, " in refused.stderr
    assert run(*arguments, "--eos", EOT, "--force").exit_code == 0


def test_patterns_and_folders(run, tokenizer, tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "in" / name).write_text(name)
    for given in (tmp_path / "in", tmp_path / "in" / "*.txt"):
        assert run("encode-files", tokenizer, given, "-o", tmp_path / "out", "-q").exit_code == 0
        assert len(hf_bpe.open_encoded(tmp_path / "out")) == 2


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_says_how_to_go_on(tokenizer, spec, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text(CORPUS * 6_000, "utf-8")
    command = [sys.executable, "-m", "hf_bpe.cli", "encode-files", str(tokenizer), str(path), "-o", str(tmp_path / "out")]
    command += ["--separator", r"\n", "--shard-tokens", "500000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not (tmp_path / "out" / "shard-00000.bin").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b""), err
    assert b"interrupted; run the same command again to go on" in b" ".join(err.split())
    assert b"Traceback" not in err
    assert not hf_bpe.open_encoded(tmp_path / "out", allow_incomplete=True).complete
    subprocess.run(command, check=True, capture_output=True)
    ids = hf_bpe.open_encoded(tmp_path / "out")
    line = hf_bpe.Encoder(spec).encode_ordinary(CORPUS.splitlines()[0])
    assert len(ids) == 40 * 6_000
    assert all(np.array_equal(ids[number], line) for number in range(0, len(ids), 1_000))
