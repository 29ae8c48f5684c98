"""The lecture's steps give what the lecture shows."""

import pytest
import regex
import tiktoken
from tiktoken.load import load_tiktoken_bpe

from tests.examples.support import EXAMPLES, load_example


@pytest.fixture(scope="module")
def lecture():
    return load_example("lecture")


def test_from_scratch_and_by_the_package(lecture):
    found = lecture.bytes_and_merges()
    assert found["aaabdaaabac by hand"] == found["aaabdaaabac by hf_bpe"] == [258, 100, 258, 97, 99]
    assert found["hf_bpe finds the same ids"]
    assert found["decodes to the paragraph"]
    characters, num_bytes, ids = found["characters, bytes, ids after 20 merges"]
    assert num_bytes > characters > ids


def test_splitting_prevents_merges_across_kinds_of_characters(lecture):
    found = lecture.splitting()
    assert found["pieces"] == found["pieces by hf_bpe"]
    mixed = regex.compile(r"\p{L}\P{L}|[^\s\p{L}]\p{L}|\S\s+\p{L}")
    assert any(map(mixed.search, found["tokens learnt without splitting"]))
    assert not any(map(mixed.search, found["tokens learnt with GPT-2's split"]))


def test_gpt4_equals_tiktoken(lecture):
    found = lecture.gpt4()
    assert found["ids by hf_bpe"] == found["ids by tiktoken"]
    assert found["ids by hf_bpe"][:2] == [15339, 1917]
    assert found["decoded"] == found["text"]
    assert found["merges recovered"] == 100_000


def test_special_tokens_are_an_error_unless_allowed(lecture):
    found = lecture.special_tokens()
    assert "<|fim_prefix|>" in found["by default"]
    allowed = found['allowed_special="all"']
    assert [i for i in allowed if i > 100256] == [100258, 100260, 100259, 100257]
    assert max(found["disallowed_special=()"]) < 100257
    assert found["decoded"] == "<|fim_prefix|>def f(<|fim_suffix|>):<|fim_middle|>x<|endoftext|>"


def test_special_tokens_equal_tiktoken(lecture):
    spec = lecture.load_gpt4()
    ranks = load_tiktoken_bpe(str(lecture.gpt4_ranks()))
    official = tiktoken.Encoding(
        "cl100k", pat_str=spec.pattern, mergeable_ranks=ranks, special_tokens=lecture.GPT4_SPECIAL_TOKENS
    )
    text = "<|fim_prefix|>def f(<|fim_suffix|>):<|fim_middle|>x<|endoftext|>"
    assert lecture.special_tokens()['allowed_special="all"'] == official.encode(text, allowed_special="all")


def test_every_format_reads_back_the_same(lecture):
    assert lecture.saving()["reads back the same"] == {"tiktoken": True, "gpt2": True, "tokenizer.json": True}


def test_runs_as_a_script_and_names_every_step(lecture, capsys):
    lecture.main()
    printed = capsys.readouterr().out
    assert all(title in printed for title, _ in lecture.STEPS)


def test_train_and_publish(tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text((EXAMPLES / "lecture.py").read_text("utf-8") * 3, "utf-8")
    tokenizer = load_example("train_and_publish").main(str(tmp_path / "saved"), str(corpus))
    assert type(tokenizer).__name__ == "HfBpeTokenizer"
    assert len(tokenizer) == 1_000
    assert tokenizer.decode(tokenizer.encode("Hello world")) == "Hello world"


def test_chat(capsys):
    found = load_example("chat").main()
    assert len(found["rendered, then encoded"]) == 7
    assert len(found["straight to ids"]) == 5
    assert "straight to ids: 5 special tokens" in capsys.readouterr().out


def test_minbpe_exercise(capsys):
    exercise = load_example("minbpe_exercise")
    text = (EXAMPLES / "minbpe_exercise.py").read_text("utf-8")
    basic, split, gpt4, special, saved = (step(text) for step in exercise.STEPS)
    assert basic["decodes to the text"]
    assert split["decodes to the text"]
    num_bytes, ids = basic["bytes, ids"]
    assert ids < num_bytes / 1.5
    assert gpt4["ids"][:2] == [15339, 1917]
    assert gpt4["decoded"] == exercise.GREETING
    assert gpt4["merges"] == 100_000
    assert gpt4["the id of byte 0"] == 188
    assert special["refused"] == "<|endoftext|>"
    assert special["allowed"][0] == exercise.VOCAB_SIZE
    assert max(special["as text"]) < exercise.VOCAB_SIZE
    assert all(saved.values())
    exercise.main()
    assert "1. Train on bytes" in capsys.readouterr().out
