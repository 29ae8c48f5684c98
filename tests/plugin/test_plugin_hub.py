"""Pushing to the Hub and loading back, on a small server of this machine; and what is said when it does not work."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub import ModelCard

import conversion
from hf_bpe import CorpusError, HubAccessDenied, HubConflict, HubError, HubNotFound, HubUnreachable
from hf_bpe.plugin import HfBpeTokenizer
from tests.plugin.samples import CHAT_TEMPLATE, TEXTS
from tests.support.hub_server import READ_TOKEN, TOKEN, Hub, running_hub
from tests.support.vocabularies import cl100k_spec


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A Hub that this process talks to. Other processes are told by HF_ENDPOINT."""
    with running_hub() as hub:
        template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        for name, value in {
            "ENDPOINT": hub.url,
            "HUGGINGFACE_CO_URL_TEMPLATE": template,
            "HF_HUB_OFFLINE": False,
            "HF_HUB_CACHE": str(tmp_path / "cache"),
            "HF_TOKEN_PATH": str(tmp_path / "no-token"),
        }.items():
            monkeypatch.setattr(f"huggingface_hub.constants.{name}", value)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        huggingface_hub.close_session()  # one made while offline refuses every request
        yield hub
        huggingface_hub.close_session()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)


def test_push_makes_the_repository_in_one_commit_with_a_card(tokenizer: Any, hub: Hub) -> None:
    done = tokenizer.push_to_hub("me/tok", private=True, commit_message="First version")
    repository = hub.repositories["me/tok"]
    assert set(repository.files()) == {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "README.md"}
    assert (repository.private, repository.messages) == (True, ["First version"])
    assert done.oid == repository.refs["main"][-1][0]


def test_what_was_pushed_loads_back(tokenizer: Any, hub: Hub, tmp_path: Path) -> None:
    tokenizer.push_to_hub("me/tok")
    loaded = HfBpeTokenizer.from_pretrained("me/tok")
    assert loaded(TEXTS)["input_ids"] == tokenizer(TEXTS)["input_ids"]
    assert loaded.chat_template == CHAT_TEMPLATE
    loaded.save_pretrained(tmp_path)
    config = (tmp_path / "tokenizer_config.json").read_text()
    assert not [leaked for leaked in (TOKEN, "me/tok", hub.url, str(tmp_path), "revision", "cache") if leaked in config]


def test_save_pretrained_pushes_under_the_name_of_the_folder_or_another(tokenizer: Any, hub: Hub, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path / "my-tok", push_to_hub=True)
    tokenizer.save_pretrained(tmp_path / "my-tok", push_to_hub=True, repo_id="me/other", commit_message="Again")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        saved = (tmp_path / "my-tok" / name).read_bytes()
        assert hub.repositories["me/my-tok"].files()[name] == hub.repositories["me/other"].files()[name] == saved
    assert "README.md" in hub.repositories["me/other"].files()
    assert hub.repositories["me/other"].messages == ["Again"]


def test_branches_and_pull_requests(tokenizer: Any, hub: Hub) -> None:
    tokenizer.push_to_hub("me/tok")
    tokenizer.add_tokens(["<more>"])
    assert tokenizer.push_to_hub("me/tok", revision="next").pr_url is None
    assert tokenizer.push_to_hub("me/tok", create_pr=True).pr_url.endswith("/discussions/1")
    vocabularies = {
        name: HfBpeTokenizer.from_pretrained("me/tok", revision=name).get_vocab() for name in ("main", "next", "refs/pr/1")
    }
    assert {name: "<more>" in vocabulary for name, vocabulary in vocabularies.items()} == {
        "main": False,
        "next": True,
        "refs/pr/1": True,
    }


def test_a_change_to_a_repository_of_somebody_else_can_be_proposed(tokenizer: Any, hub: Hub) -> None:
    hub.add("you/tok", {"config.json": b'{"model_type": "llama"}'})
    with pytest.raises(HubAccessDenied, match="create_pr=True"):
        tokenizer.push_to_hub("you/tok")
    tokenizer.push_to_hub("you/tok", create_pr=True)
    assert set(hub.repositories["you/tok"].files()) == {"config.json"}
    assert "tokenizer.json" in hub.repositories["you/tok"].files("refs/pr/1")


