from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import conversion
from conversion.nasty_strings import nasty_strings
from conversion.verification.report import OriginReport
from hf_bpe import AddedToken, Encoder, FormatError
from tests.conversion.support import small_spec, spec_of_tokens
from tests.support.vocabularies import byte_spec, cl100k_spec, gpt2_spec


def test_equal_descriptions_are_proof_for_every_input():
    report = conversion.verify(small_spec(), Encoder(small_spec()))
    assert report.proof is not None
    assert report.proof.startswith("equal on every input: one engine (hf_bpe) runs both, and both have the same dialect, ")
    assert {"pattern", "added tokens", "merges", "vocab"} <= set(report.compared)
    assert report.equal
    assert (report.structure, report.first, report.smallest) == (None, None, None)


def test_where_a_tokenizer_came_from_does_not_count():
    assert conversion.verify(small_spec(), small_spec().replace(provenance={"from": "elsewhere"})).proof


def test_the_builtin_strings_are_always_run():
    report = conversion.verify(byte_spec(), byte_spec())
    assert report.documents == report.builtin == len(nasty_strings()) > 300
    assert report.tokens == sum(len(text.encode()) for text in nasty_strings())


def test_there_is_no_proof_where_another_library_runs_one_side(tmp_path):
    [path] = conversion.save(small_spec(), tmp_path / "tokenizer.json")
    report = conversion.verify(small_spec(), path, loader=("own", "official"))
    assert report.equal
    assert report.proof is None
    assert report.structure is None
    assert "run by tokenizers" in report.b


@pytest.mark.parametrize(
    ("name", "target"), [("tiktoken", "x.tiktoken"), ("gpt2", "x"), ("vocab-merges", "x"), ("tokenizer.json", "x")]
)
def test_the_official_library_of_each_format_agrees(tmp_path, name, target):
    conversion.save(small_spec(), tmp_path / target, format=name)
    texts = ["ab<s>bca ab", "ca<|end|><s>", "abcabca  ab\n中中"]
    report = conversion.verify(tmp_path / target, tmp_path / target, texts=texts, loader=("own", "official"))
    assert report.equal, report.summary()


def test_a_hugging_face_folder_is_a_side(tmp_path):
    conversion.save(small_spec(), tmp_path / "tokenizer.json")
    assert conversion.verify(tmp_path, small_spec(), loader=("official", "own")).equal


def test_what_the_caller_says_goes_to_the_sides_that_do_not_say_it(tmp_path):
    path, sidecar = conversion.save(small_spec(), tmp_path / "x.tiktoken")
    sidecar.unlink()
    conversion.save(small_spec(), tmp_path / "tokenizer.json")
    report = conversion.verify(path, tmp_path, pattern=small_spec().pattern, special_tokens=small_spec().special_tokens)
    assert report.equal
    assert report.structure == "unmatched: 'drop' against 'keep'"  # it is not known of this pattern that it covers all text


def test_a_difference_is_found_located_and_made_small():
    a = spec_of_tokens([b"ab"], pattern=None)
    b = spec_of_tokens([b"bc"], pattern=None)
    report = conversion.verify(a, b, texts=["x" * 300 + "abc" + "y" * 300, "ab"])
    assert not report.equal
    assert report.structure is not None
    assert report.structure.startswith("merges: 1 against 1 entries; entry 0 is (b'a', b'b') against (b'b', b'c')")
    assert report.first is not None
    assert report.smallest is not None
    assert (report.smallest.text, report.smallest.a_ids, report.smallest.b_ids) in [
        ("ab", (256,), (97, 98)),
        ("bc", (98, 99), (256,)),
    ]


def test_the_first_difference_shows_where_the_ids_part():
    a, b = spec_of_tokens([b"#@"], pattern=None), byte_spec()
    report = conversion.verify(a, b, texts=["x" * 100 + "#@" + "y" * 100])
    assert report.first is not None
    assert report.origins[-1] == OriginReport("given", 1, 1)
    assert (report.first.ids_in_common, report.first.a_ids[0], report.first.b_ids[:2]) == (100, 256, (35, 64))
    assert "#@" in report.first.text
    assert len(report.first.text) <= 80
    assert report.first.where == "text 0"


def test_special_tokens_are_compared_as_text_and_as_special():
    plain, special = byte_spec(), byte_spec(added_tokens=(AddedToken("<s>", 256),))
    report = conversion.verify(plain, special)
    assert report.first is not None
    assert report.first.reading == "special tokens as special"
    assert report.smallest is not None
    assert report.smallest.text == "<s>"
    renumbered = byte_spec(added_tokens=(AddedToken("<s>", 257),))
    assert not conversion.verify(special, renumbered).equal


def test_patterns_that_differ_only_in_spelling_are_one():
    old = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
    assert conversion.verify(byte_spec("gpt2"), byte_spec(old)).proof
    assert conversion.verify(byte_spec(r"(?>\p{N}{1,3})|."), byte_spec(r"\p{N}{1,3}+|[^\n]")).proof
    assert not conversion.verify(byte_spec("qwen2"), byte_spec("llama3")).proof


def test_different_published_tokenizers_differ():
    report = conversion.verify(gpt2_spec(), cl100k_spec(), texts=["Hello world"])
    assert report.differing > 300
    assert report.first is not None
    assert report.first.where == "text 0"  # a text of the user's says more than a string of ours
    assert "differ" in report.summary()


def test_the_report_is_text_and_json():
    report = conversion.verify(spec_of_tokens([b"ab"]), byte_spec(), texts=["ab"])
    assert f"{report.differing} of {report.documents} documents differ" in report.summary()
    assert "smallest difference: " in report.summary()
    data = json.loads(json.dumps(report.to_dict()))
    assert data["equal"] is False
    assert data["smallest"]["text"] == "ab"


def test_the_official_loader_reads_files_only():
    with pytest.raises(ValueError, match="the official loader reads files"):
        conversion.verify(small_spec(), small_spec(), loader="official")
    with pytest.raises(ValueError, match="loader 'oficial' is not known"):
        conversion.verify(small_spec(), small_spec(), loader="oficial")


def test_arguments_that_are_not_what_they_look_like():
    with pytest.raises(TypeError, match="texts must be a list of texts"):
        conversion.verify(byte_spec(), byte_spec(), texts="abc")
    with pytest.raises(ValueError, match=r"loader must be one name, or two, one for each side; \('own',\) are 1"):
        conversion.verify(byte_spec(), byte_spec(), loader=("own",))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"loader": 5}, "loader must be a name"),
        ({"corpus": 5}, "a corpus is a path"),
        ({"texts": 5}, "texts must be a list"),
        ({"texts": ["a", 5]}, "texts must be str, and number 1 is 5"),
    ],
)
def test_arguments_of_other_kinds_are_refused_by_name(wrong: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        conversion.verify(small_spec(), small_spec(), **wrong)
    with pytest.raises(TypeError, match="a TokenizerSpec is converted"):
        conversion.to_tiktoken_encoding(None)  # type: ignore[arg-type]


def test_an_empty_path_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conversion.save(small_spec(), tmp_path)
    monkeypatch.chdir(tmp_path)
    for call in (
        lambda: conversion.load(""),
        lambda: conversion.verify("", small_spec()),
        lambda: conversion.save(small_spec(), ""),
    ):
        with pytest.raises(FormatError, match="the path is empty"):
            call()
    assert conversion.load(".").vocab == small_spec().vocab
