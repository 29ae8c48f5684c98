"""train: the knobs, sources, reports; show: merges step by step."""

import json

import pytest

import conversion
import hf_bpe

SIZE = ("--vocab-size", 300, "--min-frequency", 1)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def test_every_knob_reaches_the_trainer(run, corpus, out):
    options = (
        *("--pattern", "llama3", "--digits", "single", "--special-token", "<s>", "--reserved-tokens", 2, "--space-runs", 3),
        *("--initial-alphabet", "é", "--forced-token", "xyz", "--forbid-token", "th", "--forbid-pattern", "beyond-digits|q"),
        *("--forbid-merge", "Ġ a", "--shortfall", "reserve", "--superwords", "lines", "--superwords-from", 290),
        *("--superword-max-words", 2, "--max-token-length", 12, "--tie-break", "rustbpe"),
    )
    result = run("train", corpus, "-o", out, *SIZE, *options)
    assert result.exit_code == 0, result.output
    expected = hf_bpe.train(
        corpus, 300, pattern="llama3", digits="single", special_tokens=["<s>"], reserved_tokens=2, space_runs=3, initial_alphabet="é",
        forced_tokens=["xyz"], forbidden_tokens=["th"], forbidden_patterns=["beyond-digits|q"], forbidden_merges=[(" ", "a")],
        shortfall="reserve", superwords="lines", superwords_from=290, superword_max_words=2, max_token_length=12, min_frequency=1, tie_break="rustbpe",
        progress=False,
    )  # fmt: skip
    assert conversion.load(out).fingerprint == expected.fingerprint


def test_sources_have_weights_shares_and_samples(run, corpus, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("zebra zebra\n" * 50)
    for numbers in (("--weight", "b=3"), ("--share", "a=1", "--share", "b=1"), ("--sample", "b=0.5", "--seed", 7)):
        out = tmp_path / numbers[0]
        result = run("train", "--source", f"a={corpus}", "--source", f"b={other}", *numbers, "-o", out, *SIZE)
        assert result.exit_code == 0, result.output
    mixture = hf_bpe.Mixture({"a": corpus, "b": other}, shares={"a": 1, "b": 1})
    expected = hf_bpe.train(mixture, 300, min_frequency=1, progress=False)
    assert conversion.load(tmp_path / "--share").fingerprint == expected.fingerprint


def test_another_like_it(run, corpus, tmp_path):
    assert run("train", corpus, "-o", tmp_path / "a", *SIZE, "--pattern", "gpt2", "--special-token", "<s>").exit_code == 0
    assert run("train", corpus, "-o", tmp_path / "b", *SIZE, "--like", tmp_path / "a").exit_code == 0
    assert conversion.load(tmp_path / "a").fingerprint == conversion.load(tmp_path / "b").fingerprint


def test_a_report_is_written_beside_the_tokenizer(run, fails, corpus, out, tmp_path):
    arguments = ("train", corpus, "-o", out, *SIZE, "--report", tmp_path / "r.json", "--held-out", f"same={corpus}")
    assert run(*arguments).exit_code == 0
    texts = json.loads((tmp_path / "r.json").read_text())["texts"]
    assert texts["same"] == texts["training"]
    assert "--force" in fails("train", corpus, "-o", tmp_path / "new", *SIZE, "--report", tmp_path / "r.json")
    assert not (tmp_path / "new").exists()


def test_the_first_merges_are_shown_with_their_counts(run, tmp_path):
    (tmp_path / "text").write_text("aaabdaaabac")
    arguments = ("train", tmp_path / "text", "-o", tmp_path / "x", "--vocab-size", 259, "--pattern", "none", "--show-merges", 2)
    result = run(*arguments)
    assert result.stdout.splitlines() == ["     1  id 256: a + a -> aa  2 times", "     2  id 257: a + b -> ab  2 times"]
    [first, _] = json.loads(run(*arguments, "--json", "--force").stdout)["first_merges"]
    assert first == {"left": "a", "right": "a", "times": 2}


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (("--report", "r.txt"), "must end in .html or .json", 1),
        (("--held-out", "corpus"), "held_out is text to measure for a report", 1),
        (("--weight", "a=2"), "need sources with names", 2),
        (("--forbid-merge", "ab"), "is not a pair of tokens", 2),
        (("--forbid-merge", "é \u4e2d"), "is not a pair of tokens", 2),
        (("--forbid-pattern", "no-such-rule"), "no rule is named", 1),
        (("--superwords-from", 280), "superwords is None", 1),
        (("--digits", "many"), "'many'", 2),
        (("--source", "a=b"), "one of the three", 2),
        (("--dialect", "sentencepiece", "--preset", "llama2", "--space-runs", 3), "is not trained with space_runs", 1),
    ],
)
def test_contradictions_are_said_and_nothing_is_written(fails, corpus, out, tmp_path, monkeypatch, arguments, said, code):
    monkeypatch.chdir(tmp_path)
    assert said in " ".join(fails("train", corpus, "-o", out, *SIZE, *arguments, code=code).split())
    assert not out.exists()


def test_show_merges_goes_step_by_step(run, tmp_path):
    (tmp_path / "text").write_text("aaabdaaabac")
    run("train", tmp_path / "text", "-o", tmp_path / "x", "--vocab-size", 259, "--pattern", "none")
    result = run("show", tmp_path / "x", "--merges", "aab ")
    assert result.stdout.splitlines() == ["aabĠ", "  bytes     a a b Ġ", "  #1 a + a  aa b Ġ"]
    [piece] = json.loads(run("show", tmp_path / "x", "--merges", "aab", "--json").stdout)
    assert piece["piece"] == "aab"
    assert piece["steps"][1] == {"merge": {"rank": 1, "left": "a", "right": "a", "id": 256}, "tokens": ["aa", "b"]}
