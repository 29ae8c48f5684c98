"""verify: two tokenizers or two loaders, on screen, as JSON and by exit status."""

import json
import signal
import subprocess
import sys
import time

import pytest

import conversion
from tests.cli.samples import EOT
from tests.conversion.support import spec_of_tokens
from tests.support.vocabularies import byte_spec

KEYS = [
    *(
        "layout",
        "equal",
        "cause",
        "smallest",
        "a",
        "b",
        "documents",
        "differing",
        "origins",
        "explained",
        "a_tokens",
        "b_tokens",
    ),
    *("proof", "compared", "unsaid", "differences", "causes", "first", "interrupted"),
]


@pytest.fixture
def pair(tmp_path):
    """Two tokenizers that differ in one merge."""
    paths = tmp_path / "a" / "tokenizer.json", tmp_path / "b" / "tokenizer.json"
    for path, spec in zip(paths, (spec_of_tokens([b"#@"]), byte_spec()), strict=True):
        conversion.save(spec, path)
    return paths


def test_equal_tokenizers_exit_with_0_and_say_why(run, tokenizer):
    result = run("verify", tokenizer, tokenizer)
    assert result.exit_code == 0
    assert "equal: 0 of" in result.stdout
    assert "proof: equal on every input: one engine (hf_bpe) runs both, and both have the same dialect, " in result.stdout


def test_two_loaders_of_one_folder_are_compared(run, tokenizer):
    result = run("verify", f"stock:{tokenizer.parent}", f"tiktoken:{tokenizer}")
    assert result.exit_code == 0, result.output
    assert "run by transformers" in result.stdout
    assert "run by tiktoken" in result.stdout
    assert "two libraries run them, so this is no proof" in result.stdout


def test_different_tokenizers_exit_with_1_and_show_the_tokens_side_by_side(run, pair):
    result = run("verify", *pair)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert any(line.startswith("different: ") for line in lines)
    assert (
        "the descriptions differ in their merges: 1 against 0 entries; entry 0 is (b'#', b'@') against nothing" in result.stdout
    )
    shown = next(n for n, line in enumerate(lines) if line.startswith("cause: merges, in "))
    assert lines[shown + 1] == "  '#@'  (special tokens as plain text)"
    assert lines[shown + 2].split() == ["A", "B"]
    assert lines[shown + 3].split() == ["≠", "'#@'", "256", "'#'", "35", "'@'", "64"]  # marked without colour too


def test_json_has_the_documented_layout(run, pair, corpus):
    result = run("verify", *pair, "--corpus", corpus, "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert list(report) == KEYS
    assert (report["layout"], report["equal"], report["cause"], report["interrupted"]) == (1, False, "merges", False)
    assert [origin["origin"] for origin in report["origins"]] == ["built-in", "generated", "corpus"]
    smallest = report["smallest"]
    assert (smallest["text"], smallest["cause"], smallest["a_ids"], smallest["b_ids"]) == ("#@", "merges", [256], [35, 64])
    assert smallest["rows"] == [
        {"a": [{"id": 256, "text": "#@"}], "b": [{"id": 35, "text": "#"}, {"id": 64, "text": "@"}], "same": False}
    ]
    assert report["causes"][0]["smallest"] == smallest
    assert report["differences"][0] == {
        "name": "merges",
        "cause": "merges",
        "detail": "1 against 0 entries; entry 0 is (b'#', b'@') against nothing",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere", "nowhere"), "nowhere"),
        (("llama.cpp:{}", "{}"), "llama.cpp runs GGUF files; choose another loader"),
        (("{}", "{}", "--corpus", "nowhere.txt"), "nowhere.txt: does not exist"),
    ],
)
def test_what_cannot_be_compared_exits_with_2(fails, tokenizer, arguments, message):
    assert message in fails("verify", *(argument.format(tokenizer) for argument in arguments), code=2)


def test_special_tokens_and_patterns_go_to_the_sides_that_do_not_say_them(run, tokenizer, tmp_path):
    run("convert", tokenizer, tmp_path / "x.tiktoken")
    (tmp_path / "x.tiktoken.hf_bpe.json").unlink()
    given = ("--pattern", "cl100k", "--special-token", f"{EOT}=319")
    assert run("verify", f"tiktoken:{tmp_path / 'x.tiktoken'}", tokenizer, *given).exit_code == 0


def test_ctrl_c_reports_what_is_known_so_far(pair, tmp_path):
    big = tmp_path / "big.txt"
    big.write_text("#@ some words and more of them\n" * 2_000_000)
    command = [sys.executable, "-m", "hf_bpe.cli", "verify", *map(str, pair), "--corpus", str(big), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = ""
    while "MB/s" not in seen and "M/" not in seen:  # the bar moves: the corpus is being read
        seen += process.stderr.read(1)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    report = json.loads(output)
    assert report["interrupted"]
    assert report["smallest"]["text"] == "#@"
