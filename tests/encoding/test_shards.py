"""What is in the folder: files that training loops read, an index that tells all, and a reader over them."""

from __future__ import annotations

import copy
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hf_bpe
from hf_bpe.encoding.encode import SHARD_TOKENS
from hf_bpe.encoding.index import HEADER_BYTES
from hf_bpe.encoding.shards import offsets_header
from hf_bpe.errors import FormatError
from tests.encoding.support import (
    EOT,
    SEPARATOR,
    TEXTS,
    contents,
    documents,
    encode,
    encoder,
    eot,
    expected,
    lines,
    write,
    write_parquet,
)
from tests.support.vocabularies import byte_spec


def test_golden_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"text":"ab"}\n{"text":""}\nbad\n{"text":"cde"}\nbad\n')
    with pytest.warns(UserWarning, match="left out 2"):
        hf_bpe.encode_files(
            byte_spec(), path, tmp_path / "out", eos=0, shard_tokens=4, on_bad="skip", progress=False, num_threads=1
        )
    files = contents(tmp_path / "out")
    index = json.loads(files.pop("index.json"))
    assert files == {
        "shard-00000.bin": b"a\0b\0\0\0\0\0",
        "shard-00000.offsets.npy": offsets_header(3) + np.array([0, 3, 4], "<i8").tobytes(),
        "shard-00001.bin": b"c\0d\0e\0\0\0",
        "shard-00001.offsets.npy": offsets_header(2) + np.array([0, 4], "<i8").tobytes(),
    }
    checksums = [f"{zlib.crc32(content):08x}" for content in files.values()]
    assert index == {
        "format": "hf-bpe encoded corpus",
        "version": 1,
        "complete": True,
        "tokens": 8,
        "documents": 3,
        "skipped": 2,
        "tokenizer": byte_spec().fingerprint,
        "n_vocab": 256,
        "dtype": "<u2",
        "eos": 0,
        "text_field": "text",
        "separator": None,
        "on_bad": "skip",
        "shard_tokens": 4,
        "part_bytes": None,
        "sources": [{"path": str(path), "format": "jsonl", "size": 49, "mtime_ns": path.stat().st_mtime_ns}],
        "shards": [
            {
                "ids": "shard-00000.bin",
                "offsets": "shard-00000.offsets.npy",
                "tokens": 4,
                "documents": 2,
                "ids_crc32": checksums[0],
                "offsets_crc32": checksums[1],
                "end": {"source": 0, "place": {"offset": 26, "row": 2}, "skipped": 0},
            },
            {
                "ids": "shard-00001.bin",
                "offsets": "shard-00001.offsets.npy",
                "tokens": 4,
                "documents": 1,
                "ids_crc32": checksums[2],
                "offsets_crc32": checksums[3],
                "end": {"source": 0, "place": {"offset": 45, "row": 4}, "skipped": 1},
            },
        ],
    }


@pytest.mark.parametrize("count", [0, 1, 9, 10**6, 10**18])
def test_header_of_offsets_has_one_length(count: int) -> None:
    assert len(offsets_header(count)) == HEADER_BYTES


@pytest.mark.parametrize("shard_tokens", [1, 7, 300, 10**6])
@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_files_read_with_numpy_alone(tmp_path: Path, shard_tokens: int, dtype: str) -> None:
    encode(write(tmp_path / "a.jsonl", lines()), tmp_path / "out", eos=EOT, shard_tokens=shard_tokens, dtype=dtype)
    found: list[list[int]] = []
    flat: list[int] = []
    for path in sorted((tmp_path / "out").glob("*.bin")):
        ids = np.memmap(path, dtype, "r")
        offsets = np.load(path.with_suffix(".offsets.npy"), mmap_mode="r")
        assert (offsets[0], offsets[-1]) == (0, len(ids))
        found += [part.tolist() for part in np.split(ids, offsets[1:-1])]
        flat += ids.tolist()
    assert found == expected(eos=True)
    assert flat == [number for ids in expected(eos=True) for number in ids]


def test_a_shard_ends_with_the_document_that_fills_it(tmp_path: Path) -> None:
    corpus = encode(write(tmp_path / "a.jsonl", lines()), tmp_path / "out", shard_tokens=150)
    assert corpus.num_shards > 5
    for number in range(corpus.num_shards - 1):
        ids, offsets = corpus.shard(number)
        assert offsets[-2] < 150 <= len(ids)


