"""`hf-bpe show`: colours for people, plain lines for pipes, the same tokens in both."""

import itertools
import json
import re

import pytest
from rich.console import Console

import conversion
import hf_bpe
from hf_bpe.cli import show as show_module
from tests.support.pieces import trained

CODES = re.compile(r"\x1b\[[0-9;]*m")
TEXT = "The quick 안\n x<|endoftext|>"


@pytest.fixture
def other(tmp_path):
    """Another tokenizer."""
    (tmp_path / "other").mkdir()
    spec = hf_bpe.train(iter(["The quickest lazy fox. " * 30]), 280, pattern=None, progress=False)
    conversion.save(spec, tmp_path / "other" / "tokenizer.json")
    return tmp_path / "other" / "tokenizer.json"


@pytest.fixture
def terminal(monkeypatch):
    """Make of standard output a terminal."""

    def make(**settings):
        settings = {"force_terminal": True, "color_system": "truecolor", "width": 200, "legacy_windows": False} | settings
        monkeypatch.setattr(show_module, "out", Console(highlight=False, **settings))

    return make


def test_a_pipe_gets_one_token_a_line_without_codes(run, tokenizer, spec, monkeypatch):
    monkeypatch.setenv("COLORTERM", "truecolor")
    result = run("show", tokenizer, TEXT)
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert [int(number) for number, _ in lines] == hf_bpe.Encoder(spec).encode(TEXT, allowed_special="all")
    assert lines[0][1] == "The"
    assert lines[-1][1] == "<|endoftext|>"
    assert "\x1b" not in result.stdout


def test_columns_of_bytes_and_offsets(run, tokenizer):
    lines = [line.split("\t") for line in run("show", tokenizer, "The 안", "--bytes", "--offsets").stdout.splitlines()]
    assert lines[0][1:] == ["54 68 65", "0-3", "0-3"]
    assert lines[-1][3] == "4-5"  # a part of the character stands for all of it
    assert bytes.fromhex("".join(line[1] for line in lines)).decode() == "The 안"


def test_a_terminal_gets_the_text_in_colour(run, tokenizer, terminal):
    terminal()
    coloured = run("show", tokenizer, TEXT).stdout
    plain = CODES.sub("", coloured)
    assert "\x1b[38;2;0;0;0;48;2;" in coloured
    assert plain.startswith("The·quick·\\xEC\\x95\\x88⏎\n·x<|endoftext|>\n")
    assert re.search(r"tokens, 27 characters, 29 bytes, [\d.]+ bytes per token\n$", plain)


def test_neighbours_have_different_backgrounds(run, tokenizer, terminal):
    terminal()
    backgrounds = re.findall(r"48;2;([\d;]+)m[^\x1b]", run("show", tokenizer, "abcdefg").stdout)
    assert len(backgrounds) == 7
    assert all(one != two for one, two in itertools.pairwise(backgrounds))


def test_no_color_puts_bars_between_tokens(run, tokenizer, terminal):
    terminal(no_color=True)
    shown = run("show", tokenizer, "The fox").stdout
    assert "38;2" not in shown
    assert shown.startswith("The|")


def test_text_cannot_reach_the_terminal(run, tokenizer, terminal):
    terminal()
    evil = "\x1b[31mred\x07 \u202eback\x9b2J"
    shown = CODES.sub("", run("show", tokenizer, evil).stdout)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert "\x9b" not in shown
    assert "\x1b" not in run("show", tokenizer, "--pieces", evil).stdout
    assert "\x1b" not in run("show", tokenizer, "--merges", evil).stdout


def test_ids_stand_under_the_text(run, tokenizer, spec, terminal):
    terminal()
    ids = CODES.sub("", run("show", tokenizer, "The fox", "--ids").stdout).splitlines()[1]
    assert list(map(int, ids.split())) == hf_bpe.Encoder(spec).encode("The fox")


def test_what_tokenizers_cut_differently_is_marked(run, tokenizer, other, terminal):
    lines = [line.split("\t") for line in run("show", tokenizer, "--with", other, "The quick 안").stdout.splitlines()]
    assert {line[0] for line in lines} == {f"{path.parent.name}/tokenizer.json" for path in (tokenizer, other)}
    assert {line[-1] for line in lines} == {"differs", "same"}
    terminal()
    coloured = run("show", tokenizer, "--with", other, "The quick 안").stdout
    assert "\x1b[1;4;" in coloured
    assert "cut differently: " in CODES.sub("", coloured)


def test_only_the_differences_side_by_side(run, tokenizer, other):
    shown = run("show", tokenizer, "--with", other, "--differences", "The quick").stdout
    assert "place" in shown
    assert " | " in shown
    assert run("show", tokenizer, "--with", tokenizer, "--differences", "The quick").stdout.startswith("0 places")


