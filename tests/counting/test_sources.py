"""What may be counted: files, pipes, tables; what becomes of bad ones; and training on what was counted."""

from __future__ import annotations

import io
from pathlib import Path

import datasets
import pytest

import hf_bpe
from hf_bpe.errors import CorpusError, TrainingError, WordCountsMismatch
from hf_bpe.training.counting import make
from tests.counting.support import TEXTS, as_dict, count, expected, write_jsonl, write_parquet

pytestmark = pytest.mark.filterwarnings("ignore:only .* merges asked for were found")


def test_tables_are_counted_by_column() -> None:
    table = datasets.Dataset.from_dict({"body": TEXTS, "id": range(len(TEXTS))})
    streamed = datasets.IterableDataset.from_generator(lambda: ({"body": text} for text in TEXTS))
    for corpus in (table, table.to_iterable_dataset(), streamed):
        counts = count(corpus, text_field="body")
        assert as_dict(counts) == expected(TEXTS)
        assert counts.sources[0].texts == len(TEXTS)
        with pytest.raises(CorpusError, match="the dataset has no column 'text'; name one of 'body'"):
            count(corpus)
    assert as_dict(count(table["body"])) == expected(TEXTS)
    with pytest.raises(CorpusError, match="text 0 of the corpus is a int"):
        count(table, text_field="id")
    with pytest.raises(CorpusError, match="dict of datasets; choose one of 'train'"):
        count(datasets.DatasetDict({"train": table}))


def test_standard_input_is_a_text_beside_files(tmp_path, monkeypatch) -> None:
    write_jsonl(tmp_path / "a.jsonl", TEXTS[:10])
    piped = "\n".join(TEXTS[10:])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(piped.encode())))
    counts = count([Path("-"), tmp_path / "a.jsonl"])
    assert as_dict(counts) == expected([*TEXTS[:10], piped])
    with pytest.raises(CorpusError, match="named twice"):
        count([Path("-"), Path("-")])


@pytest.mark.parametrize("corpus", [5, None, object()])
def test_what_is_no_corpus_is_said(corpus) -> None:
    with pytest.raises(CorpusError, match="a corpus is paths or an iterable of texts"):
        count(corpus)


def bad_jsonl(path: Path) -> str:
    write_jsonl(path, TEXTS[:20])
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:17], '{"text": 1}', *lines[17:]]))
    return r"line 18: "


def bad_parquet(path: Path) -> str:
    write_parquet(path, [*TEXTS[:20], None, *TEXTS[20:30]])
    return r"row 21: null"


def bad_gzip(path: Path) -> str:
    write_jsonl(path, TEXTS)
    path.write_bytes(path.read_bytes()[:-30])
    return "ends in the middle of its gzip data"


def bad_text(path: Path) -> str:
    path.write_bytes("".join(TEXTS[:20]).encode() + b"\xff")
    return "not UTF-8: byte 0xFF"


def no_column(path: Path) -> str:
    write_parquet(path, TEXTS[:5], field="other")
    return "has no column 'text'"


@pytest.mark.parametrize("spilled", [False, True])
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("b.jsonl", bad_jsonl),
        ("b.parquet", bad_parquet),
        ("b.jsonl.gz", bad_gzip),
        ("b.txt", bad_text),
        ("b.parquet", no_column),
    ],
)
def test_a_bad_file_names_itself_and_on_request_leaves_no_trace(name, damage, spilled, tmp_path, monkeypatch) -> None:
    if spilled:
        monkeypatch.setattr(make, "for_tables", lambda limit: 1)
    folder = tmp_path / "corpus"
    folder.mkdir()
    reason = damage(folder / name)
    with pytest.raises(CorpusError, match=f"{name}: .*{reason}"):
        count(folder)
    for number in range(3):
        write_jsonl(folder / f"{'acd'[number]}.jsonl", TEXTS[number * 10 :])
    wanted = expected([text for number in range(3) for text in TEXTS[number * 10 :]])
    for output in (None, tmp_path / "x.parquet"):
        with pytest.warns(UserWarning, match=f"left out 1 of 4 files: .*{name}: .*{reason}"):
            counts = count(folder, skip_bad_files=True, output=output)
        assert as_dict(counts) == wanted
        assert [Path(left.name).name for left in counts.left_out] == [name]
        assert len(counts.sources) == 3
    assert hf_bpe.WordCounts.load(tmp_path / "x.parquet").left_out == counts.left_out
    with pytest.warns(UserWarning, match="left out"):
        spec = hf_bpe.train(folder, 300, progress=False, skip_bad_files=True)
    assert spec.provenance["files left out"] == "1 that could not be read"


