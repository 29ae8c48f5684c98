from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

import conversion
from conversion import registry
from conversion.verdict import Checks
from hf_bpe import ConversionRefused, FormatError
from hf_bpe.errors import CorpusError
from tests.conversion.support import small_spec, write_json
from tests.conversion.test_matrix import plain
from tests.support.vocabularies import CL100K_FILE, GPT2_ENCODER_FILE, byte_spec

TARGETS = {
    "tiktoken": "x.tiktoken",
    "tiktoken-plugin": "my_encoding",
    "gpt2": "pair",
    "vocab-merges": "pair",
    "tokenizer.json": "tokenizer.json",
}
# With conditions that `small_spec` does not meet; see their own tests.
OTHERS = {"huggingface", "sentencepiece", "sentencepiece-vocab", "tekken", "minbpe", "gguf"}


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_formats_are_listed_with_what_they_are():
    assert set(conversion.formats()) == {*TARGETS, *OTHERS}
    assert all(conversion.formats().values())


# -- which format -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
def test_the_format_is_found_from_the_content(tmp_path, name):
    conversion.save(small_spec(), tmp_path / TARGETS[name], format=name)
    assert conversion.load(tmp_path / TARGETS[name]).provenance["format"] == name


@pytest.mark.parametrize("name", ["tiktoken", "tokenizer.json"])
def test_the_name_of_a_file_does_not_matter(tmp_path, name):
    [path, *_] = conversion.save(byte_spec(), tmp_path / "anything.bin", format=name)
    assert conversion.load(path).provenance["format"] == name


def test_published_files_are_told_apart():
    assert registry.format_for_reading(CL100K_FILE).name == "tiktoken"
    assert registry.format_for_reading(GPT2_ENCODER_FILE).name == "gpt2"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "the file is empty"),
        (b"   \n", "the file begins with nothing but white space"),
        (b"hello world\n", "in no format known here; it begins b'hello world"),
        (b"\x00\x01\x02", "in no format known here"),
    ],
)
def test_a_file_in_no_known_format_is_refused(tmp_path, content, complaint):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=f"{complaint}.*; the formats are .*choose one with format="):
        conversion.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FormatError, match=r"nothing.tiktoken: cannot be read: No such file"):
        conversion.load(tmp_path / "nothing.tiktoken")


def test_a_folder_without_a_tokenizer_is_named(tmp_path):
    with pytest.raises(
        FormatError, match=r"a folder in which nothing is called tokenizer.json, tokenizer.model, encoder.json, vocab.bpe"
    ):
        conversion.load(tmp_path)


@pytest.mark.parametrize("name", [*TARGETS, *sorted(OTHERS)])
def test_a_named_format_is_held_to(tmp_path, name):
    path = tmp_path / "x"
    path.write_text("hello")
    with pytest.raises(FormatError, match="x"):
        conversion.load(path, format=name, pattern=...)


def test_an_unknown_format_lists_the_known(tmp_path):
    with pytest.raises(FormatError, match="no format is named 'ggml'; the formats are huggingface, gpt2,"):
        conversion.load(tmp_path, format="ggml")


def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"YQ== 0\n")
    monkeypatch.setattr(Path, "open", forbidden)  # the superuser, whom tests may run as, can read every file
    with pytest.raises(FormatError, match=r"x.tiktoken: cannot be read: Permission denied"):
        conversion.load(path)


def test_another_json_file_is_a_format_error(tmp_path):
    with pytest.raises(FormatError, match=r"not a tokenizer.json"):
        conversion.load(write_json(tmp_path / "config.json", {"architectures": []}))


