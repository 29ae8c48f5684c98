"""`hf-bpe push` without a Hub: the card it would send, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard
from typer.testing import CliRunner

from hf_bpe import AddedToken
from hf_bpe.cli.app import app
from hf_bpe.plugin import HfBpeTokenizer
from tests.support.vocabularies import byte_spec


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    HfBpeTokenizer.from_spec(byte_spec("gpt2", added_tokens=(AddedToken("<s>", 256),))).save_pretrained(tmp_path / "tok")
    return tmp_path / "tok"


def push(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["push", *map(str, arguments)])


def test_a_dry_run_shows_the_card_and_sends_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("één gedicht", "utf-8")
    done = push(folder, "me/tok", "--dry-run", "--license", "mit", "--language", "nl", "--corpus", tmp_path / "poem.txt")
    assert done.exit_code == 0, done.output
    card = ModelCard(done.output)
    assert card.data.to_dict() == {
        "library_name": "transformers",
        "tags": ["tokenizer", "bpe"],
        "license": "mit",
        "language": ["nl"],
    }
    for said in ("# tok", "| poem | 1.00 |", "| `<s>` | 256 |", 'from_pretrained("me/tok")', "gpt2"):
        assert said in card.text
    assert "| tokenizers" in card.text.split("## Verified")[1]


@pytest.mark.parametrize(
    ("auto", "says"), [("marker", "No code"), ("class-name", "5 or later"), ("remote-code", "trust_remote_code")]
)
def test_the_card_says_how_the_recipe_loads(folder: Path, auto: str, says: str) -> None:
    assert says in push(folder, "me/tok", "--dry-run", "--auto", auto).output


def test_an_unknown_recipe_is_a_usage_error(folder: Path) -> None:
    done = push(folder, "me/tok", "--auto", "magic")
    assert (done.exit_code, "remote-code" in done.output) == (2, True)


def test_without_a_hub_it_says_so_in_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    done = push(folder, "me/tok")
    assert (done.exit_code, "offline mode" in done.output, "Traceback" in done.output) == (1, True, False)


def test_what_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    done = push(tmp_path, "me/tok")
    assert (done.exit_code, "no tokenizer.json" in done.output) == (1, True)


def test_a_dry_run_shows_the_readme_of_the_folder_as_that_is_what_would_be_sent(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "README.md").write_text("# Mine\n")
    assert push(tmp_path, "me/tok", "--dry-run").output.strip() == "# Mine"
    (tmp_path / "README.md").write_text(push(folder, "me/old", "--dry-run").output.rstrip() + "\n", "utf-8")
    assert "# tok" in push(tmp_path, "me/tok", "--dry-run").output