@pytest.mark.filterwarnings("ignore:left out 1 of 1 files")
def test_a_corpus_of_bad_files_alone_is_empty(tmp_path) -> None:
    bad_text(tmp_path / "b.txt")
    with pytest.raises(CorpusError, match=r"empty: no text to learn from; 1 files were left out, the first: .*b.txt"):
        count(tmp_path, skip_bad_files=True)


def test_errors_of_the_callers_own_iterator_come_through_even_if_bad_files_are_skipped() -> None:
    def texts():
        yield "a"
        raise OSError("mine")

    with pytest.raises(OSError, match="mine"):
        count(texts(), skip_bad_files=True)


@pytest.mark.parametrize("size", ["", "x", "1XB", "-1GB", "0", 0, -5, True, None, 1.5])
def test_budgets_that_are_none_are_refused(size) -> None:
    with pytest.raises(TrainingError, match="memory_limit must be a size such as '1GB'"):
        count(["a"], memory_limit=size)


@pytest.mark.parametrize("least", [1, 0, -1, True, 2.5, "2"])
def test_dropping_below_what_drops_nothing_is_refused(least) -> None:
    with pytest.raises(TrainingError, match="drop_words_below must be a whole number above 1"):
        count(["a"], drop_words_below=least)


def test_training_on_counts_is_training_on_the_texts_at_any_size_and_setting(tmp_path) -> None:
    options = {"pattern": "gpt2", "normalizer": "NFC", "special_tokens": ["<|z|>", "<|a|>"]}
    texts = [f"{text}<|a|>" for text in TEXTS]
    saved = count(iter(texts), **options).save(tmp_path / "x.parquet")
    for size, frequency, longest in ((270, 1, None), (400, 2, 5), (330, 3, None)):
        given = {"min_frequency": frequency, "max_token_length": longest, "progress": False}
        assert hf_bpe.train(saved, size, **given) == hf_bpe.train(iter(texts), size, **options, **given)
    assert hf_bpe.train(saved, 300, progress=False, special_tokens=["<|b|>"]).special_tokens == {"<|b|>": 299}
    assert hf_bpe.train(saved, 300, progress=False, engine="reference") == hf_bpe.train(saved, 300, progress=False)
    with pytest.raises(WordCountsMismatch, match=r"- pattern: .*\n.*- add_prefix_space: False, and True"):
        hf_bpe.train(saved, 300, progress=False, pattern="cl100k", add_prefix_space=True)


def test_superwords_are_trained_on_counts_of_both_splits() -> None:
    texts = [text * 3 for text in TEXTS]
    stages = [count(iter(texts), pattern=pattern) for pattern in ("cl100k", "lines")]
    settings = {"superwords": "lines", "superwords_from": 300, "progress": False}
    assert hf_bpe.train(stages, 330, **settings) == hf_bpe.train(iter(texts), 330, **settings)
    with pytest.raises(TrainingError, match="2 stages needs word counts for each, in a list, and 1 were given"):
        hf_bpe.train(stages[0], 330, **settings)


@pytest.mark.parametrize("text", ["a", "a" * 5000, " " * 5000])
def test_a_corpus_of_one_thing_says_how_far_it_got(text) -> None:
    with pytest.warns(UserWarning, match=r"only \d+ of the 1,744 merges asked for were found: no further pair occurs 2 times"):
        spec = hf_bpe.train(iter([text]), 2000, progress=False)
    assert spec.vocab_size < 2000