# -- saving -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "file"), [("tiktoken", "x.tiktoken"), ("tekken", "tekken.json"), ("gguf", "model.gguf"), ("minbpe", "x.model")]
)
def test_a_folder_that_holds_one_file_of_a_format_is_read(tmp_path, name, file):
    conversion.save(plain(), tmp_path / file, format=name)
    (tmp_path / "params.json").write_text("{}")
    assert conversion.load(tmp_path) == conversion.load(tmp_path, format=name) == plain()
    with pytest.raises(FormatError, match="is a folder, and sentencepiece-vocab was asked for"):
        conversion.load(tmp_path, format="sentencepiece-vocab")
    conversion.save(plain(), tmp_path / "y.tiktoken")
    if name != "tiktoken":
        assert conversion.load(tmp_path, format="tiktoken" if name != "minbpe" else "minbpe") == plain()
    with pytest.raises(FormatError, match=f"several files that may be tokenizers, .*{file}.*; give the path of one"):
        conversion.load(tmp_path)


def test_a_tokenizer_model_that_is_a_rank_file_is_read_as_one(tmp_path):
    conversion.save(plain(), tmp_path / "tokenizer.model", format="tiktoken")
    assert conversion.load(tmp_path) == plain()
    (tmp_path / "tokenizer.model.hf_bpe.json").unlink()
    with pytest.raises(FormatError, match="a rank file does not say how text is split"):
        conversion.load(tmp_path)
    assert conversion.load(tmp_path, pattern="gpt2") == plain()


@pytest.mark.parametrize("target", ["x.json", "x.bin"])
def test_a_name_that_does_not_say_the_format_is_refused(tmp_path, target):
    with pytest.raises(FormatError, match="does not say which format to write; choose one with format="):
        conversion.save(small_spec(), tmp_path / target)


@pytest.mark.parametrize("name", ["tiktoken", "tokenizer.json"])
def test_a_file_is_not_written_over_a_folder(tmp_path, name):
    with pytest.raises(FormatError, match="is written as a file, and this is not one"):
        conversion.save(small_spec(), tmp_path, format=name)


@pytest.mark.parametrize("name", ["gpt2", "vocab-merges"])
def test_a_folder_is_not_written_over_a_file(tmp_path, name):
    (tmp_path / "x").write_text("mine")
    with pytest.raises(FormatError, match="is written as a folder, and this is not one"):
        conversion.save(small_spec(), tmp_path / "x", format=name)


def test_a_name_without_an_ending_is_that_of_a_hugging_face_folder(tmp_path):
    written = {path.name for path in conversion.save(small_spec(), tmp_path / "folder")}
    assert written == {"tokenizer.json", "tokenizer_config.json"}
    assert conversion.load(tmp_path / "folder") == small_spec()


@pytest.mark.parametrize(
    ("there", "new", "winner"),
    [
        ("tokenizer.json", "gpt2", "tokenizer.json"),
        ("tokenizer.json", "tiktoken-plugin", "tokenizer.json"),
        ("gpt2", "vocab-merges", "encoder.json"),
        ("vocab-merges", "tiktoken-plugin", "merges.txt|vocab.json"),
    ],
)
def test_files_that_would_be_read_in_place_of_the_new_ones_are_named(tmp_path, there, new, winner):
    folder = tmp_path / "name"
    conversion.save(plain(), folder / "tokenizer.json" if there == "tokenizer.json" else folder, format=there)
    before = files_in(folder)
    with pytest.raises(FormatError, match=f"({winner}) in it would be read in place of what is written as {new}"):
        conversion.save(small_spec(), folder, format=new)
    assert files_in(folder) == before


def test_another_plugin_in_the_folder_is_named(tmp_path):
    folder = tmp_path / "name"
    conversion.save(small_spec(), folder, format="tiktoken-plugin")
    for file in (folder / "tiktoken_ext").iterdir():
        file.rename(file.with_name(file.name.replace("name", "other")))
    with pytest.raises(FormatError, match=r"tiktoken_ext/other\.tiktoken in it would be read"):
        conversion.save(plain(), folder, format="tiktoken-plugin")


@pytest.mark.parametrize("name", ["gpt2", "vocab-merges", "tiktoken-plugin", "huggingface"])
def test_a_folder_is_written_over_by_one_of_its_format(tmp_path, name):
    conversion.save(small_spec(), tmp_path / "name", format=name)
    conversion.save(plain(), tmp_path / "name", format=name)
    assert conversion.load(tmp_path / "name") == plain()


