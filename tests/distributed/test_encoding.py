from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hf_bpe
from hf_bpe import distributed
from hf_bpe.corpus.sources import find_sources
from hf_bpe.distributed import encoding
from hf_bpe.distributed.parts import parts_of
from hf_bpe.encoding.index import Index
from hf_bpe.errors import CorpusError, ResumeRefused
from tests.distributed import deaths
from tests.distributed.corpus import write_corpus
from tests.distributed.deaths import Deaths
from tests.distributed.test_counting import _StoppingBar
from tests.encoding.support import EOT, contents, documents, encode, encoder, expected, lines, write

pytestmark = [pytest.mark.usefixtures("dying"), pytest.mark.xdist_group("ray")]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus")


def encode_on_ray(corpus: Any, output: Path, **options: Any) -> hf_bpe.EncodedCorpus:
    settings = {"eos": EOT, "shard_tokens": 300, "part_bytes": 1, "memory_limit": "100MB", "progress": False}
    return distributed.encode_files(encoder(), corpus, output, **{**settings, **options})


def everything(folder: Path) -> dict[str, dict[str, bytes]]:
    return {path.name: contents(path) for path in sorted(folder.glob("part-*"))} | {
        "index": {"": (folder / "index.json").read_bytes()}
    }


def test_ids_and_documents_are_those_of_one_process(corpus: Path, tmp_path: Path) -> None:
    parallel = encode_on_ray(corpus, tmp_path / "ray")
    one = encode(corpus, tmp_path / "one", eos=EOT, shard_tokens=300)
    assert documents(parallel) == documents(one)
    assert parallel.num_shards > 6
    parallel.verify()
    for number, part in enumerate(parts_of(find_sources(corpus), 1)):
        alone = tmp_path / f"alone{number}"
        encode([source.path for source in part], alone, eos=EOT, shard_tokens=300)
        assert contents(alone) == contents(tmp_path / "ray" / f"part-{number:05d}")


def test_the_index_alone_leads_a_training_loop_to_every_id(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ray"
    parallel = encode_on_ray(corpus, folder, part_bytes=3000)
    index = json.loads((folder / "index.json").read_text())
    ids = np.concatenate([np.fromfile(folder / shard["ids"], index["dtype"]) for shard in index["shards"]])
    assert ids.tolist() == [number for document in documents(parallel) for number in document]
    sources = [shard["end"]["source"] for shard in index["shards"]]
    assert sources == sorted(sources)
    assert sources[-1] == 5


def test_workers_that_die_change_nothing(corpus: Path, tmp_path: Path, dying: Deaths) -> None:
    encode_on_ray(corpus, tmp_path / "ray")
    whole = everything(tmp_path / "ray")
    dying.order(deaths.BETWEEN_SHARDS, deaths.BEFORE_RETURNING_SHARDS)
    encode_on_ray(corpus, tmp_path / "ray", overwrite=True)
    assert everything(tmp_path / "ray") == whole


def _complete_shards(folder: Path) -> Iterator[Path]:
    """The files that the parts name: others, which a worker was killed beside, are written again."""
    for index in folder.glob("part-*/index.json"):
        for shard in Index.load(index.parent).shards:
            yield from (index.parent / shard.ids, index.parent / shard.offsets)


def test_a_run_that_is_stopped_goes_on_with_the_parts_that_are_missing(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode_on_ray(corpus, tmp_path / "whole")
    folder = tmp_path / "ray"
    with monkeypatch.context() as patch:
        patch.setattr(encoding, "byte_bar", _StoppingBar)
        with pytest.raises(KeyboardInterrupt):
            encode_on_ray(corpus, folder)
    kept = {path: path.stat().st_mtime_ns for path in _complete_shards(folder)}
    assert kept
    with pytest.raises(ResumeRefused, match="part_bytes: 1 there, 2 now"):
        encode_on_ray(corpus, folder, part_bytes=2)
    with pytest.raises(ResumeRefused, match="part_bytes: 1 there, None now"):
        encode(corpus, folder, eos=EOT, shard_tokens=300)
    encode_on_ray(corpus, folder)
    assert everything(folder) == everything(tmp_path / "whole")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_documents_that_cannot_be_read_are_named_or_left_out_and_counted(corpus: Path, tmp_path: Path) -> None:
    write(corpus / "b.jsonl", b"{\n" + lines(["one"]) + b"[]\n")
    with pytest.raises(CorpusError, match=r"b\.jsonl: line 1"):
        encode_on_ray(corpus, tmp_path / "ray")
    with pytest.warns(UserWarning, match="left out 2 documents"):
        skipping = encode_on_ray(corpus, tmp_path / "ray", on_bad="skip", overwrite=True)
    assert skipping.skipped == 2
    one = encode(corpus, tmp_path / "one", on_bad="skip", eos=EOT)
    assert documents(skipping) == documents(one)
    ends = [shard["end"]["skipped"] for shard in json.loads((tmp_path / "ray" / "index.json").read_text())["shards"]]
    assert ends == sorted(ends)
    assert ends[-1] == 2


def test_files_without_documents_are_refused_only_if_all_are(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", b"")
    with pytest.raises(CorpusError, match="the files hold no documents"):
        encode_on_ray(tmp_path / "a.jsonl", tmp_path / "ray")
    write(tmp_path / "b.jsonl", lines(["one"]))
    parallel = encode_on_ray([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "both")
    assert documents(parallel) == expected(["one"], eos=True)
