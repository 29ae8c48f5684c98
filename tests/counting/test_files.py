"""Word-count files: what is saved is what is loaded; what is not ours, damaged, or counted otherwise is refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hf_bpe
from hf_bpe.errors import FormatError, TrainingError, WordCountsMismatch
from hf_bpe.normalizers import Prepend, Replace
from hf_bpe.training.counting import parquet_file
from tests.counting.support import TEXTS, as_dict, count, expected

KEY = parquet_file._KEY


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "counts.parquet"
    count(iter(TEXTS), special_tokens=["<|end|>"]).save(path)
    return path


def rewritten(path: Path, *, table: pa.Table | None = None, **changes: object) -> Path:
    """The file with other rows, or other metadata."""
    with pq.ParquetFile(path) as file:
        metadata = json.loads(file.metadata.metadata[KEY]) | changes
        rows = file.read() if table is None else table
    pq.write_table(rows.replace_schema_metadata({KEY: json.dumps(parquet_file.sealed(metadata))}), path)
    return path


@pytest.mark.parametrize("group", [None, 7])
def test_saved_counts_are_loaded_as_they_were(group, tmp_path, monkeypatch) -> None:
    if group:
        monkeypatch.setattr(parquet_file, "_GROUP_WORDS", group)
        monkeypatch.setattr(parquet_file, "_READ_WORDS", 5)
    options = {"normalizer": ["NFC", Replace("a+", "b"), Prepend("_")], "add_prefix_space": True, "stages": [r"\d"]}
    counts = count(iter(TEXTS), pattern="gpt2", special_tokens=["b", "a"], unmatched="drop", **options)
    saved = counts.save(tmp_path / "x.parquet")
    loaded = hf_bpe.WordCounts.load(tmp_path / "x.parquet")
    for other in (saved, loaded):
        assert list(other.items()) == list(counts.items())
        assert other.rules == counts.rules
        assert other.sources == counts.sources
        assert (other.checksum, len(other), other.occurrences) == (counts.checksum, len(counts), counts.occurrences)
    assert loaded.most_common(3) == counts.most_common(3)
    assert loaded.inspect() == counts.inspect()


def test_any_parquet_reader_reads_words_and_counts(saved) -> None:
    table = pq.read_table(saved)
    assert dict(zip(table["word"].to_pylist(), table["count"].to_pylist(), strict=True)) == expected(TEXTS)
    assert table["word"].to_pylist() == sorted(expected(TEXTS))
    said = json.loads(pq.ParquetFile(saved).metadata.metadata[KEY])
    assert (said["format"], said["version"]) == ("hf-bpe word counts", 1)
    assert said["rules"]["special_tokens"] == ["<|end|>"]


def test_most_common_breaks_ties_by_the_words_bytes(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(parquet_file, "_READ_WORDS", 2)
    counts = hf_bpe.WordCounts({b"d": 2, b"b": 2, b"c": 9, b"a": 1, b"e": 2}, pattern=None)
    for each in (counts, counts.save(tmp_path / "x.parquet")):
        assert each.most_common(3) == [(b"c", 9), (b"b", 2), (b"d", 2)]
        assert each.most_common(99) == [(b"c", 9), (b"b", 2), (b"d", 2), (b"e", 2), (b"a", 1)]
        assert each.most_common(0) == []


def test_every_flipped_byte_of_a_file_is_noticed(saved) -> None:
    content = saved.read_bytes()
    wanted, description = expected(TEXTS), hf_bpe.WordCounts.load(saved).inspect()
    for place in range(0, len(content), max(1, len(content) // 150)):
        saved.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        try:
            loaded = hf_bpe.WordCounts.load(saved)
        except (FormatError, WordCountsMismatch):
            continue
        # What is left is what Parquet keeps for others, such as statistics.
        assert as_dict(loaded) == wanted
        assert loaded.inspect() == description, f"byte {place}"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "version 2, and this hf-bpe reads version 1"),
        ({"checksum": "blake2b-256:00"}, "checksum is 'blake2b-256:00', its rows give 'blake2b-256:[0-9a-f]{64}'"),
        ({"words": 1}, "words is 1, its rows give"),
        ({"rules": {"pattern": "a"}}, "metadata are damaged .*rules of splitting are"),
        ({"rules": None}, "metadata are damaged"),
        ({"sources": [1]}, "metadata are damaged"),
    ],
)
def test_another_version_checksum_or_description_is_refused(saved, changes, message) -> None:
    with pytest.raises(FormatError, match=message):
        hf_bpe.WordCounts.load(rewritten(saved, **changes))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"word": [b"b", b"a"], "count": [1, 1]}, "not sorted and distinct"),
        ({"word": [b"a", b"a"], "count": [1, 1]}, "not sorted and distinct"),
        ({"word": [b"a"], "count": [0]}, "a count is 0"),
        ({"word": [b"a", None], "count": [1, 1]}, "nulls"),
        ({"word": [b"a"]}, "its columns are"),
        ({"word": ["a"], "count": [1]}, "its columns are"),
        ({"word": [b"a"], "count": [1.5]}, "its columns are"),
        ({"word": [b"z"], "count": [1]}, "its rows are not those that were written: words is"),
    ],
)
def test_rows_that_no_count_makes_are_refused(saved, rows, message) -> None:
    with pytest.raises(FormatError, match=message):
        hf_bpe.WordCounts.load(rewritten(saved, table=pa.table(rows)))


def test_what_is_no_word_count_file_is_refused(tmp_path) -> None:
    path = tmp_path / "x.parquet"
    for content in (b"", b"PAR1", b"text\n" * 100):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"x.parquet: cannot be read as word counts"):
            hf_bpe.WordCounts.load(path)
    pq.write_table(pa.table({"text": ["a"]}), path)
    with pytest.raises(FormatError, match="no word counts of ours"):
        hf_bpe.WordCounts.load(path)
    with pytest.raises(FormatError, match=r"none.parquet: cannot be read"):
        hf_bpe.WordCounts.load(tmp_path / "none.parquet")


def test_a_run_that_is_damaged_on_disk_is_noticed(tiny_budget, tmp_path) -> None:
    counts = count(iter(TEXTS), temporary_folder=tmp_path)
    wanted = as_dict(counts)
    run = next(tmp_path.glob("*/run-*.words"))
    content = run.read_bytes()
    for place in range(0, len(content), max(1, len(content) // 60)):
        run.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(FormatError, match="cannot be read back"):
            as_dict(counts)
        run.write_bytes(content[:place])
        with pytest.raises(FormatError, match="cannot be read back"):
            as_dict(counts)
    run.write_bytes(content)
    assert as_dict(counts) == wanted


def test_saving_never_replaces_what_is_there_unasked(saved, tmp_path) -> None:
    before = saved.read_bytes()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        count(["a b"]).save(saved)
    assert saved.read_bytes() == before
    with pytest.raises(FileExistsError):
        count(["a b"]).save(tmp_path, overwrite=True)
    assert as_dict(count(["a b"]).save(saved, overwrite=True)) == {b"a": 1, b" b": 1}


def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(saved, tmp_path, monkeypatch) -> None:
    before = saved.read_bytes()
    monkeypatch.setattr(parquet_file.Totals, "add", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        hf_bpe.WordCounts({b"a": 1}).save(saved, overwrite=True)
    assert saved.read_bytes() == before
    assert list(tmp_path.iterdir()) == [saved]


def test_counts_that_were_made_otherwise_are_not_merged() -> None:
    plain = hf_bpe.WordCounts({b"a": 1})
    for options, named in (
        ({"pattern": "gpt2"}, "pattern"),
        ({"normalizer": "NFC"}, "normalizer"),
        ({"stages": ["a"]}, "stages"),
        ({"unmatched": "drop"}, "unmatched"),
        ({"add_prefix_space": True}, "add_prefix_space: False, and True"),
        ({"special_tokens": ["<a>"]}, "special_tokens"),
    ):
        with pytest.raises(WordCountsMismatch, match=f"- {named}") as caught:
            hf_bpe.WordCounts.merge(plain, hf_bpe.WordCounts({b"a": 1}, **options))
        assert str(caught.value).count("  - ") == 1
    one, other = (hf_bpe.WordCounts({b"a": 1}, special_tokens=tokens) for tokens in (["<a>", "<b>"], ["<b>", "<a>"]))
    assert as_dict(hf_bpe.WordCounts.merge(one, other)) == {b"a": 2}


def test_merged_counts_are_those_of_all_texts(tmp_path) -> None:
    parts = [count(iter(TEXTS[start::3])).save(tmp_path / f"{start}.parquet") for start in range(3)]
    assert as_dict(hf_bpe.WordCounts.merge(*parts)) == expected(TEXTS)
    assert hf_bpe.WordCounts.merge(*parts).checksum == count(iter(TEXTS)).checksum
    assert sum(source.texts for source in hf_bpe.WordCounts.merge(*parts).sources) == len(TEXTS)


@pytest.mark.parametrize(
    ("weights", "wanted", "kept"),
    [
        ([2, 1], 7, (2, 1)),
        (["1/2", 1], 7, (1, 2)),
        ([0.1, "0.3"], 10, (1, 3)),
        ([1, 1], 4, (1, 1)),
        (["2/3", "3/4"], 35, (8, 9)),
    ],
)
def test_weights_are_exact_whatever_their_spelling(weights, wanted, kept) -> None:
    parts = {0: {b"a": 3 if kept == (2, 1) else 1, b"b": 5}, 1: {b"a": 1 if kept == (2, 1) else 3}}
    merged = hf_bpe.WordCounts.merge(*(hf_bpe.WordCounts(part) for part in parts.values()), weights=weights)
    assert as_dict(merged)[b"a"] == wanted
    assert as_dict(merged)[b"b"] == 5 * kept[0]
    assert merged.weights == kept


@pytest.mark.parametrize(
    "weights", [[1], [1, 0], [1, -1], [1, "x"], [1, "1/0"], [1, float("nan")], [1, float("inf")], [1, True], "12"]
)
def test_impossible_weights_are_refused(weights) -> None:
    with pytest.raises(TrainingError, match="weight"):
        hf_bpe.WordCounts.merge(hf_bpe.WordCounts({b"a": 1}), hf_bpe.WordCounts({b"a": 1}), weights=weights)


def test_the_same_source_in_two_parts_is_warned_of(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b c")
    with pytest.warns(UserWarning, match=r"a.txt: counted in more than one part"):
        hf_bpe.WordCounts.merge(count(path), count(path))
