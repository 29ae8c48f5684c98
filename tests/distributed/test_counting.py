from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import ray

import hf_bpe
from hf_bpe import distributed
from hf_bpe.distributed import counting, runs
from hf_bpe.errors import ClusterError, CorpusError, ResumeRefused, TrainingError
from tests.distributed import deaths
from tests.distributed.corpus import write_corpus
from tests.distributed.deaths import Deaths
from tests.encoding.support import EOT, TEXTS, lines, write

pytestmark = [pytest.mark.usefixtures("dying"), pytest.mark.xdist_group("ray")]

OPTIONS: dict[str, Any] = {"pattern": "o200k", "special_tokens": [EOT], "progress": False}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus")


@pytest.fixture
def one_process(corpus: Path, tmp_path: Path) -> bytes:
    """The word-count file as one process makes it."""
    output = tmp_path / "one.parquet"
    hf_bpe.WordCounts.count(corpus, output=output, **OPTIONS)
    return output.read_bytes()


def count(corpus: Any, output: Path, **options: Any) -> hf_bpe.WordCounts:
    return distributed.count(corpus, output, **{**OPTIONS, "part_bytes": 1, "memory_limit": "100MB", **options})


def test_the_file_is_the_one_that_one_process_makes(corpus: Path, one_process: bytes, tmp_path: Path) -> None:
    two = tmp_path / "two.parquet"
    counts = count(corpus, two)
    assert two.read_bytes() == one_process
    assert [path.name for path in tmp_path.iterdir() if "two" in path.name] == ["two.parquet"]
    assert hf_bpe.train(counts, 400).merges == hf_bpe.train(corpus, 400, **OPTIONS).merges


@pytest.mark.parametrize(("part_bytes", "fan_in"), [(1 << 30, 2), (3000, 3)])
def test_neither_parts_nor_the_shape_of_the_tree_change_it(
    corpus: Path, one_process: bytes, tmp_path: Path, part_bytes: int, fan_in: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "FAN_IN", fan_in)
    count(corpus, tmp_path / "two.parquet", part_bytes=part_bytes)
    assert (tmp_path / "two.parquet").read_bytes() == one_process


def test_workers_that_die_change_nothing(
    corpus: Path, one_process: bytes, tmp_path: Path, dying: Deaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "FAN_IN", 2)
    dying.order(deaths.BEFORE_COUNTED, deaths.BEFORE_RETURNING_COUNTS, deaths.BEFORE_RETURNING_SUM)
    count(corpus, tmp_path / "two.parquet")
    assert (tmp_path / "two.parquet").read_bytes() == one_process


def test_a_run_that_is_stopped_goes_on_with_the_parts_that_are_missing(
    corpus: Path, one_process: bytes, tmp_path: Path, dying: Deaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "two.parquet"
    with monkeypatch.context() as patch:
        patch.setattr(counting, "byte_bar", _StoppingBar)
        with pytest.raises(KeyboardInterrupt):
            count(corpus, output)
    begun = dying.counted()
    kept = len(list((tmp_path / "two.parquet.parts").iterdir()))
    assert begun
    assert kept
    count(corpus, output)
    assert len(dying.counted()) <= 6 - kept
    assert output.read_bytes() == one_process


class _StoppingBar:
    """Ctrl-C as soon as a part is done."""

    def __init__(self, *_: object, **__: object) -> None: ...
    def __enter__(self) -> _StoppingBar:
        return self

    def __exit__(self, *_: object) -> None: ...
    def update(self, _: int) -> None:
        raise KeyboardInterrupt


def test_what_is_there_is_not_counted_again(corpus: Path, tmp_path: Path, dying: Deaths) -> None:
    output = tmp_path / "two.parquet"
    first = count(corpus, output)
    dying.counted()
    assert count(corpus, output).checksum == first.checksum
    assert dying.counted() == []
    write(corpus / "a.jsonl", lines(TEXTS[:3]))
    with pytest.raises(ResumeRefused, match=r"a\.jsonl"):
        count(corpus, output)
    assert count(corpus, output, overwrite=True).checksum != first.checksum
    write(corpus / "new.jsonl", lines())
    with pytest.raises(FileExistsError, match=r"does not hold .*new\.jsonl"):
        count(corpus, output)


def test_a_bad_file_names_itself_and_the_others_are_not_counted_again(corpus: Path, tmp_path: Path, dying: Deaths) -> None:
    write(corpus / "z.jsonl", lines() + b"{\n")
    with pytest.raises(CorpusError, match=r"z\.jsonl: line 28"):
        count(corpus, tmp_path / "two.parquet")
    dying.counted()
    with pytest.warns(UserWarning, match=r"left out 1 of 7 files: .*z\.jsonl"):
        counts = count(corpus, tmp_path / "three.parquet", skip_bad_files=True)
    (corpus / "z.jsonl").unlink()
    dying.counted()
    assert count(corpus, tmp_path / "two.parquet").checksum == counts.checksum
    assert len(dying.counted()) < 6


def test_rare_words_are_left_out_of_the_whole(corpus: Path, tmp_path: Path) -> None:
    counts = count(corpus, tmp_path / "two.parquet", drop_words_below=3)
    assert counts.dropped == hf_bpe.WordCounts.count(corpus, drop_words_below=3, **OPTIONS).dropped
    assert min(number for _, number in counts.items()) == 3


def test_blocks_of_ray_data_count_as_the_texts_do(tmp_path: Path, dying: Deaths) -> None:
    dataset = ray.data.from_items([{"text": text, "n": 1} for text in TEXTS], override_num_blocks=3)
    dying.order(deaths.BEFORE_RETURNING_COUNTS)  # its file stays, and is not what counts
    counts = count(dataset, tmp_path / "two.parquet")
    assert counts.checksum == hf_bpe.WordCounts.count(iter(TEXTS), **OPTIONS).checksum
    assert sum(source.texts for source in counts.sources) == len(TEXTS)
    with pytest.raises(FileExistsError, match="this dataset"):
        count(dataset, tmp_path / "two.parquet")
    with pytest.raises(CorpusError, match="no column 'body'; name one of text, n"):
        count(dataset, tmp_path / "three.parquet", text_field="body")


def test_null_in_ray_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="text 1 of the corpus is a NoneType"):
        count(ray.data.from_items([{"text": "a"}, {"text": None}], override_num_blocks=1), tmp_path / "two.parquet")


def test_what_a_cluster_cannot_do_is_refused_before_it_is_asked(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.jsonl", b"")
    output = tmp_path / "two.parquet"
    with pytest.raises(CorpusError, match="the corpus is empty"):
        count(empty, output)
    with pytest.raises(CorpusError, match=r"files or a ray\.data\.Dataset"):
        count(iter(TEXTS), output)
    with pytest.raises(ClusterError, match="part_bytes must be at least 1"):
        count(empty, output, part_bytes=0)
    with pytest.raises(ClusterError, match="cpus_per_task must be at least 1"):
        count(empty, output, cpus_per_task=0)
    with pytest.raises(TrainingError, match="drop_words_below"):
        count(empty, output, drop_words_below=1)
    assert not output.exists()