def test_files_of_an_earlier_tokenizer_that_would_still_be_read_are_removed(spec: Any, hub: Hub) -> None:
    hub.add(
        "me/tok", {"special_tokens_map.json": b"{}", "added_tokens.json": b"{}", "chat_template.jinja": b"x", "weights": b"w"}
    )
    HfBpeTokenizer.from_spec(spec).push_to_hub("me/tok")
    assert set(hub.repositories["me/tok"].files()) == {"weights", "tokenizer.json", "tokenizer_config.json", "README.md"}


def test_beside_a_model_whose_tokenizer_is_rebuilt_the_recipe_with_code_is_proposed(tokenizer: Any, hub: Hub) -> None:
    hub.add("me/model", {"config.json": b'{"model_type": "qwen2"}'})
    with pytest.warns(RuntimeWarning, match="'qwen2'.*remote-code"):
        tokenizer.push_to_hub("me/model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokenizer.push_to_hub("me/model", auto="remote-code")
    assert "tokenization_hf_bpe.py" in hub.repositories["me/model"].files()


# -- the card ---------------------------------------------------------------------------------------------------------


def test_a_card_of_ours_is_replaced_and_one_that_somebody_edited_is_kept(tokenizer: Any, hub: Hub) -> None:
    tokenizer.push_to_hub("me/tok")
    files = hub.repositories["me/tok"].files
    assert b"apache-2.0" not in files()["README.md"]
    tokenizer.push_to_hub("me/tok", license="apache-2.0")
    assert b"apache-2.0" in files()["README.md"]
    for edited in (files()["README.md"].replace(b"# tok", b"# My tokenizer"), b"My own card.", b"\xff\xfe"):
        hub.repositories["me/tok"].refs["main"].append(("e" * 40, {**files(), "README.md": edited}))
        tokenizer.add_tokens([f"<{len(edited)}>"])
        with pytest.warns(RuntimeWarning, match="overwrite_card=True"):
            tokenizer.push_to_hub("me/tok")
        assert files()["README.md"] == edited
    tokenizer.push_to_hub("me/tok", overwrite_card=True)
    assert files()["README.md"].startswith(b"---\nlibrary_name")


def test_a_card_of_ones_own_is_pushed_and_kept(tokenizer: Any, hub: Hub) -> None:
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tokenizer.push_to_hub("me/tok", card="# Mine\n")
    assert hub.repositories["me/tok"].files()["README.md"] == b"# Mine\n"


def test_a_card_has_the_figures_of_the_samples_beside_published_vocabularies() -> None:
    card = HfBpeTokenizer.from_spec(cl100k_spec()).model_card("me/tok")
    greek = next(line for line in card.splitlines() if line.startswith("| Greek |"))
    own, gpt2, cl100k, o200k, per_word, parity = greek.strip("| ").split(" | ")[1:]
    assert own == cl100k == "2.07"  # 806 bytes in 389 tokens
    assert (gpt2, o200k) == ("1.63", "4.91")
    assert float(per_word) > 4
    assert parity == "4.37"  # 389 tokens, 89 in English
    assert "| Chinese | 2.46 |" in card
    assert next(line for line in card.splitlines() if line.startswith("| Chinese |")).split(" | ")[5] == "-"


def test_a_card_of_a_corpus_has_its_texts_only(tokenizer: Any) -> None:
    card = tokenizer.model_card("me/tok", corpus={"mine | too": "some words"})
    assert r"| mine \| too |" in card
    assert "× English" not in card
    with pytest.raises(CorpusError, match="corpus 'mine': holds no text"):
        tokenizer.model_card("me/tok", corpus={"mine": ""})


def test_a_plot_goes_beside_the_card_that_shows_it(tokenizer: Any, hub: Hub) -> None:
    tokenizer.push_to_hub("me/tok", plot=True)
    files = hub.repositories["me/tok"].files()
    assert b"![Bytes per token of each text](bytes_per_token.svg)" in files["README.md"]
    assert files["bytes_per_token.svg"].startswith(b"<svg")
    assert b">Greek<" in files["bytes_per_token.svg"]
    tokenizer.push_to_hub("me/plain")
    assert b"![" not in hub.repositories["me/plain"].files()["README.md"]
    assert "bytes_per_token.svg" not in hub.repositories["me/plain"].files()
    tokenizer.push_to_hub("me/own", plot=True, card="# Mine\n")
    assert "bytes_per_token.svg" not in hub.repositories["me/own"].files()


def test_the_metadata_of_a_card_are_valid_and_say_what_it_is(tokenizer: Any) -> None:
    card = ModelCard(tokenizer.model_card("me/tok", license="mit", language="ko", tags=["korean"]))
    assert card.data.to_dict() == {
        "library_name": "transformers",
        "tags": ["tokenizer", "bpe", "korean"],
        "license": "mit",
        "language": ["ko"],
    }
    assert ModelCard(tokenizer.model_card("me/tok")).data.to_dict() == {
        "library_name": "transformers",
        "tags": ["tokenizer", "bpe"],
    }


def test_metadata_that_the_hub_does_not_accept_are_refused_before_anything_is_sent(tokenizer: Any, hub: Hub) -> None:
    hub.add("me/tok")
    with pytest.raises(HubError, match="must be one of"):
        tokenizer.push_to_hub("me/tok", license="no such license")
    assert hub.repositories["me/tok"].files() == {}


# -- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "repo_id", "error", "says"),
    [
        ("hf_wrong", "me/tok", HubAccessDenied, "hf auth login"),
        (False, "me/tok", HubAccessDenied, "hf auth login"),
        (True, "me/tok", HubAccessDenied, "no token"),
        (READ_TOKEN, "me/tok", HubAccessDenied, "may not write"),
        (TOKEN, "you/taken", HubAccessDenied, "under your own name"),
        (TOKEN, "not a name!", HubError, "cannot be the name"),
    ],
)
def test_who_may_not_write_is_told_what_to_do(
    token: Any, repo_id: str, error: type[HubError], says: str, tokenizer: Any, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("you/taken", {"README.md": b"theirs"})
    monkeypatch.delenv("HF_TOKEN")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing happened that one could be warned of
        with pytest.raises(error, match=says):
            tokenizer.push_to_hub(repo_id, token=token)
    assert set(hub.repositories) == {"you/taken"}
    assert hub.repositories["you/taken"].files() == {"README.md": b"theirs"}


def test_a_revision_that_cannot_be_is_named(tokenizer: Any, hub: Hub) -> None:
    hub.add("me/tok")
    with pytest.raises(HubNotFound, match="refs/pr/7"):
        tokenizer.push_to_hub("me/tok", revision="refs/pr/7")


@pytest.mark.parametrize("place", ["/api/repos/create", "/api/models/me/tok", "preupload", "commit"])
@pytest.mark.parametrize("failure", [0, 503])
def test_a_connection_lost_at_any_moment_leaves_all_or_nothing(place: str, failure: int, tokenizer: Any, hub: Hub) -> None:
    tokenizer.push_to_hub("me/tok")
    before = hub.repositories["me/tok"].files()
    tokenizer.add_tokens(["<more>"])
    hub.fail = lambda method, path: failure if path.endswith(place) or f"/{place}/" in path else None
    with pytest.raises(HubUnreachable, match="me/tok"):
        tokenizer.push_to_hub("me/tok")
    assert hub.repositories["me/tok"].files() == before
    hub.fail = lambda method, path: None
    tokenizer.push_to_hub("me/tok")
    assert b"<more>" in hub.repositories["me/tok"].files()["tokenizer.json"]


def test_nobody_there_and_offline_mode(tokenizer: Any, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HubUnreachable, match="offline"):
        tokenizer.push_to_hub("me/tok")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HubUnreachable, match="before anything was sent"):
        tokenizer.push_to_hub("me/tok")
    assert hub.requests == []


