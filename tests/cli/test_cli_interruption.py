"""Ctrl-C in commands that edit: one line says whether anything was written."""

import os
import signal
import subprocess
import sys

import pytest

WAITING = """if True:
    import time
    import conversion
    from hf_bpe.cli import main

    def load(*given, **options):
        print("waiting", flush=True)
        time.sleep(60)

    conversion.load = load
    main()
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("command", ["extend", "prune", "replace", "rename", "audit"])
def test_who_interrupts_an_edit_is_told_that_nothing_was_written(tokenizer, tmp_path, command):
    options = {
        "extend": (str(tmp_path / "new"), "--add", "xyz"),
        "audit": (),
    }.get(command, (str(tmp_path / "new"), "--token", "a=b"))
    call = [sys.executable, "-c", WAITING, command, str(tokenizer), *options]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"interrupted; nothing was written\n")
    assert [*tmp_path.iterdir()] == [tokenizer]


@pytest.mark.parametrize("count", [0, 2, 4])
def test_what_is_there_when_files_were_taking_their_places_is_named(run, tokenizer, tmp_path, monkeypatch, count):
    from hf_bpe.cli.edited_files import put_in_place

    def interrupted(target, format_name, contents):
        put_in_place(target, format_name, dict([*contents.items()][:count]))
        raise KeyboardInterrupt

    monkeypatch.setattr("hf_bpe.cli.edited.put_in_place", interrupted)
    target = tmp_path / "new.json"
    (tmp_path / "new.json.id_map.json").write_text("before")
    found = run("extend", tokenizer, target, "--to", "tokenizer.json", "--add", "xyz", "--force", "-q")
    names = [target, tmp_path / "new.json.id_map.json", tmp_path / "new.json.record.json"][:count]
    said = f"written by then: {', '.join(map(str, names))}" if names else "nothing was written"
    assert (found.exit_code, found.stderr) == (130, f"interrupted; {said}\n")


def test_who_interrupts_before_the_command_is_imported_is_told_the_same(run, tokenizer, tmp_path, monkeypatch):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["hf_bpe.cli.app"], "_imported", interrupted)
    found = run("extend", tokenizer, tmp_path / "new", "--add", "xyz")
    assert (found.exit_code, found.stderr) == (130, "interrupted; nothing was written\n")


def test_ctrl_c_at_the_question_is_no_answer(run, tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr("hf_bpe.cli.console._is_interactive", lambda: True)
    found = run("extend", tokenizer, tmp_path / "new", "--add", "xyz", stdin=b"")
    assert found.exit_code == 130
    assert found.stderr.endswith("interrupted; nothing was written\n")
    assert not (tmp_path / "new").exists()