def test_several_tokenizers_as_json(run, tokenizer, other):
    told = json.loads(run("show", tokenizer, "-w", other, "The quick", "--json").stdout)
    assert [entry["name"] for entry in told["tokenizers"]] == [
        f"{path.parent.name}/tokenizer.json" for path in (tokenizer, other)
    ]
    for difference in told["differences"]:
        for (first, last), entry in zip(difference["tokens"], told["tokenizers"], strict=True):
            inside = entry["tokens"][first:last]
            assert [inside[0]["in_bytes"][0], inside[-1]["in_bytes"][1]] == difference["in_bytes"]


def test_pieces_name_the_alternative(run, tokenizer):
    lines = [line.split("\t") for line in run("show", tokenizer, "--pieces", "a 12<|endoftext|>").stdout.splitlines()]
    assert [line[0] for line in lines] == ["0-1", "1-2", "2-4", "4-17"]
    assert lines[2][2].endswith(r"\p{N}{1,3}+")
    assert lines[3][2] == "added token"
    told = json.loads(run("show", tokenizer, "--pieces", "a 12", "--json").stdout)
    assert [piece["text"] for piece in told] == ["a", " ", "12"]
    assert told[2]["matched"][0]["source"] == r"\p{N}{1,3}+"


def test_special_tokens_as_text(run, tokenizer):
    assert "<|endoftext|>" not in run("show", tokenizer, "--special", "text", "<|endoftext|>").stdout
    assert len(run("show", tokenizer, "<|endoftext|>").stdout.splitlines()) == 1


def test_a_card_needs_no_text(run, tokenizer, spec):
    shown = run("show", tokenizer, "--card", "The").stdout
    assert "reachable" in shown
    assert "└── e" in shown
    told = json.loads(run("show", tokenizer, "--card", f"#{spec.vocab[b'The']}", "--json").stdout)
    assert (told["token"], told["reachable"]) == ("The", True)


def test_a_card_of_what_is_no_token_says_how_to_name_one(run, tokenizer):
    result = run("show", tokenizer, "--card", "no such token")
    assert result.exit_code == 1
    assert "give one by its id, as #123" in " ".join(result.stderr.split())


def test_steps_of_a_sentencepiece_model(run, tmp_path):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(trained("identity"))
    shown = run("show", path, "--merges", "the 𐍈")
    assert shown.exit_code == 0
    assert " + " in shown.stdout
    assert "given as" in shown.stdout


@pytest.mark.parametrize(
    "arguments", [("--merges", "--pieces"), ("--pieces", "--card", "a"), ("--merges", "--with", "x"), ("--differences",)]
)
def test_what_does_not_go_together_is_refused(run, tokenizer, arguments):
    result = run("show", tokenizer, "x", *arguments)
    assert result.exit_code == 2
    assert arguments[0] in result.stderr


def test_a_tokenizer_that_needs_no_file(run):
    assert run("show", "bytes", "a b").stdout.splitlines() == ["     97  a", "     32  Ġ", "     98  b"]
    assert run("show", "gpt2", "Egg").stdout.splitlines() == ["     36  E", "   1130  gg"]


def test_a_file_comes_before_a_tokenizer_of_that_name(run, tokenizer, monkeypatch):
    monkeypatch.chdir(tokenizer.parent)
    tokenizer.rename("gpt2")
    assert "The" in run("show", "gpt2", "The").stdout
    assert run("show", "no-such-tokenizer", "The").exit_code == 1


def test_an_empty_text(run, tokenizer, terminal):
    assert run("show", tokenizer, "").stdout == ""
    assert json.loads(run("show", tokenizer, "", "--json").stdout) == []
    assert run("show", tokenizer, "--pieces", "").exit_code == 0
    terminal()
    assert "0 tokens" in run("show", tokenizer, "").stdout


def test_piped_text(run, tokenizer):
    assert run("show", tokenizer, stdin="The").stdout == run("show", tokenizer, "The").stdout


def test_a_long_text(run, tokenizer, terminal):
    text = "The quick brown fox 안녕\n" * 5_000
    assert len(run("show", tokenizer, stdin=text).stdout.splitlines()) > 25_000
    terminal()
    assert CODES.sub("", run("show", tokenizer, stdin=text).stdout).count("⏎\n") == 5_000


def test_a_token_that_begins_with_a_space_is_offered_for_the_word(fails):
    assert "'SolidGoldMagikarp' is no token here, ' SolidGoldMagikarp' is one" in fails(
        "show", "gpt2", "--card", "SolidGoldMagikarp"
    )
