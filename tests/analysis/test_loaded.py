"""There is always something to look at, and what is kept on disk cannot spoil it."""

import re

import pytest

from hf_bpe import Encoder
from hf_bpe.analysis import EXAMPLES, loaded, loaded_examples, view
from hf_bpe.analysis.loaded import example_named
from hf_bpe.errors import FormatError


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_BPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loaded, "_BYTES", 200_000)
    monkeypatch.setattr(loaded, "_SIZE", 1000)
    return tmp_path / "cache"


def small():
    return next(example for example in loaded_examples() if example.name == "small").load()


def test_names_are_different_and_all_can_be_loaded():
    examples = loaded_examples()
    assert [example.name for example in examples] == ["gpt2", "cl100k_base", "tekken", "small", "bytes"]
    for example in examples:
        spec = example.load()
        assert Encoder(spec).decode(Encoder(spec).encode_ordinary("naïve 안녕")) == "naïve 안녕"
        assert example.about


def test_what_is_said_of_those_of_packages_is_their_size():
    for example in loaded_examples()[:3]:
        assert re.match(r"([\d,]+) tokens, ", example.about)[1] == f"{example.load().vocab_size:,}"


def test_a_name_that_is_none_has_an_error_that_lists_them():
    with pytest.raises(FormatError, match=r"^gpt3: no such file or folder; .* are gpt2, cl100k_base, .*, bytes$"):
        example_named("gpt3")


def test_without_packages_two_are_left(monkeypatch):
    monkeypatch.setattr(loaded, "find_spec", lambda name: None)
    assert [example.name for example in loaded_examples()] == ["small", "bytes"]


def test_the_small_one_is_kept_and_the_same_when_read_again(cache):
    first = small()
    assert first.vocab_size == 1000
    assert list(cache.rglob("tokenizer.json"))
    assert small() == first


def test_a_damaged_cache_is_made_anew(cache):
    first = small()
    [file] = cache.rglob("tokenizer.json")
    file.write_text("{", "utf-8")
    assert small() == first
    assert file.stat().st_size > 1000


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("", "utf-8")
    monkeypatch.setenv("HF_BPE_CACHE", str(blocked))
    assert small().vocab_size == 1000


def test_the_examples_show_what_they_say():
    gpt2 = loaded_examples()[0].load()
    tokens = {example.name: view(gpt2, example.text) for example in EXAMPLES}
    assert any(token.spelled == "ĠSolidGoldMagikarp" for token in tokens["SolidGoldMagikarp"])
    assert any(token.kind == "special" for token in tokens["<|endoftext|>"])
    assert tokens["Trailing space"][-1].text == " "
    assert len(tokens["Korean"]) > 2 * len(tokens["Korean"].text.split())
    assert any(len(token.shares) > 1 for token in tokens["Emoji"])
    eggs = [tuple(token.id for token in tokens["Egg"] if token.piece == piece) for piece in range(20)]
    assert len({egg for egg in eggs if egg}) > 4
    assert sum(token.text == " " for token in tokens["Python"]) >= 20
    assert len({example.name for example in EXAMPLES}) == len(EXAMPLES)
