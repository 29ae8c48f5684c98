"""Bad input stops the run with the file and the place, or is left out, counted and warned about; nothing goes silently."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hf_bpe
from hf_bpe.errors import CorpusError
from tests.encoding.support import TEXTS, documents, encode, expected, lines, write, write_parquet

BAD_LINES = lines(["a"]) + b'nope\n{"x":1}\n' + lines(["b"]) + b'{"text":null}\n\n{"text":"\xff"}\n'


def fails(paths: object, **options: object) -> str:
    with pytest.raises(CorpusError) as caught:
        encode(paths, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nope", "not JSON: expected ident at column 2"),
        (b"[", "invalid type: sequence, expected an object on each line"),
        (b'{"text":"a', "EOF while parsing a string at column 10; a record must be whole on its line"),
        (b'{"txt":"a"}', 'no field "text"'),
        (b'{"text":null}', 'invalid type: null, expected a string in field "text"'),
        (b'{"text":"\xff"}', "not UTF-8: byte 0xFF at column 10"),
    ],
)
@pytest.mark.parametrize("before", [0, 1, 30])
def test_bad_lines_are_named(tmp_path: Path, line: bytes, reason: str, before: int) -> None:
    path = write(tmp_path / "a.jsonl", lines(["some text"] * before) + b"\n" + line + b"\n" + lines())
    message = fails(path)
    assert message.startswith(f"{path}: line {before + 2}: ")
    assert reason in message
    assert 'on_bad="skip"' in message


def test_bad_text_is_named(tmp_path: Path) -> None:
    content = ("x" * 30 + "|").encode() * 40
    path = write(tmp_path / "a.txt", content + b"abc\xff|ok")
    assert f"{path}: document 41, byte {len(content) + 3} of the text: not UTF-8: byte 0xFF" in fails(path, separator="|")
    with pytest.warns(UserWarning, match=r"left out 1 document that cannot be read; the first: .*document 41"):
        ragged = encode(path, separator="|", on_bad="skip")
    assert documents(ragged) == expected(["x" * 30] * 40 + ["ok"])
    assert "is UTF-16 text" in fails(write(tmp_path / "b.txt", "text".encode("utf-16")))
    assert "byte 2 of the text" in fails(write(tmp_path / "c.txt", b"ab\xc3"))


def test_bad_rows_are_named(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", ["x"] * 20 + [None, "y"], row_group_size=4)
    assert f"{path}: row 21: null instead of a text" in fails(path)
    broken = pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\3\0\0\0\4\0\0\0"), pa.py_buffer(b"a\xc3(b")]
    )
    pq.write_table(pa.table({"text": broken}), tmp_path / "b.parquet")
    assert "row 2, byte 0 of the text: not UTF-8: byte 0xC3" in fails(tmp_path / "b.parquet")
    with pytest.warns(UserWarning, match="left out 2 documents"):
        ragged = encode([path, tmp_path / "b.parquet"], on_bad="skip")
    assert documents(ragged) == expected(["x"] * 20 + ["y", "a", "b"])


def test_skipped_documents_are_counted_in_the_index(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", BAD_LINES * 10)
    with pytest.warns(UserWarning, match=r"left out 40 documents that cannot be read; the first: .*line 2: not JSON"):
        corpus = encode(path, tmp_path / "out", on_bad="skip", shard_tokens=3)
    assert documents(corpus) == expected(["a", "b"] * 10)
    assert (corpus.skipped, corpus.num_shards > 1) == (40, True)


def test_nothing_but_bad_documents_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b"nope\n" * 3)
    assert "the files hold no documents" in fails(path, on_bad="skip")
    with pytest.raises(CorpusError, match="no documents; 3 bad ones were skipped"):
        encode(path, tmp_path / "out", on_bad="skip")


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt"])
def test_nothing_at_all_is_an_error(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, b"")
    assert "hold no documents" in fails(path, separator="\n")


# -- damaged files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [".gz", ".zst"])
@pytest.mark.parametrize("damage", ["cut", "one byte less", "rubbish behind", "not compressed", "empty", "flipped"])
def test_damaged_compression(tmp_path: Path, kind: str, damage: str) -> None:
    path = write(tmp_path / f"a.jsonl{kind}", lines(TEXTS * 30))
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(
        {
            "cut": content[:middle],
            "one byte less": content[:-1],
            "rubbish behind": content + b"rubbish",
            "not compressed": lines(),
            "empty": b"",
            "flipped": content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :],
        }[damage]
    )
    message = fails(path)
    assert str(path) in message
    if damage != "flipped":  # bits that still unpack may spoil a line before the checksum is reached
        assert "fetch it again" in message
    if damage == "cut":
        assert "ends in the middle of its" in message


def test_several_members_in_one_compressed_file(tmp_path: Path) -> None:
    for kind in (".gz", ".zst"):
        one = write(tmp_path / f"one.jsonl{kind}", lines(["a"])).read_bytes()
        path = tmp_path / f"two.jsonl{kind}"
        path.write_bytes(one + write(tmp_path / f"one.jsonl{kind}", lines(["b"])).read_bytes())
        assert documents(encode(path)) == expected(["a", "b"])


def test_damaged_parquet(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", TEXTS * 100)
    content = path.read_bytes()
    for damaged in (content[:-10], b"", b"PAR1", lines(), content[: len(content) // 2]):
        path.write_bytes(damaged)
        assert f"{path}: cannot be read as Parquet" in fails(path)
    pq.write_table(pa.table({"text": TEXTS * 100}), path, write_page_checksum=True)
    content = path.read_bytes()
    path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    assert f"{path}: cannot be read as Parquet" in fails(path)


def test_missing_columns_are_found_before_anything_is_written(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a.txt", b"first"), write_parquet(tmp_path / "b.parquet")
    with pytest.raises(CorpusError, match="has no column 'content'; name one of 'n', 'text' as text_field"):
        encode([a, b], tmp_path / "out", text_field="content")
    assert not (tmp_path / "out").exists()


def test_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a.txt", b"x" * 100), write(tmp_path / "b.txt", b"second")
    os.utime(a, ns=(1, 1))

    found = hf_bpe.corpus.sources.find_sources([a, b])[0]
    a.write_bytes(b"other")
    with pytest.raises(CorpusError, match=r"a\.txt: was changed while it was read"):
        found.check_unchanged()


# -- which files -------------------------------------------------------------------------------------------------------


def test_paths_that_cannot_be_meant(tmp_path: Path) -> None:
    a = write(tmp_path / "a.txt", b"x")
    assert "nowhere.txt: does not exist" in fails(tmp_path / "nowhere.txt")
    assert "no file matches this pattern" in fails(str(tmp_path / "*.jsonl"))
    assert "named twice" in fails([a, tmp_path / "sub" / ".." / "a.txt"] if (tmp_path / "sub").mkdir() is None else a)
    assert "named twice" in fails([a, str(tmp_path / "*.txt")])
    assert "no files were named" in fails([])
    (tmp_path / "empty").mkdir()
    assert "is a folder without files" in fails(tmp_path / "empty")
    with pytest.raises(TypeError, match=r"a path is a str or a pathlib\.Path, not 5"):
        encode([a, 5])


@pytest.mark.parametrize("name", ["a.jsonl.bz2", "a.zip", "a.npy", "a.arrow", "a.bin.gz", "a.parquet.gz"])
def test_formats_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    assert name in fails(write(tmp_path / name, b"x"))


def test_a_folder_with_files_of_unknown_kind_is_refused_rather_than_read_in_part(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", lines())
    write(tmp_path / "b.csv", b"a,b")
    write(tmp_path / "c.xyz", b"a,b")
    message = fails(tmp_path)
    assert "b.csv (and 1 more): its ending does not say what it holds" in message
    assert "*.jsonl" in message


@pytest.mark.skipif(os.name == "nt", reason="POSIX")
def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in fails(tmp_path / "pipe")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"x")
    path.chmod(0)
    assert "cannot be read: Permission denied" in fails(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_bad": "ignore"}, "on_bad must be 'raise' or 'skip', not 'ignore'"),
        ({"separator": ""}, "separator must not be empty"),
        ({"separator": "\ud800"}, "lone surrogate"),
        ({"text_field": "\ud800"}, "lone surrogate"),
        ({"shard_tokens": 0}, "shard_tokens must be at least 1, not 0"),
        ({"num_threads": 0}, "num_threads must be at least 1, not 0"),
        (
            {"eos": "<|end|>"},
            r"eos '<\|end\|>' is not a special token or an id of this tokenizer; its special tokens: '<\|endoftext\|>'",
        ),
        ({"eos": 10_000}, "eos 10000 is not"),
        ({"eos": -1}, "eos -1 is not"),
        ({"eos": 2**70}, f"eos {2**70} is not"),
        ({"eos": True}, "eos True is not"),
    ],
)
def test_options_that_make_no_sense(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode(write(tmp_path / "a.txt", b"x"), tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("module", "name"), [("pyarrow.parquet", "a.parquet"), ("zstd", "a.txt.zst")])
def test_missing_extras_are_named(tmp_path: Path, module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_parquet(tmp_path / name) if name.endswith("parquet") else write(tmp_path / name, b"x")
    for missing in (module, f"compression.{module}", f"backports.{module}"):
        monkeypatch.setitem(__import__("sys").modules, missing, None)
    assert f"pip install 'hf-bpe[{module.rpartition('.')[2]}]'" in fails(path)
