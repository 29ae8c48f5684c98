"""The command as a process: help, light import, Ctrl-C, broken pipe, traceback on request."""

import os
import signal
import subprocess
import sys

import pytest

COMMANDS = ("train", "encode", "encode-files", "decode", "convert", "verify", "inspect", "quickstart")
HEAVY = ("transformers", "torch", "tokenizers", "tiktoken", "numpy")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: hf-bpe {command}" in result.stdout or f"| hf-bpe {command}" in result.stdout


def test_no_arguments_show_the_commands(run):
    shown = run().output
    assert all(command in shown for command in COMMANDS)


def test_unknown_command_is_a_usage_error(fails):
    assert "Did you mean 'encode'" in fails("encoed", code=2)


def test_version(start):
    assert start("--version").stdout.startswith(b"hf-bpe ")


def test_import_is_light():
    program = f"import sys, hf_bpe.cli; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout.strip() == b"[]"


def test_traceback_only_on_request(start, tmp_path):
    plain = start("inspect", tmp_path / "nowhere")
    assert plain.returncode == 1
    assert plain.stdout == b""
    assert b"Traceback" not in plain.stderr
    assert b"Traceback" in start("--traceback", "inspect", tmp_path / "nowhere").stderr


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals and pipes")
def test_ctrl_c_is_quiet(tokenizer):
    """While it waits for standard input, and says so here: importing may take a second or ten."""
    program = """if True:
        import sys
        from types import SimpleNamespace
        from hf_bpe.cli import main

        def read(stdin=sys.stdin.buffer):
            print("waiting", flush=True)
            return stdin.read()

        sys.stdin = SimpleNamespace(buffer=SimpleNamespace(read=read))
        main()
    """
    command = [sys.executable, "-c", program, "encode", str(tokenizer)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals and pipes")
@pytest.mark.parametrize("length", [1, 1_000_000])
def test_broken_pipe_is_quiet(tokenizer, tmp_path, length):
    (tmp_path / "text").write_text("x " * length)
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "hf_bpe.cli", "encode", str(tokenizer), "--file", str(tmp_path / "text")]
    finished = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert finished.returncode == 1
    assert finished.stderr == b""


def test_output_that_cannot_show_a_character_shows_its_escape(tokenizer):
    command = [sys.executable, "-m", "hf_bpe.cli", "inspect", str(tokenizer)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0
