"""`hf-bpe doctor`: what people and scripts see, and the exit status."""

import json

import pytest

from hf_bpe.doctor import LINTS


@pytest.fixture
def folder(tokenizer):
    """A folder with a sound tokenizer.json."""
    return tokenizer.parent


def write_config(folder, **settings):
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")


def test_a_sound_tokenizer_says_so_and_exits_with_0(run, folder):
    result = run("doctor", folder)
    assert result.exit_code == 0
    assert result.stdout == f"{folder}: nothing wrong found in tokenizer.json\n"


def test_what_was_looked_into_is_named(run, folder):
    renamed = folder / "my.tokenizer.json"
    renamed.write_bytes((folder / "tokenizer.json").read_bytes())
    write_config(folder)
    (folder / "README.md").write_text("no part of a tokenizer", "utf-8")
    assert "nothing wrong found in my.tokenizer.json\n" in run("doctor", renamed).stdout
    assert json.loads(run("doctor", folder, "--json").stdout)["examined"] == ["tokenizer.json", "tokenizer_config.json"]


def test_findings_are_grouped_with_the_most_serious_first(run, folder):
    write_config(folder, bos_token="<bos>", clean_up_tokenization_spaces=True, name_or_path="/home/me/x")
    result = run("doctor", folder)
    assert result.exit_code == 1
    places = [
        result.stdout.index(word)
        for word in ("1 error", "special-missing", "1 warning", "clean-up-spaces", "1 hint", "private-path")
    ]
    assert places == sorted(places)
    assert result.stdout.endswith(": 1 error, 1 warning, 1 hint\n")
    assert result.stdout.count("fix: ") == 3


def test_warnings_fail_only_with_strict(run, folder):
    write_config(folder, clean_up_tokenization_spaces=True)
    assert run("doctor", folder).exit_code == 0
    assert run("doctor", folder, "--strict").exit_code == 1


def test_hints_never_fail(run, folder):
    write_config(folder, name_or_path="/home/me/x")
    assert run("doctor", folder, "--strict").exit_code == 0


def test_ignored_lints_are_not_asked(run, folder):
    write_config(folder, bos_token="<bos>", clean_up_tokenization_spaces=True)
    result = run("doctor", folder, "--ignore", "special-missing", "--ignore", "clean-up-spaces", "--strict")
    assert result.exit_code == 0
    assert "nothing wrong" in result.stdout


def test_json_holds_every_finding(run, folder):
    write_config(folder, bos_token="<bos>")
    result = run("doctor", folder, "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["counts"] == {"error": 1, "warning": 0, "hint": 0}
    [finding] = report["findings"]
    assert finding.keys() == {"code", "severity", "where", "what", "fix"}
    assert finding["where"] == "tokenizer_config.json: $.bos_token"


def test_list_names_every_lint(run):
    shown = json.loads(run("doctor", "--list", "--json").stdout)
    assert shown.keys() == LINTS.keys()
    text = run("doctor", "--list").stdout
    assert all(code in text for code in LINTS)


def test_unknown_lint_and_missing_path_are_usage_errors(fails, folder):
    assert "no lint is named 'no-such'" in fails("doctor", folder, "--ignore", "no-such", code=2)
    assert "name a tokenizer" in fails("doctor", code=2)


def test_nothing_there_is_one_message(fails, tmp_path):
    assert "there is no such file or folder" in fails("doctor", tmp_path / "nothing")


def test_names_in_a_file_are_not_taken_for_markup(run, folder):
    write_config(folder, bos_token="[bold red]x[/]")
    assert "'[bold red]x[/]'" in run("doctor", folder).stdout
