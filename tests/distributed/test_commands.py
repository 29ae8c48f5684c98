"""`--ray` of the commands; and what is said where there is no Ray."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import conversion
import hf_bpe
from hf_bpe import distributed
from hf_bpe.cli import app
from hf_bpe.errors import ClusterError
from tests.distributed.corpus import write_corpus
from tests.encoding.support import EOT, documents, encode, encoder

pytestmark = pytest.mark.xdist_group("ray")


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.usefixtures("dying")
def test_counts_make_on_a_cluster_writes_the_same_file(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    options = ["--drop-words-below", 2, "--special-token", EOT, "--memory-limit", "100MB", "--json"]
    told = [
        run("counts", "make", corpus, "-o", tmp_path / "one.parquet", *options),
        run("counts", "make", corpus, "-o", tmp_path / "two.parquet", "--ray", "auto", "--num-threads", 2, *options),
    ]
    assert [result.exit_code for result in told] == [0, 0], told
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    assert json.loads(told[0].stdout)["checksum"] == json.loads(told[1].stdout)["checksum"]


@pytest.mark.usefixtures("dying")
def test_encode_files_on_a_cluster_writes_the_same_ids(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    conversion.save(encoder().spec, tmp_path / "tokenizer.json")
    result = run("encode-files", tmp_path / "tokenizer.json", corpus, "-o", tmp_path / "ray", "--eos", EOT, "--ray", "auto")
    assert result.exit_code == 0, result
    assert documents(hf_bpe.open_encoded(tmp_path / "ray")) == documents(encode(corpus, tmp_path / "one", eos=EOT))


def test_what_does_not_go_together_is_a_usage_error(tmp_path: Path) -> None:
    result = run("counts", "make", tmp_path, "-o", tmp_path / "counts.parquet", "--ray", "auto", "--add")
    assert result.exit_code == 2
    assert "does not go with --ray" in result.stderr


def test_a_machine_without_ray_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=r"pip install 'hf-bpe\[ray\]'"):
        distributed.count(tmp_path, tmp_path / "counts.parquet")
    with pytest.raises(ClusterError, match=r"pip install 'hf-bpe\[ray\]'"):
        distributed.encode_files(encoder(), tmp_path, tmp_path / "encoded")
