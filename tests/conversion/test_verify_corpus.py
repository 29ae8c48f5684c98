"""Corpora of any format and size are compared document by document, and a comparison can be ended at any time."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import conversion
from conversion.format import Given
from conversion.verification import comparison, corpus
from conversion.verification.corpus import read_corpus
from conversion.verification.loaders import load_side
from conversion.verification.report import OriginReport
from hf_bpe.errors import CorpusError
from tests.conversion.support import spec_of_tokens
from tests.support.vocabularies import byte_spec

A, B = spec_of_tokens([b"#@"]), byte_spec()


def read(*paths, separator="<|endoftext|>", text_field="text") -> list[tuple[str, str]]:
    return [(document.where, document.text) for document in read_corpus(paths, separator=separator, text_field=text_field)]


def test_text_files_are_cut_at_the_separator(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"one\r\n<|endoftext|>two<|endoftext|><|endoftext|>\nthree")
    assert read(path) == [
        ("corpus.txt, document 1", "one\r\n"),
        ("corpus.txt, document 2", "two"),
        ("corpus.txt, document 4", "\nthree"),
    ]
    assert read(path, separator=None) == [("corpus.txt, document 1", path.read_bytes().decode())]


def test_every_format_gives_the_same_documents(tmp_path):
    zstd = pytest.importorskip("backports.zstd")
    texts = ["one", "zwei é", "#@"]
    lines = "".join(json.dumps({"body": text}) + "\n" for text in texts).encode()
    (tmp_path / "a.jsonl").write_bytes(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "a.jsonl.zst").write_bytes(zstd.compress(lines))
    (tmp_path / "a.txt.zst").write_bytes(zstd.compress("<|endoftext|>".join(texts).encode()))
    pq.write_table(pa.table({"body": texts}), tmp_path / "a.parquet")
    paths = sorted(tmp_path.iterdir())
    for path in paths:
        assert [text for _, text in read(path, text_field="body")] == texts
    report = conversion.verify(A, B, corpus=tmp_path, text_field="body")
    assert report.origins[-1] == OriginReport("corpus", 3 * len(paths), len(paths))
    assert report.first is not None
    assert report.first.where == "a.jsonl, line 3"


def test_a_file_without_separators_is_cut_between_characters_and_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "_BLOCK_BYTES", 10)
    text = "abc\n" * 7 + "d" * 35 + "é中😀" * 20
    (tmp_path / "corpus.txt").write_text(text, "utf-8")
    parts = [part for _, part in read(tmp_path / "corpus.txt")]
    assert "".join(parts) == text
    assert max(len(part.encode()) for part in parts) < 40


def test_memory_does_not_grow_with_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "_BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(comparison, "_BATCH_CHARACTERS", 1 << 14)
    spec = byte_spec()
    peaks = []
    for size in (1 << 19, 1 << 21):
        (tmp_path / "corpus.txt").write_text("x" * size)
        running = comparison.Comparison(*(load_side(spec, "own", Given()) for _ in "ab"))
        tracemalloc.start()
        running.run(read_corpus(tmp_path / "corpus.txt", separator=None, text_field="text"))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert running.a_tokens == size
    assert peaks[1] < 1.3 * peaks[0]


def test_progress_tells_bytes_of_all_files(tmp_path):
    told: list[int] = []
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("x" * 100)
    found = list(read_corpus(tmp_path, separator=None, text_field="text", report=told.append))
    assert len(found) == 2
    assert told == sorted(told)
    assert told[-1] == corpus.corpus_size(tmp_path) == 200


def test_a_bar_is_shown_only_where_asked_for(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("#@")
    conversion.verify(A, B, corpus=tmp_path / "a.txt", progress=True)
    assert "comparing" in capsys.readouterr().err
    conversion.verify(A, B, corpus=tmp_path / "a.txt")
    assert capsys.readouterr().err == ""


def test_what_cannot_be_read_is_named_before_anything_is_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison.Comparison, "run", lambda *_: pytest.fail("nothing should have been compared"))
    with pytest.raises(CorpusError, match=r"nothing\.txt: does not exist"):
        conversion.verify(A, B, corpus=tmp_path / "nothing.txt")


def test_a_corpus_that_is_damaged_is_named_with_the_place(tmp_path):
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(
        CorpusError, match=r"latin\.txt: document 1, byte 3 of the text: not UTF-8: byte 0xE9. Mend it, or take it out"
    ):
        conversion.verify(A, B, corpus=tmp_path / "latin.txt")
    (tmp_path / "a.jsonl").write_text('{"other": "x"}\n')
    with pytest.raises(CorpusError, match=r"a\.jsonl: line 1: "):
        conversion.verify(A, B, corpus=tmp_path / "a.jsonl")


def test_a_proof_makes_the_corpus_superfluous(tmp_path):
    (tmp_path / "a.txt").write_text("#@")
    report = conversion.verify(A, A, corpus=tmp_path / "a.txt")
    assert report.proof
    assert [origin.origin for origin in report.origins] == ["built-in"]


def test_ctrl_c_gives_what_is_known_by_then(monkeypatch):
    def texts() -> Iterator[str]:
        yield from ["#@"] * 3
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "_BATCH_CHARACTERS", 1)
    report = conversion.verify(A, B, texts=texts())
    assert report.interrupted
    assert report.origins[-1] == OriginReport("given", 3, 3)
    assert report.smallest is not None
    assert report.smallest.text == "#@"
    assert "interrupted" in report.summary()


def test_ctrl_c_while_a_difference_is_made_smaller_leaves_the_rest(monkeypatch):
    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison.Comparison, "smallest", interrupted)
    report = conversion.verify(A, B, texts=["#@"])
    assert report.interrupted
    assert report.causes == ()
    assert report.first is not None
    assert not report.equal


def test_a_long_document_is_searched_near_the_difference():
    report = conversion.verify(A, B, texts=["x" * 200_000 + "#@" + "y" * 200_000])
    assert report.smallest is not None
    assert report.smallest.text == "#@"
    assert report.first is not None
    assert report.first.ids_in_common == 200_000
    assert report.first.offset + report.first.text.index("#@") == 200_000