def test_a_commit_by_somebody_else_meanwhile_is_not_overwritten(tokenizer: Any, hub: Hub) -> None:
    hub.add("me/tok", {"README.md": b"theirs"})

    def commit_meanwhile(method: str, path: str) -> None:
        if path.endswith("validate-yaml"):
            hub.repositories["me/tok"].refs["main"].append(("d" * 40, {"README.md": b"newer"}))

    hub.fail = commit_meanwhile
    with pytest.raises(HubConflict, match="meanwhile"):
        tokenizer.push_to_hub("me/tok", overwrite_card=True)
    assert hub.repositories["me/tok"].files()["README.md"] == b"newer"


def test_an_argument_that_means_nothing_is_refused(tokenizer: Any, hub: Hub) -> None:
    with pytest.raises(TypeError, match="'privat'"):
        tokenizer.push_to_hub("me/tok", privat=True)
    tokenizer.push_to_hub("me/tok", max_shard_size="5GB")
    assert set(hub.repositories) == {"me/tok"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"language": 5}, "language=5"),
        ({"corpus": "a file"}, "corpus='a file'"),
        ({"card": 5}, "card=5"),
        ({"tags": [5]}, "tags"),
    ],
)
def test_an_argument_of_another_type_is_named_and_nothing_is_pushed(
    tokenizer: Any, hub: Hub, arguments: Any, says: str
) -> None:
    with pytest.raises(TypeError, match=says):
        tokenizer.push_to_hub("me/tok", **arguments)
    assert not hub.repositories["me/tok"].files()


