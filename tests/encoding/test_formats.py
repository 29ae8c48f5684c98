"""Every format gives, document for document, the ids that `encode_ordinary` gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hf_bpe
from hf_bpe.errors import CorpusError
from tests.encoding.support import EOT, SEPARATOR, TEXTS, documents, encode, encoder, eot, expected, lines, write, write_parquet
from tests.support.text import generated_text
from tests.support.vocabularies import byte_spec

COMPRESSED = ["", ".gz", ".zst"]


@pytest.mark.parametrize("compression", COMPRESSED)
@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".json"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_lines(tmp_path: Path, ending: str, compression: str, ascii_only: bool) -> None:
    path = write(tmp_path / f"a{ending}{compression}", lines(ensure_ascii=ascii_only))
    assert documents(encode(path)) == expected()


@pytest.mark.parametrize("compression", COMPRESSED)
def test_text_with_a_separator(tmp_path: Path, compression: str) -> None:
    path = write(tmp_path / f"a.txt{compression}", SEPARATOR.join(TEXTS).encode())
    assert documents(encode(path, separator=SEPARATOR)) == expected()


@pytest.mark.parametrize("name", ["a.txt", "a.md", "no-ending", "a.py", "a.txt.gz"])
def test_text_without_a_separator_is_one_document(tmp_path: Path, name: str) -> None:
    text = SEPARATOR.join(TEXTS)
    assert documents(encode(write(tmp_path / name, text.encode()))) == expected([text])


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
@pytest.mark.parametrize("row_group_size", [1, 4, 1000])
def test_parquet(tmp_path: Path, kind: pa.DataType, row_group_size: int) -> None:
    path = write_parquet(tmp_path / "a.parquet", kind=kind, row_group_size=row_group_size)
    assert documents(encode(path)) == expected()


def test_golden_ids(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"text":"ab"}\n{"text":""}\n{"text":"\\u00e9"}\n')
    ids, offsets = hf_bpe.encode_files(byte_spec(), path, eos=0, progress=False)
    assert ids.tolist() == [97, 98, 0, 0, 195, 169, 0]
    assert offsets.tolist() == [0, 3, 4, 7]
    assert (ids.dtype, offsets.dtype) == (np.uint16, np.int64)


@pytest.mark.parametrize("eos", [EOT, "id"])
def test_every_document_is_ended(tmp_path: Path, eos: str) -> None:
    path = write(tmp_path / "a.jsonl", lines())
    assert documents(encode(path, eos=eot() if eos == "id" else eos)) == expected(eos=True)


def test_special_tokens_in_the_text_are_text(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines([f"a{EOT}b"]))
    assert eot() not in encode(path).ids


def test_other_fields_and_columns_can_be_named(tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", '{"text": 5, "täxt": "hello world"}\n'.encode())
    assert documents(encode(a, text_field="täxt")) == expected(["hello world"])
    b = write_parquet(tmp_path / "b.parquet")
    with pytest.raises(CorpusError, match="column 'n' holds int64, not strings"):
        encode(b, text_field="n")


def test_mixed_inputs_come_in_the_order_given(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a.txt", b"first"), write_parquet(tmp_path / "b.parquet", ["x", "y"])
    c = write(tmp_path / "c.jsonl.gz", lines(["p", "q"]))
    assert documents(encode([c, a, str(b)])) == expected(["p", "q", "first", "x", "y"])


def test_folders_and_patterns_are_sorted(tmp_path: Path) -> None:
    for name in ("b/2.txt", "b/1.txt", "a.txt", ".hidden.txt", ".git/x.txt", "_SUCCESS"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, name.encode())
    assert documents(encode(tmp_path)) == expected(["a.txt", "b/1.txt", "b/2.txt"])
    assert documents(encode(str(tmp_path / "**" / "[12].txt"))) == expected(["b/1.txt", "b/2.txt"])


def test_a_name_with_pattern_characters_is_itself_if_it_exists(tmp_path: Path) -> None:
    assert documents(encode(write(tmp_path / "a[1].txt", b"x"))) == expected(["x"])


# -- where documents begin and end -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "separator", "texts"),
    [
        ("a|b|", "|", ["a", "b"]),
        ("a||b", "|", ["a", "", "b"]),
        ("|", "|", [""]),
        ("a\n\n\nb", "\n\n", ["a", "\nb"]),
        ("a\r\nb\r\n", "\n", ["a\r", "b\r"]),
        ("", None, [""]),
        ("\ufeffa|b\ufeff|", "|", ["a", "b\ufeff"]),
        ("\ufeff", None, [""]),
    ],
)
def test_separators_end_documents_and_a_byte_order_mark_is_no_text(
    tmp_path: Path, content: str, separator: str | None, texts: list[str]
) -> None:
    assert documents(encode(write(tmp_path / "a.txt", content.encode()), separator=separator)) == expected(texts)


@pytest.mark.parametrize("block", range(3, 12))
def test_separators_are_found_wherever_a_block_ends(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hf_bpe.encoding.encode.BLOCK_BYTES", block)
    texts = ["aaaa", "=", "==a", "", "bb=", "=", "x" * 40]
    content = "===".join(texts)
    path = write(tmp_path / "a.txt", content.encode())
    assert documents(encode(path, separator="===")) == expected(content.split("==="))


def test_blank_lines_and_carriage_returns_are_no_documents(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"text":"a"}\r\n\r\n \t\n{"text":"b"}')
    assert documents(encode(path)) == expected(["a", "b"])


@pytest.mark.parametrize("pattern", [name for name in hf_bpe.NAMED_PATTERNS if name != "none"])
def test_a_long_document_is_encoded_in_parts_with_the_ids_of_the_whole(tmp_path: Path, pattern: str) -> None:
    text = "\n".join(generated_text(seed, 30) + "word" for seed in range(300)) + "\n1\nword \n9\r\n\r\nA!\nb\n" * 300
    spec = hf_bpe.train(iter([text]), 700, pattern=pattern, special_tokens=[EOT], progress=False)
    path = write(tmp_path / "a.txt", f"x{EOT}{text}{EOT}y".encode())
    calls: list[int] = []
    options = {"separator": EOT, "eos": EOT}
    ragged = hf_bpe.encode_files(spec, path, progress=lambda done, total: calls.append(done), **options)
    alone = hf_bpe.Encoder(spec)
    assert documents(ragged) == [[*alone.encode_ordinary(each), alone.encode_single_token(EOT)] for each in ("x", text, "y")]
    assert len(calls) > 20, "the text must be cut for this test to mean anything"
    corpus = hf_bpe.encode_files(spec, path, tmp_path / "out", progress=False, shard_tokens=1, **options)
    assert documents(corpus) == documents(ragged)


@pytest.mark.filterwarnings("ignore:only .* merges asked for were found")
def test_a_pattern_of_ones_own_sees_long_documents_whole(tmp_path: Path) -> None:
    spec = hf_bpe.train(iter(["ab\n" * 50]), 300, pattern=r"(?:ab\n)+", progress=False, min_frequency=1)
    text = "ab\n" * 2000
    assert documents(hf_bpe.encode_files(spec, write(tmp_path / "a.txt", text.encode()), progress=False)) == [
        hf_bpe.Encoder(spec).encode_ordinary(text)
    ]


def test_many_small_files(tmp_path: Path) -> None:
    texts = [f"document number {number}" for number in range(200)]
    paths = [write(tmp_path / f"{number}.txt", text.encode()) for number, text in enumerate(texts)]
    assert documents(encode(paths, eos=EOT)) == expected(texts, eos=True)


@pytest.mark.parametrize("num_threads", [1, 2, 5])
def test_threads_change_nothing(tmp_path: Path, num_threads: int) -> None:
    assert documents(encode(write(tmp_path / "a.jsonl", lines()), num_threads=num_threads)) == expected()


def test_a_spec_will_do_for_an_encoder_and_the_reference_engine_too(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines())
    assert documents(hf_bpe.encode_files(encoder().spec, path, progress=False)) == expected()
    reference = hf_bpe.Encoder(encoder().spec, engine="reference")
    assert documents(hf_bpe.encode_files(reference, path, progress=False)) == expected()


# -- types of ids --------------------------------------------------------------------------------------------------------


def test_type_of_ids(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"abc")
    assert encode(path).ids.dtype == np.uint16
    assert encode(path, dtype="uint32").ids.dtype == np.uint32
    large = byte_spec().replace(added_tokens=(hf_bpe.AddedToken(EOT, 65535),))
    assert hf_bpe.encode_files(large, path, eos=EOT, progress=False).ids.tolist() == [97, 98, 99, 65535]
    larger = byte_spec().replace(added_tokens=(hf_bpe.AddedToken(EOT, 65536),))
    ids = hf_bpe.encode_files(larger, path, eos=EOT, progress=False).ids
    assert (ids.dtype, ids.tolist()) == (np.uint32, [97, 98, 99, 65536])
    with pytest.raises(ValueError, match="uint16 does not hold ids up to 65536"):
        hf_bpe.encode_files(larger, path, dtype="uint16", progress=False)
    with pytest.raises(ValueError, match="must be uint16 or uint32, not int64"):
        encode(path, dtype="int64")
