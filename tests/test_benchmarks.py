"""The benchmarks on a small text: each vocabulary against its own reference."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import conversion
import hf_bpe
from benchmarks import encode, merging
from benchmarks.peers import Unsupported, load_tokenizers
from benchmarks.vocabularies import prepare

TEXT = "Hello  world, größer 안녕 ▁x <s>\n12345\n" * 20


def measured(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> list[dict[str, Any]]:
    corpus, output = folder / "corpus.txt", folder / "results.json"
    corpus.write_text(TEXT, "utf-8")
    command = ["encode", "--corpus", str(corpus), "--rounds", "1", "--seconds", "0", "--output", str(output), *options]
    monkeypatch.setattr(sys, "argv", command)
    encode.main()
    cells: list[dict[str, Any]] = json.loads(output.read_text("utf-8"))["results"]
    return cells


def test_each_vocabulary_has_its_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["--vocabulary", "mistral_v1", "gpt2", "--sections", "decode", "--peers", "tokenizers"]
    cells = measured(tmp_path, monkeypatch, *options)
    assert [set(cell["measured"]) for cell in cells] == [
        {"hf-bpe", "sentencepiece", "tokenizers"},
        {"hf-bpe", "sentencepiece"},
        {"hf-bpe", "tiktoken", "tokenizers"},
        {"hf-bpe"},
    ]
    assert cells[0]["refused"] == {"tiktoken": "needs vocabulary.tiktoken, which cannot hold this vocabulary"}
    assert cells[2]["refused"] == {"sentencepiece": "needs vocabulary.model, which cannot hold this vocabulary"}


def test_a_model_that_tokenizer_json_cannot_hold(tmp_path: Path) -> None:
    spec = hf_bpe.train(iter([TEXT]), 300, dialect="sentencepiece", progress=False, hard_vocab_limit=False)  # nmt_nfkc
    conversion.save(spec, tmp_path / "m.model")
    files = prepare("m", tmp_path / "m.model", tmp_path)
    assert files.reference == "sentencepiece"
    with pytest.raises(Unsupported, match=r"needs tokenizer\.json"):
        load_tokenizers(files, 1)


def test_merging_is_timed_for_each_number_of_merges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(TEXT, "utf-8")
    monkeypatch.setattr(sys, "argv", ["merging", "--corpus", str(corpus), "--merges", "1", "20", "--rounds", "2"])
    merging.main()
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.startswith("corpus.txt: 0 MB, 13 distinct words")
    assert [line.split(" merges: ")[0].strip() for line in lines] == ["1", "20"]
