"""counts: what is counted, shown, merged and trained on, and what an interruption leaves."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import conversion
import hf_bpe
from tests.cli.samples import CORPUS, EOT

SMALL = ("--vocab-size", 320)


@pytest.fixture
def counted(run, corpus, tmp_path):
    path = tmp_path / "counts.parquet"
    result = run("counts", "make", corpus, "-o", path, "--special-token", EOT)
    assert result.exit_code == 0, result.output
    return path


def test_training_on_counts_gives_what_training_on_the_text_gives(run, counted, tmp_path, spec):
    assert run("train", "--counts", counted, "-o", tmp_path / "x.tiktoken", *SMALL).exit_code == 0
    assert conversion.load(tmp_path / "x.tiktoken").fingerprint == spec.fingerprint


def test_make_says_what_it_made(run, corpus, tmp_path):
    path = tmp_path / "counts.parquet"
    told = json.loads(run("counts", "make", corpus, "-o", path, "--json").stdout)
    counts = hf_bpe.WordCounts.load(path)
    assert told["words"] == len(counts)
    assert told["occurrences"] == counts.occurrences
    assert told["text_bytes"] == len(CORPUS.encode())
    assert told["checksum"] == counts.checksum
    assert run("counts", "make", corpus, "-o", tmp_path / "quiet.parquet", "--quiet").output == ""


def test_stdin_folders_and_patterns_are_counted(run, corpus, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl").write_text(json.dumps({"body": "from the file"}) + "\n")
    options = ("--text-field", "body", "-o", tmp_path / "x.parquet")
    assert run("counts", "make", "-", folder / "*.jsonl", *options, stdin="from a pipe").exit_code == 0
    found = dict(hf_bpe.WordCounts.load(tmp_path / "x.parquet").items())
    assert found == {b"from": 2, b" the": 1, b" file": 1, b" a": 1, b" pipe": 1}


def test_show_tells_how_words_were_counted_and_which_are_frequent(run, counted):
    shown = run("counts", "show", counted, "--top", 2)
    assert shown.exit_code == 0
    counts = hf_bpe.WordCounts.load(counted)
    assert EOT in shown.stdout
    assert f"words:           {len(counts):,}, " in shown.stdout
    (word, times), _ = counts.most_common(2)
    assert f"{times:>15,}  {json.dumps(word.decode())}" in shown.stdout
    told = json.loads(run("counts", "show", counted, "--json", "--top", 1).stdout)
    assert told["most_common"] == [[word.decode(), times]]
    assert told["rules"]["special_tokens"] == [EOT]


def test_merge_adds_up_by_weight(run, fails, counted, tmp_path):
    path = tmp_path / "merged.parquet"
    weights = ("--weight", "1/2", "--weight", 1)
    assert run("counts", "merge", counted, counted, "-o", path, *weights).exit_code == 0
    once = dict(hf_bpe.WordCounts.load(counted).items())
    assert dict(hf_bpe.WordCounts.load(path).items()) == {word: 3 * times for word, times in once.items()}
    assert "--force" in fails("counts", "merge", counted, "-o", path)
    assert "weights must be a list of 1 numbers" in fails("counts", "merge", counted, "-o", tmp_path / "y.parquet", *weights)


def test_bad_files_are_named_or_left_out_on_request(run, fails, corpus, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "not to be counted"}\n{"text": 1}\n')
    output = tmp_path / "x.parquet"
    assert "bad.jsonl: line 2: " in fails("counts", "make", bad, corpus, "-o", output)
    result = run("counts", "make", bad, corpus, "-o", output, "--skip-bad-files", "--quiet")
    assert result.exit_code == 0
    assert "warning: left out 1 of 2 files: " in result.stderr
    assert "bad.jsonl: line 2: " in result.stderr
    assert "bad.jsonl: line 2: " in run("counts", "show", output).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "-o", "x.tiktoken"), "files to train on, or word counts"),
        (("train", "corpus", "--counts", "counted", "-o", "x.tiktoken"), "one of the three"),
        (("counts", "make", "corpus"), "--output"),
        (("counts", "make", "corpus", "-o", "x.parquet", "--drop-words-below", "1"), "--drop-words-below"),
        (("counts", "nonsense"), "nonsense"),
    ],
)
def test_usage_errors_exit_with_2(fails, corpus, counted, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    named = {"corpus": corpus, "counted": counted}
    assert said in fails(*(named.get(a, a) for a in arguments), code=2)
    assert not (tmp_path / "x.tiktoken").exists()


def test_counts_of_another_split_are_not_trained_on(run, counted, tmp_path):
    result = run("train", "--counts", counted, "-o", tmp_path / "x.tiktoken", "--pattern", "gpt2")
    assert result.exit_code == 1
    assert "the text was cut into words in another way" in result.stderr
    assert "- pattern: " in result.stderr
    assert not (tmp_path / "x.tiktoken").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_at_any_moment_and_the_same_command_again(tmp_path) -> None:
    corpus, output = tmp_path / "corpus", tmp_path / "out.parquet"
    corpus.mkdir()
    for number in range(6):
        (corpus / f"{number}.txt").write_text("".join(f"line {number} {n} of {n * n % 9973}\n" for n in range(60_000)))
    command = [sys.executable, "-c", _COMMAND, "counts", "make", str(corpus), "-o", str(output), "--num-threads", "1"]
    interrupted = 0
    for delay in (0.05, 0.3):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"  # the imports are done, and counting begins
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        if process.returncode == 0:
            break
        assert process.returncode == 130, said
        assert f"{output}.partial: run the same command again to go on" in said
        interrupted += 1
    assert interrupted
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert hf_bpe.WordCounts.load(output).checksum == hf_bpe.WordCounts.count(corpus, progress=False).checksum
    assert sorted(tmp_path.iterdir()) == [corpus, output]


_COMMAND = """
import sys
from hf_bpe.training.counting import count, make
from hf_bpe.cli import main
original = make.count_inputs
def begun(*arguments, **options):
    print("begun", flush=True)
    return original(*arguments, **options)
make.count_inputs = begun
main()
"""
