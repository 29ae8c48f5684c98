"""encode and decode: what goes in and comes out, and through pipes."""

import json

import pytest

import hf_bpe
from tests.cli.samples import CORPUS, EOT


@pytest.fixture
def encoder(spec):
    return hf_bpe.Encoder(spec)


def ids_of(result):
    assert result.exit_code == 0, result.output
    return list(map(int, result.stdout.split()))


def test_text_file_and_stdin_give_the_same_ids(run, tokenizer, corpus, encoder):
    expected = encoder.encode(CORPUS)
    assert ids_of(run("encode", tokenizer, CORPUS)) == expected
    assert ids_of(run("encode", tokenizer, "--file", corpus)) == expected
    for arguments in ((), ("-",), ("--file", "-")):
        assert ids_of(run("encode", tokenizer, *arguments, stdin=CORPUS)) == expected


def test_encode_json_is_a_list_and_count_is_its_length(run, tokenizer, encoder):
    ids = json.loads(run("encode", tokenizer, "the fox 😉", "--json").stdout)
    assert ids == encoder.encode("the fox 😉")
    assert json.loads(run("encode", tokenizer, "the fox 😉", "--count", "--json").stdout) == len(ids)


def test_empty_text_has_no_ids(run, tokenizer):
    assert run("encode", tokenizer, stdin="").stdout == "\n"
    assert run("encode", tokenizer, "", "--json").stdout == "[]\n"
    assert run("decode", tokenizer, stdin="").stdout == ""


@pytest.mark.parametrize("spelled", ["84 104 101", "84\n104\t101\n", "[84, 104, 101]", " [84,104,101]\n"])
def test_decode_reads_words_or_a_json_list(run, tokenizer, spelled):
    assert run("decode", tokenizer, stdin=spelled).stdout_bytes == b"The"


def test_decode_takes_ids_as_arguments_and_from_a_file(run, tokenizer, tmp_path):
    (tmp_path / "ids").write_text("84 104 101")
    assert run("decode", tokenizer, 84, 104, 101).stdout_bytes == b"The"
    assert run("decode", tokenizer, "--file", tmp_path / "ids").stdout_bytes == b"The"
    assert json.loads(run("decode", tokenizer, 84, 0xF0, "--json").stdout) == "T\ufffd"


def test_pipe_gives_back_every_byte(start, tokenizer):
    text = "line\r\nanother \tline\n\n  안녕 😉 \u0000 no line break at the end".encode()
    for flags in ((), ("--json",)):
        encoded = start("encode", tokenizer, *flags, stdin=text)
        assert encoded.returncode == 0, encoded.stderr
        assert start("decode", tokenizer, stdin=encoded.stdout).stdout == text


def test_special_tokens_are_an_error_that_names_the_ways_out(fails, tokenizer):
    message = fails("encode", tokenizer, f"a{EOT}b")
    assert EOT in message
    assert "--allow-special" in message
    assert "--special text" in message


def test_special_tokens_as_text_and_as_themselves(run, tokenizer, encoder):
    text = f"a{EOT}b"
    as_text, as_special = encoder.encode_ordinary(text), encoder.encode(text, allowed_special="all")
    assert as_text != as_special
    assert ids_of(run("encode", tokenizer, text, "--special", "text")) == as_text
    for flags in (("--special", "all"), ("--allow-special", "all"), ("--allow-special", EOT)):
        assert ids_of(run("encode", tokenizer, text, *flags)) == as_special
        assert ids_of(run("encode", tokenizer, text, *flags, "--count")) == [len(as_special)]


def test_allowing_an_unknown_special_token_is_a_usage_error(fails, tokenizer):
    assert "'<|typo|>' is not a special token" in fails("encode", tokenizer, "x", "--allow-special", "<|typo|>", code=2)


@pytest.mark.parametrize(
    ("ids", "named"),
    [
        ("1 2 foo", "'foo' (number 3)"),
        ("1 -2", "'-2' (number 2)"),
        ("1.5", "'1.5'"),
        ("[1, true]", "True (number 2)"),
        ("[1, [2]]", "[2] (number 2)"),
        ("[1, 2", "not a JSON list"),
        ("99999", "99999"),
        ("99999999999999999999", "99999999999999999999"),
        ("²", "'²'"),
    ],
)
def test_bad_ids_are_named(fails, tokenizer, ids, named):
    assert named in fails("decode", tokenizer, stdin=ids)


def test_stdin_and_files_that_are_not_utf8(fails, tokenizer, tmp_path):
    (tmp_path / "latin").write_bytes("naïve".encode("latin-1"))
    for message in (
        fails("encode", tokenizer, stdin=b"na\xefve"),
        fails("encode", tokenizer, "--file", tmp_path / "latin"),
    ):
        assert "0xEF at offset 2" in message


def test_text_and_file_together_are_a_usage_error(fails, tokenizer, corpus):
    assert "not both" in fails("encode", tokenizer, "text", "--file", corpus, code=2)


def test_missing_tokenizer_and_missing_file(fails, tokenizer, tmp_path):
    assert "nowhere" in fails("encode", tmp_path / "nowhere", "text")
    assert "nowhere" in fails("encode", tokenizer, "--file", tmp_path / "nowhere")


def test_an_argument_that_is_no_utf8_is_an_error_as_on_standard_input(start, tokenizer):
    for given in (start("encode", tokenizer, "a\udcffb"), start("encode", tokenizer, stdin=b"a\xffb")):
        assert given.returncode == 1
        assert b"not UTF-8 text: byte 0xFF" in given.stderr
        assert given.stdout == b""


def test_a_tokenizer_that_needs_no_file_is_taken_by_name_unless_a_file_has_it(run, fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ids_of(run("encode", "bytes", "ab")) == [97, 98]
    assert "leave out --from, --pattern" in fails("encode", "bytes", "ab", "--pattern", "gpt2", code=2)
    assert "are gpt2, cl100k_base" in " ".join(fails("encode", "gpt3", "ab").split())
    (tmp_path / "bytes").write_text("no tokenizer", "utf-8")
    assert "bytes" in fails("encode", "bytes", "ab")
