"""`hf-bpe compare`: names, corpora, prices, tables for any width, reports, and what goes wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

import conversion
from hf_bpe.cli import compare as command
from hf_bpe.cli import tables
from tests.support.vocabularies import CL100K_FILE, TEKKEN_FILE


@pytest.fixture
def other(spec, tmp_path):
    """A folder of another name with the same file name in it."""
    (tmp_path / "other").mkdir()
    conversion.save(
        spec.replace(merges=spec.merges[:0], vocab={t: n for t, n in spec.vocab.items() if len(t) == 1}),
        tmp_path / "other" / "tokenizer.json",
    )
    return tmp_path / "other" / "tokenizer.json"


def test_it_says_something_without_a_corpus(run, tokenizer):
    result = run("compare", tokenizer)
    assert result.exit_code == 0, result.output
    for shown in ("tokenizer.json", "Greek", "Python code", "× English", "markdown", "sums that", "Rényi"):
        assert shown in result.stdout


def test_tokenizers_that_need_no_file_go_by_their_names(run, tokenizer):
    told = json.loads(run("compare", "bytes", f"mine={tokenizer}", "--json").stdout)
    assert list(told["tokenizers"]) == ["bytes", "mine"]
    assert told["text"]["English"]["bytes"]["bytes_per_token"] == 1


def test_json_of_named_tokenizers_and_corpora(run, tokenizer, other, corpus, tmp_path):
    (tmp_path / "more.txt").write_text("more é\n", "utf-8")
    arguments = ("compare", f"mine={tokenizer}", other, "--corpus", f"en={corpus}", "--corpus", tmp_path / "more.txt", "--json")
    result = run(*arguments, "--price", "mine=2", "--currency", "EUR", "--words", "whitespace")
    content = json.loads(result.stdout)
    assert list(content["tokenizers"]) == ["mine", "tokenizer.json"]
    assert list(content["corpora"]) == ["en", "more.txt"]
    assert content["words"] == "whitespace"
    assert content["text"]["more.txt"]["tokenizer.json"]["tokens"] == 8
    assert content["text"]["more.txt"]["mine"]["cost"] == content["text"]["more.txt"]["mine"]["tokens"] * 2 / 1e6
    assert content["text"]["more.txt"]["tokenizer.json"]["cost"] is None


def test_files_of_one_name_are_told_apart_and_paths_under_one_name_are_one_corpus(run, tokenizer, other, corpus):
    both = ("--corpus", f"en={corpus}", "--corpus", f"en={corpus.parent / 'b.txt'}")
    (corpus.parent / "b.txt").write_text("b")
    content = json.loads(run("compare", tokenizer, other, *both, "--json").stdout)
    assert list(content["tokenizers"]) == [f"{tokenizer.parent.name}/tokenizer.json", "other/tokenizer.json"]
    assert content["corpora"]["en"]["documents"] == 2


def test_formats_and_patterns_by_name(run, corpus):
    arguments = (
        f"cl=tiktoken:{CL100K_FILE}",
        f"tk=tekken:{TEKKEN_FILE}",
        "--pattern",
        "cl=cl100k",
        "--corpus",
        f"x={corpus}",
        "--json",
    )
    content = json.loads(run("compare", *arguments).stdout)
    assert content["numbers"]["cl"]["grouping"] == {"scheme": "left", "size": 3}
    assert content["numbers"]["tk"]["grouping"] == {"scheme": "digits", "size": 1}


def test_standard_input_is_a_corpus(start, tokenizer):
    done = start("compare", tokenizer, "--corpus", "-", "--corpus", f"again={__file__}", "--json", stdin=b"one two\n")
    content = json.loads(done.stdout)
    assert content["corpora"]["standard input"]["words"] == 2
    assert done.stderr == b""


def test_parity_of_lines(run, tokenizer, tmp_path):
    for name, text in (("en", "a\nb\n"), ("de", "aa\nbbb\n"), ("fr", "a\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    parallel = [x for name in ("en", "de") for x in ("--parallel", f"{name}={tmp_path / name}.txt")]
    content = json.loads(run("compare", tokenizer, *parallel, "--json", "--reference", "de").stdout)
    assert content["parity"]["bytes"] == {"en": 0.4, "de": 1.0}


def test_reports_are_written(run, fails, tokenizer, corpus, tmp_path):
    targets = [tmp_path / "r.html", tmp_path / "r.json", tmp_path / "r.md"]
    options = [x for target in targets for x in ("-o", target)]
    result = run("compare", tokenizer, "--corpus", corpus, *options)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr.count("wrote") == 3
    assert "<svg" in targets[0].read_text("utf-8")
    assert json.loads(targets[1].read_text("utf-8"))["version"] == 1
    assert targets[2].read_text("utf-8").startswith("## Text")
    assert "pass --force" in fails("compare", tokenizer, "-o", targets[0])


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_lines_fit_the_terminal_and_what_is_left_out_is_said(tokenizer, monkeypatch, width, capsys):
    monkeypatch.setattr(tables, "out", Console(width=width, force_terminal=True, highlight=False, color_system=None))
    name = "a name of sixty characters, as paths have them, even more or"
    command.compare([f"{name}={tokenizer}"], price=[f"{name}=1"], quiet=True)
    shown = capsys.readouterr()
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown.out.splitlines()]
    assert max(map(len, lines)) <= width
    assert "bytes per" in shown.out
    assert name.replace(" ", "") in "".join(re.findall("(?m)^(?:English|       ) *(.*?)(?:  .*)?$", shown.out)).replace(" ", "")
    assert ("no room for" in shown.err) == (width < 160)
    assert "no figures for words of Chinese, Japanese: most letters" in shown.err


def test_a_pipe_has_every_column_and_no_colours(start, tokenizer, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    done = start("compare", f"a-name-that-is-long={tokenizer}", "--price", "a-name-that-is-long=1")
    shown = done.stdout.decode()
    assert b"no room" not in done.stderr
    assert "characters," in shown
    assert "\x1b" not in shown


def test_no_color_is_obeyed(tokenizer, start, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not re.search(rb"\x1b\[(?:3[0-9]|9[0-7]|38)m", start("compare", tokenizer).stdout)


def test_what_goes_wrong_is_said_in_one_line(fails, tokenizer, other, corpus, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"good \xff")
    (tmp_path / "empty.txt").write_bytes(b"")
    assert "in no format known here" in fails("compare", corpus)
    assert "two tokenizers are called 'x'" in fails("compare", f"x={tokenizer}", f"x={other}")
    message = fails("compare", tokenizer, "--price", "gpt2=1")
    assert "a price for 'gpt2', which is no tokenizer here; there are 'tokenizer.json'" in message
    message = fails("compare", tokenizer, "--corpus", f"x={tmp_path / 'bad.txt'}")
    assert "corpus 'x'" in message
    assert "byte 5 of the text: not UTF-8: byte 0xFF" in message
    assert "leave such documents out with --on-bad skip" in message
    assert "corpus 'empty.txt': holds no text" in fails("compare", tokenizer, "--corpus", tmp_path / "empty.txt")
    assert "does not exist" in fails("compare", tokenizer, "--corpus", "nowhere.txt")
    assert "must end in .html, .json or .md" in fails("compare", tokenizer, "-o", tmp_path / "r.pdf")
    assert "is the only parallel corpus" in fails("compare", tokenizer, "--parallel", corpus)
    (tmp_path / "b.txt").write_text("a\nb\n")
    message = fails("compare", tokenizer, "--parallel", corpus, "--parallel", tmp_path / "b.txt")
    assert "'corpus.txt', which has 40; 'b.txt' has 2" in message
    assert "not JSON" in fails("compare", tokenizer, "--data", corpus)


def test_wrong_options_are_usage_errors(fails, tokenizer):
    assert "is not NAME=PRICE" in fails("compare", tokenizer, "--price", "2.5", code=2)
    assert "is not NAME=PRICE" in fails("compare", tokenizer, "--price", "x=cheap", code=2)
    assert "another pattern for all" in fails("compare", tokenizer, "--pattern", "gpt2", "--pattern", "cl100k", code=2)
    assert "unicode" in fails("compare", tokenizer, "--words", "letters", code=2)
    assert "Missing argument" in fails("compare", code=2)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_while_it_waits_for_standard_input_ends_it_and_leaves_no_file(tokenizer, tmp_path):
    program = """if True:
        import sys
        import hf_bpe.training.corpus as corpus
        from hf_bpe.cli import main

        read = corpus._Pipe.read

        def told(self, size=-1):
            print("waiting", flush=True)
            return read(self, size)

        corpus._Pipe.read = told
        main()
    """
    command = [sys.executable, "-c", program, "compare", str(tokenizer), "--corpus", "-", "-o", str(tmp_path / "r.json")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"waiting\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert not (tmp_path / "r.json").exists()