@pytest.mark.parametrize("name", TARGETS)
def test_folders_on_the_way_are_made(tmp_path, name):
    paths = conversion.save(small_spec(), tmp_path / "a" / "b" / TARGETS[name], format=name)
    assert all(path.is_file() for path in paths)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize(
    "problem", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=["full", "ctrl-c"]
)
def test_a_broken_off_save_leaves_the_old_files(tmp_path, monkeypatch, name, problem):
    target = tmp_path / TARGETS[name]
    conversion.save(small_spec(), target, format=name)
    before = files_in(tmp_path)

    def fail(_):
        raise problem

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(problem)):
        conversion.save(small_spec(added_tokens=()), target, format=name)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_is_saved_that_does_not_read_back(tmp_path, monkeypatch, name):
    chosen = registry.FORMATS[name]
    wrong = chosen.write(small_spec(added_tokens=()), TARGETS[name], Checks())
    monkeypatch.setitem(registry.FORMATS, name, replace(chosen, write=lambda *_: wrong))
    with pytest.raises(ConversionRefused, match=r"nothing was saved.*added tokens: 2 against 0 entries"):
        conversion.save(small_spec(), tmp_path / TARGETS[name], format=name)
    assert files_in(tmp_path) == {}


@pytest.mark.parametrize("first", TARGETS)
@pytest.mark.parametrize("second", TARGETS)
def test_every_format_leads_to_every_other_and_back(tmp_path, first, second):
    there, back = tmp_path / "there" / TARGETS[first], tmp_path / "back" / TARGETS[second]
    conversion.save(small_spec(), there, format=first)
    conversion.save(conversion.load(there), back, format=second)
    found = conversion.load(back)
    assert conversion.verify(found, small_spec()).proof
    assert (found.vocab, found.merges, found.added_tokens) == (
        small_spec().vocab,
        small_spec().merges,
        small_spec().added_tokens,
    )


def test_saving_again_replaces_files_and_sidecar(tmp_path):
    conversion.save(small_spec(), tmp_path, format="gpt2")
    other = byte_spec("gpt2")
    conversion.save(other, tmp_path, format="gpt2")
    assert conversion.load(tmp_path) == other


# -- arguments of the wrong type, and what is wrong with the text of a file --------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"special_tokens": [1]}, "special_tokens must be a dict of text and id"),
        ({"special_tokens": {"a": "b"}}, "special_tokens must give a text its id.* not 'a' 'b'"),
        ({"special_tokens": {"a": True}}, "special_tokens must give a text its id"),
        ({"pattern": 5}, "pattern must be a name, a pattern or None, not 5"),
    ],
)
def test_arguments_of_another_type_are_named(arguments, complaint):
    with pytest.raises(TypeError, match=complaint):
        conversion.load("anything", **arguments)


@pytest.mark.parametrize("write", [conversion.convert, conversion.save])
def test_what_is_no_spec_is_not_converted(tmp_path, write):
    with pytest.raises(TypeError, match="a TokenizerSpec is converted, not None"):
        write(None, tmp_path / "x.gguf")
    with pytest.raises(TypeError, match="a TokenizerSpec is converted"):
        conversion.check(None, "gguf")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"model": {"vocab": {\n "a": ' + "9" * 5000 + "}}}", "x, line 2, column 7: a number of thousands of digits"),
        ('\ufeff{"model": {}}', "x: begins with a byte order mark"),
        ('{"config": {"pattern": "a"}}', "not a tokenizer.json: .* of a tekken.json: load it with format='tekken'"),
    ],
)
def test_the_message_says_what_to_do_about_the_file(tmp_path, content, complaint):
    (tmp_path / "x").write_text(content, "utf-8")
    with pytest.raises(FormatError, match=complaint):
        conversion.load(tmp_path / "x")


def test_a_corpus_that_is_missing_is_told_where_nothing_is_lost_too(tmp_path):
    with pytest.raises(CorpusError, match=r"missing\.txt"):
        conversion.convert(small_spec(), tmp_path / "tokenizer.json", corpus=tmp_path / "missing.txt")
    assert not (tmp_path / "tokenizer.json").exists()