@pytest.mark.parametrize("block", [200, 5000, 10**6])
def test_batches_and_threads_do_not_show_in_the_files(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [
        write(tmp_path / "a.jsonl.gz", lines()),
        write(tmp_path / "b.txt", SEPARATOR.join(TEXTS).encode()),
        write_parquet(tmp_path / "c.parquet", row_group_size=5),
    ]
    options = {"separator": SEPARATOR, "shard_tokens": 100}
    encode(paths, tmp_path / "one", **options, num_threads=1)
    monkeypatch.setattr("hf_bpe.encoding.encode.BLOCK_BYTES", block)
    encode(paths, tmp_path / "two", **options, num_threads=3)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def corpus(tmp_path: Path) -> hf_bpe.EncodedCorpus:
    encode(write(tmp_path / "a.jsonl", lines()), tmp_path / "out", shard_tokens=100)
    return hf_bpe.open_encoded(tmp_path / "out")


def test_reader_is_a_sequence(corpus: hf_bpe.EncodedCorpus) -> None:
    assert len(corpus) == len(TEXTS)
    assert [corpus[number].tolist() for number in range(len(TEXTS))] == expected()
    assert [corpus[-number].tolist() for number in range(1, len(TEXTS) + 1)] == expected()[::-1]
    assert [ids.tolist() for ids in corpus[2:20:3]] == expected()[2:20:3]
    assert documents(corpus) == expected()
    assert corpus[np.int64(3)].tolist() == expected()[3]
    for beyond in (len(TEXTS), -len(TEXTS) - 1):
        with pytest.raises(IndexError, match=f"document {beyond} of {len(TEXTS)}"):
            corpus[beyond]


def test_reader_tells_what_it_holds(corpus: hf_bpe.EncodedCorpus) -> None:
    assert corpus.tokens == sum(map(len, expected()))
    assert (corpus.dtype, corpus.complete, corpus.skipped) == (np.uint16, True, 0)
    assert corpus.fingerprint == encoder().spec.fingerprint
    assert repr(corpus).endswith(f"documents={len(TEXTS)}, tokens={corpus.tokens:,}, dtype=uint16)")


def test_documents_cannot_be_written_to(corpus: hf_bpe.EncodedCorpus) -> None:
    with pytest.raises(ValueError, match="read-only"):
        corpus[0][0] = 1


def test_reader_pickles_as_its_path(corpus: hf_bpe.EncodedCorpus) -> None:
    list(corpus)
    content = pickle.dumps(corpus)
    assert len(content) < 500
    assert documents(pickle.loads(content)) == documents(copy.deepcopy(corpus)) == expected()


def test_documents_without_ids(tmp_path: Path) -> None:
    corpus = encode(write(tmp_path / "a.jsonl", lines(["", "", ""])), tmp_path / "out")
    assert (len(corpus), corpus.tokens, documents(corpus)) == (3, 0, [[], [], []])
    corpus.verify()


def test_damage_is_found(corpus: hf_bpe.EncodedCorpus) -> None:
    corpus.verify()
    path = corpus.folder / "shard-00001.bin"
    content = path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    with pytest.raises(FormatError, match=r"shard-00001\.bin: is not what index\.json says"):
        corpus.verify()
    path.write_bytes(content[:-2])
    with pytest.raises(FormatError, match=rf"shard-00001\.bin: has {len(content) - 2} bytes instead of {len(content)}"):
        hf_bpe.open_encoded(corpus.folder)
    path.unlink()
    with pytest.raises(FormatError, match=r"shard-00001\.bin: cannot be read"):
        hf_bpe.open_encoded(corpus.folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda index: index.update(format="other"), "is not the index of an encoded corpus"),
        (lambda index: index.update(version=2), "has version 2, this hf-bpe reads 1"),
        (lambda index: index.update(dtype="<u8"), "dtype '<u8' is not known"),
        (lambda index: index.pop("shards"), r"damaged \(KeyError: 'shards'\)"),
        (lambda index: index["shards"][0].pop("end"), r"damaged \(KeyError"),
        (lambda index: index["shards"][0].update(more=1), r"damaged \(TypeError"),
    ],
)
def test_a_damaged_index_is_refused(corpus: hf_bpe.EncodedCorpus, change: object, message: str) -> None:
    path = corpus.folder / "index.json"
    index = json.loads(path.read_text())
    change(index)  # type: ignore[operator]
    path.write_text(json.dumps(index))
    with pytest.raises(FormatError, match=message):
        hf_bpe.open_encoded(corpus.folder)


def test_what_is_no_encoded_corpus(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"index\.json: cannot be read: No such file"):
        hf_bpe.open_encoded(tmp_path)
    for content in ("[]", "{", "null", ""):
        (tmp_path / "index.json").write_text(content)
        with pytest.raises(FormatError, match="damaged"):
            hf_bpe.open_encoded(tmp_path)


def test_ids_of_the_end_token_stand_between_documents(corpus: hf_bpe.EncodedCorpus) -> None:
    assert eot() not in np.concatenate(list(corpus))


def test_shards_are_100_million_ids_unless_told_otherwise(tmp_path: Path) -> None:
    encode(write(tmp_path / "a.txt", b"x"), tmp_path / "out")
    assert json.loads((tmp_path / "out" / "index.json").read_text())["shard_tokens"] == SHARD_TOKENS == 100_000_000


def test_the_training_loop_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encode(write(tmp_path / "a.jsonl", lines()), tmp_path / "encoded", eos=EOT, shard_tokens=300)
    page = Path(__file__).parents[2].joinpath("docs", "encoding_files.md").read_text("utf-8")
    code = next(block for block in page.split("```") if block.startswith("python") and "def batch" in block)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(code.removeprefix("python"), scope)
    x, y = scope["batch"](16, 40)
    assert x.shape == y.shape == (16, 40)
    assert (x[:, 1:] == y[:, :-1]).all()
