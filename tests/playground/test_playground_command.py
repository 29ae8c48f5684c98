"""`hf-bpe playground`: what is served, where, and the folder of a Space."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

import conversion
from hf_bpe.analysis import loaded_examples
from hf_bpe.cli import app
from hf_bpe.errors import FormatError, PlaygroundError
from hf_bpe.playground import launching, sharing
from hf_bpe.playground.launching import shelf_of
from hf_bpe.playground.serving import bind
from hf_bpe.playground.shelf import Shelf
from hf_bpe.playground.spaces import write_space
from tests.support.playground import CHATTY, call
from tests.support.vocabularies import CL100K_FILE, byte_spec


def run(*arguments):
    return CliRunner().invoke(app, ["playground", *map(str, arguments)])


@pytest.fixture
def tokenizers(tmp_path):
    """Two folders of one name."""
    paths = [tmp_path / where / "same" for where in ("one", "two")]
    for path in paths:
        conversion.save(byte_spec("gpt2").with_added_tokens(["<|endoftext|>"]), path, format="huggingface")
        (path / "chat_template.jinja").write_text(CHATTY, "utf-8")
    return paths


def test_two_tokenizers_of_one_name_are_told_apart(tokenizers):
    names = [shown.name for shown in shelf_of(tokenizers).given()]
    assert names[:2] == ["same", "same (2)"]
    assert names[-2:] == ["small", "bytes"]  # there without a file


def test_the_chat_template_of_a_folder_is_its_own(tokenizers):
    assert shelf_of(tokenizers[:1]).given()[0].chat[0] == CHATTY


def test_a_pattern_is_for_those_that_need_one(tokenizers):
    shelf = shelf_of([CL100K_FILE, tokenizers[0]], pattern="cl100k")
    assert [shown.name for shown in shelf.given()[:2]] == ["cl100k_base.tiktoken", "same"]
    with pytest.raises(FormatError, match="does not say how text is split"):
        shelf_of([CL100K_FILE, tokenizers[0]])


def test_examples_can_be_named_and_are_not_offered_twice():
    names = [(shown.name, shown.first) for shown in shelf_of(["bytes", "gpt2"]).given()]
    assert names[:2] == [("bytes", True), ("gpt2", True)]
    assert len(dict(names)) == len(names) == len(loaded_examples())
    assert not any(first for _, first in names[2:])


def test_a_file_that_is_no_tokenizer_ends_the_command_with_its_name(tmp_path):
    (tmp_path / "notes.txt").write_text("hello", "utf-8")
    done = run(tmp_path / "notes.txt")
    assert done.exit_code == 1
    assert "notes.txt: in no format known here" in done.stderr.replace("\n", "")
    assert run(tmp_path / "nothing").exit_code == 1


def test_a_port_that_is_taken_is_named_and_the_default_looks_for_another():
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = run("--port", port)
        assert done.exit_code == 1
        assert f"cannot listen on 127.0.0.1 port {port}" in done.stderr
    with bind("127.0.0.1", None) as first, bind("127.0.0.1", None) as second:
        assert 7860 <= first.getsockname()[1] < second.getsockname()[1]


@pytest.mark.parametrize(("host", "port"), [("no.such.host.invalid", 0), ("256.1.1.1", 0), ("127.0.0.1", 70000)])
def test_a_host_or_port_that_does_not_exist_is_named(host, port):
    with pytest.raises(PlaygroundError, match="port"):
        bind(host, port)


def test_missing_packages_are_named_with_how_to_get_them(monkeypatch):
    monkeypatch.setattr(launching, "find_spec", lambda name: None if name == "uvicorn" else object())
    done = run()
    assert done.exit_code == 1
    assert "pip install 'hf-bpe[playground]'" in done.stderr
    assert "uvicorn" in done.stderr


def test_sharing_without_gradio_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gradio.networking", None)
    with pytest.raises(PlaygroundError, match="pip install gradio"):
        sharing.share_port(7860)


def test_sharing_that_fails_says_what_to_do_instead(monkeypatch):
    def fails(*_):
        raise RuntimeError("Could not get share link")

    monkeypatch.setitem(sys.modules, "gradio.networking", type(sys)("networking"))
    sys.modules["gradio.networking"].setup_tunnel = fails
    with pytest.raises(PlaygroundError, match="ssh -L 7860"):
        sharing.share_port(7860)
    sys.modules["gradio.networking"].setup_tunnel = lambda host, port, *_: f"https://x.example/{host}/{port}"
    assert sharing.share_port(7860) == "https://x.example/127.0.0.1/7860"


def test_the_last_uploads_are_kept_and_others_cannot_guess_their_keys():
    shelf = Shelf()
    keys = [shelf.upload("x", byte_spec(), "uploaded", (None, {})).key for _ in range(9)]
    assert len(set(keys)) == 9
    with pytest.raises(PlaygroundError, match="no longer here"):
        shelf.find(keys[0])
    assert shelf.find(keys[1]).name == "x"
    shelf.upload("y", byte_spec(), "uploaded", (None, {}))
    assert shelf.find(keys[1]).key == keys[1]  # it was used since
    with pytest.raises(PlaygroundError):
        shelf.find(keys[2])


# -- Spaces -----------------------------------------------------------------------------------------------------------


def started(arguments, folder, **environment):
    """A server in a process of its own, and its answer to the first request."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *(argument.replace("PORT", str(port)) for argument in arguments)],
        cwd=folder,
        env=os.environ | {"PORT": str(port), "PYTHONPATH": str(Path.cwd()), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
                return process, answer.read().decode(), port
        except OSError:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.1)
    raise AssertionError("it does not answer")


def stop(process):
    """What it printed until it was interrupted."""
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=20)
    return printed.decode()


def test_a_space_is_one_folder_that_runs_as_it_is(tokenizers, tmp_path):
    space = tmp_path / "space"
    done = run("--space", space, tokenizers[0])
    assert done.exit_code == 0, done.stderr
    assert {path.name for path in space.iterdir()} == {"app.py", "Dockerfile", "README.md", "requirements.txt", "tokenizers"}
    head = (space / "README.md").read_text("utf-8").split("---")[1]
    for line in ("sdk: docker", "app_port: 7860"):
        assert line in head.splitlines()
    assert re.fullmatch(r"hf-bpe\[playground\]==[\d.]+\w*\n", (space / "requirements.txt").read_text("utf-8"))
    process, page, port = started(["app.py"], space)
    try:
        assert 'data-name="same"' in page
        assert 'class="token' in page
        # A Space is called by the name of its host, not by that of a machine.
        assert call(f"http://127.0.0.1:{port}/", host="me-space.hf.space").status == 200
    finally:
        printed = stop(process)
    assert printed == f"The playground is at http://127.0.0.1:{port}\n"


def test_a_space_does_not_overwrite_and_holds_no_two_of_one_name(tokenizers, tmp_path):
    space = tmp_path / "space"
    space.mkdir()
    (space / "mine.txt").write_text("mine", "utf-8")
    assert run("--space", space, tokenizers[0]).exit_code == 1
    assert run("--space", space, tokenizers[0], "--force").exit_code == 0
    with pytest.raises(PlaygroundError, match="'same' is there already"):
        write_space(tmp_path / "other", tokenizers)
    assert not (tmp_path / "other").exists()


def test_the_command_serves_until_it_is_interrupted(tokenizers, tmp_path):
    process, page, _ = started(["-m", "hf_bpe.cli", "playground", "--port", "PORT", *map(str, tokenizers)], tmp_path)
    assert 'data-name="same (2)"' in page
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert b"The playground is at http://127.0.0.1:" in said
    assert b"Traceback" not in said
