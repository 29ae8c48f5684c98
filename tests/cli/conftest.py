"""A small tokenizer on disk, and ways to run the command."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import conversion
import hf_bpe
from hf_bpe.cli import app
from tests.cli.samples import CORPUS, EOT


@pytest.fixture(scope="session")
def spec():
    return hf_bpe.train(iter([CORPUS]), vocab_size=320, special_tokens=[EOT], progress=False)


@pytest.fixture
def tokenizer(spec, tmp_path):
    """A tokenizer.json."""
    conversion.save(spec, tmp_path / "tokenizer.json")
    return tmp_path / "tokenizer.json"


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(CORPUS, "utf-8")
    return path


@pytest.fixture
def run():
    """Run the command in this process; gives exit_code, stdout, stderr."""

    def invoke(*arguments, stdin=None):
        return CliRunner().invoke(app, list(map(str, arguments)), input=stdin)

    return invoke


@pytest.fixture
def start():
    """Run the command in a process of its own, bytes in and out."""

    def invoke(*arguments, stdin=b""):
        command = [sys.executable, "-m", "hf_bpe.cli", *map(str, arguments)]
        return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)

    return invoke


@pytest.fixture
def fails(run):
    """Assert that a command fails with one message of a few lines and no traceback; gives the message."""

    def check(*arguments, code=1, stdin=None):
        result = run(*arguments, stdin=stdin)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        if code == 1 or arguments[0] == "verify":
            assert result.stderr.startswith("error: ")
            assert len(result.stderr.splitlines()) == 1
        return " ".join(result.stderr.replace("│", " ").split())

    return check