@pytest.fixture
def without_xet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hf_xet package speaks a protocol of its own with the Hub's storage; the older one does there as well."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)


@pytest.mark.usefixtures("without_xet")
def test_large_files_go_apart_from_the_commit_and_come_back(tokenizer: Any, hub: Hub, tmp_path: Path) -> None:
    hub.large = 2000
    tokenizer.push_to_hub("me/tok")
    assert hub.repositories["me/tok"].files()["tokenizer.json"] in hub.objects.values()
    loaded = HfBpeTokenizer.from_pretrained("me/tok", cache_dir=tmp_path)
    assert loaded(TEXTS)["input_ids"] == tokenizer(TEXTS)["input_ids"]


@pytest.mark.usefixtures("without_xet")
def test_large_files_that_do_not_arrive_leave_no_commit(tokenizer: Any, hub: Hub) -> None:
    hub.large = 2000
    hub.fail = lambda method, path: 403 if method == "PUT" else None
    with pytest.raises(HubAccessDenied, match="this token may not write"):
        tokenizer.push_to_hub("me/tok")
    assert not hub.repositories["me/tok"].files()


def test_one_tag_needs_no_list(tokenizer: Any) -> None:
    assert ModelCard(tokenizer.model_card("me/tok", tags="poems")).data.tags == ["tokenizer", "bpe", "poems"]


def test_a_repository_that_is_there_keeps_its_visibility_or_nothing_is_sent(tokenizer: Any, hub: Hub) -> None:
    hub.add("me/tok")
    with pytest.raises(HubError, match="is public and private=True"):
        tokenizer.push_to_hub("me/tok", private=True)
    assert not hub.repositories["me/tok"].files()
    tokenizer.push_to_hub("me/tok", private=False)
    tokenizer.push_to_hub("me/secret", private=True)
    tokenizer.push_to_hub("me/secret", private=True, commit_message="again")


def test_the_way_a_folder_was_saved_is_kept_unless_another_is_asked_for(tokenizer: Any, hub: Hub, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path, auto="remote-code")
    again = HfBpeTokenizer.from_pretrained(tmp_path)
    again.push_to_hub("me/tok")
    assert "tokenization_hf_bpe.py" in hub.repositories["me/tok"].files()
    again.push_to_hub("me/tok", auto="marker")
    assert "tokenization_hf_bpe.py" not in hub.repositories["me/tok"].files()
    again.save_pretrained(tmp_path, auto="marker")
    assert not (tmp_path / "tokenization_hf_bpe.py").exists()


# -- other folders and other processes --------------------------------------------------------------------------------


def test_a_repository_that_holds_only_other_files_is_loaded(spec: Any, hub: Hub, tmp_path: Path) -> None:
    spec = spec.replace(added_tokens=spec.added_tokens[:2])
    conversion.save(spec, tmp_path / "pair", format="vocab-merges")
    conversion.save(spec, tmp_path / "ranks" / "x.tiktoken")
    for name in ("pair", "ranks"):
        hub.add(f"me/{name}", {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
        loaded = HfBpeTokenizer.from_pretrained(f"me/{name}")
        assert loaded.spec == spec
        assert HfBpeTokenizer.from_pretrained(f"me/{name}", local_files_only=True).spec == loaded.spec


def test_the_command_pushes_and_another_process_loads_it(
    tokenizer: Any, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer.save_pretrained(tmp_path / "tok")
    for name, value in {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path / "home")}.items():
        monkeypatch.setenv(name, value)
    command = [
        sys.executable,
        "-m",
        "hf_bpe.cli",
        "push",
        str(tmp_path / "tok"),
        "me/tok",
        "--private",
        "--json",
        "--license",
        "mit",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["repository"] == "me/tok"
    code = "import hf_bpe, json; from transformers import AutoTokenizer; t = AutoTokenizer.from_pretrained('me/tok'); print(json.dumps([type(t).__name__, t(['Hello <|end|>'])['input_ids']]))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == ["HfBpeTokenizer", tokenizer(["Hello <|end|>"])["input_ids"]], done.stderr
