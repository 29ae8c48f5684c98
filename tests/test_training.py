"""Training: equal to the reference trainer, whatever the threads, the order and the files; clear about what cannot be."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import datasets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hf_bpe
from hf_bpe.cuts import last_cut
from hf_bpe.engine.reference import train_merges
from hf_bpe.errors import CorpusError, PatternError, TrainingError
from hf_bpe.training import corpus as corpus_module
from tests.support.corpus import parts_of
from tests.support.text import difficult_text, generated_text, plain_text

pytestmark = pytest.mark.filterwarnings("ignore:only .* merges asked for were found")

PATTERNS = [*hf_bpe.NAMED_PATTERNS, r"\w+|\s+", "[ab]+"]


def train(texts: object, vocab_size: int = 300, **options: object) -> hf_bpe.TokenizerSpec:
    options = {"pattern": "cl100k", "progress": False, "min_frequency": 1} | options
    return hf_bpe.train(texts, vocab_size, **options)  # type: ignore[arg-type]


def test_wikipedia_example() -> None:
    spec = train(iter(["aaabdaaabac"]), 259, pattern=None)
    assert spec.merges == ((b"a", b"a"), (b"a", b"b"), (b"aa", b"ab"))
    assert hf_bpe.Encoder(spec).encode_ordinary("aaabdaaabac") == [258, 100, 258, 97, 99]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=40)
@given(texts=st.lists(st.one_of(difficult_text(), plain_text("ab")), min_size=1, max_size=6).filter(any), options=st.data())
def test_native_equals_reference_merge_for_merge(pattern: str, texts: list[str], options: st.DataObject) -> None:
    chosen = {
        "pattern": pattern,
        "min_frequency": options.draw(st.integers(1, 4)),
        "max_token_length": options.draw(st.sampled_from([None, 1, 2, 3, 8])),
        "special_tokens": options.draw(st.sampled_from([[], ["ab"], ["ab", "aab", "  "]])),
    }
    native = train(iter(texts), engine="native", num_threads=options.draw(st.integers(1, 3)), **chosen)
    assert native == train(iter(texts), engine="reference", **chosen)


@given(words=st.dictionaries(plain_text("ab", 12).map(str.encode).filter(len), st.integers(1, 5), min_size=1))
def test_overlapping_runs_merge_as_the_reference_defines(words: dict[bytes, int]) -> None:
    texts = [word.decode() for word, count in words.items() for _ in range(count)]
    merges = train_merges(words, 20)
    tokens = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    spec = train(iter(texts), 276, pattern=None)
    assert list(spec.merges) == [(tokens[left], tokens[right]) for left, right in merges]


def test_result_does_not_depend_on_threads_or_order() -> None:
    texts = [generated_text(seed, 3000) for seed in range(12)]
    expected = train(iter(texts), 900, num_threads=1)
    assert train(iter(texts), 900, num_threads=7) == expected
    assert train(reversed(texts), 900, num_threads=2) == expected


@pytest.mark.parametrize("pattern", PATTERNS)
def test_files_read_in_parts_give_what_the_whole_gives(pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [generated_text(seed, 40) + ("" if seed % 3 else " \t") for seed in range(400)]
    text = "\n".join(lines) + "\nGET /a//b\r\n//\n/x\nword \n9"
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    whole = train(iter([text]), 400, pattern=pattern)
    monkeypatch.setattr(corpus_module, "_BLOCK_BYTES", 97)
    parts = parts_of(path, cut=last_cut)
    assert len(parts) > 20, "the text must hold places to cut for this test to mean anything"
    assert "".join(parts) == text
    assert train([path], 400, pattern=pattern) == whole


def test_a_break_after_white_space_is_no_place_to_cut() -> None:
    # Cut after " \n" it would be one piece at the end of the text, but two before a letter.
    assert hf_bpe.Encoder(train(iter(["x"]), 256, pattern="gpt2")).pretokenize("a \nb") == ["a", " ", "\n", "b"]
    assert last_cut("a \nb") == 0
    assert last_cut("a\nb") == 2


def test_special_tokens_are_cut_out_and_get_the_last_ids() -> None:
    spec = train(iter(["abab<|end|>abab<|end|>"]), 260, pattern=None, special_tokens=["<|end|>", "<|pad|>"])
    assert spec.merges == ((b"a", b"b"), (b"ab", b"ab"))
    assert spec.special_tokens == {"<|end|>": 258, "<|pad|>": 259}


def test_paths_as_str_and_as_path_are_files(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("abab")
    assert train(str(path)) == train(path) == train([str(path)]) == train([path]) == train(iter(["abab"]))


def test_a_list_of_long_texts_is_a_list_of_texts() -> None:
    texts = ["word " * 100, "word\n" * 2000, "a" * 300, "\0"]
    assert train(texts) == train(iter(texts))


def test_dataset_column() -> None:
    texts = [generated_text(seed, 50) for seed in range(20)]
    dataset = datasets.Dataset.from_dict({"text": texts})
    assert train(dataset["text"]) == train(row["text"] for row in dataset) == train(iter(texts))
    streamed = datasets.IterableDataset.from_generator(lambda: ({"text": text} for text in texts))
    assert train(row["text"] for row in streamed) == train(iter(texts))


def test_texts_of_an_iterator_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    class Text(str):
        __slots__ = ("__weakref__",)

    monkeypatch.setattr(corpus_module, "_BLOCK_BYTES", 1000)
    alive: weakref.WeakSet[Text] = weakref.WeakSet()
    most = 0

    def texts() -> Iterator[str]:
        nonlocal most
        for number in range(200):
            text = Text(f"text number {number} " * 10)
            alive.add(text)
            most = max(most, len(alive))
            yield text

    train(texts())
    gc.collect()
    assert most < 40
    assert not alive


def test_lone_surrogates_count_as_replacement_characters() -> None:
    assert train(iter(["a\ud800a\ud800"]), pattern=None) == train(iter(["a\ufffda\ufffd"]), pattern=None)


def test_fewer_merges_than_asked_for_warns_how_far_it_got() -> None:
    with pytest.warns(UserWarning, match=r"only 1 of the 44 merges asked for were found: no further pair occurs 2 times"):
        spec = train(iter(["abab"]), 300, pattern=None, min_frequency=2)
    assert spec.vocab_size == 257


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 257, "special_tokens": ["<a>", "<b>"]}, "256 bytes and 2 special tokens need at least 258"),
        ({"vocab_size": -1}, "too small"),
        ({"special_tokens": ["<a>", "<a>"]}, "distinct"),
        ({"special_tokens": [""]}, "not empty"),
        ({"special_tokens": ["<a>", "a"]}, "single bytes, which are tokens already"),
        ({"special_tokens": "<a>"}, "list of texts"),
        ({"min_frequency": 0}, "min_frequency must be at least 1"),
        ({"max_token_length": 0}, "max_token_length must be at least 1 byte"),
    ],
)
def test_impossible_settings_are_refused_before_any_text_is_read(options: dict[str, object], message: str) -> None:
    def never() -> Iterator[str]:
        raise AssertionError("the corpus was read")
        yield ""

    with pytest.raises(TrainingError, match=message):
        train(never(), **options)


@pytest.mark.parametrize("pattern", ["(", "a*", "cl200k", r"(a)\1"])
def test_bad_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        train(iter(["abc"]), pattern=pattern)


@pytest.mark.parametrize("corpus", [[], iter([]), iter([""]), ["", ""]])
def test_empty_corpus_is_refused(corpus: object) -> None:
    with pytest.raises(CorpusError, match="empty"):
        train(corpus)


def test_bad_files_are_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("abc")
    bad.write_bytes(b"abc\xff")
    for corpus, message in [
        ([tmp_path / "none.txt"], "none.txt.*does not exist"),
        ([tmp_path / "*.jsonl"], "no file matches this pattern"),
        ([good, bad], r"bad.txt: document 1, byte 3 of the text: not UTF-8: byte 0xFF. Mend it, or leave such files out"),
        ([good, good], "good.txt: named twice"),
        ([str(good), "some text"], "'some text' does not name a file"),
        (["missing.txt"], "'missing.txt' does not name a file, though it looks like one"),
    ]:
        with pytest.raises(CorpusError, match=message):
            train(corpus)


def test_something_else_than_text_is_named_with_its_place() -> None:
    with pytest.raises(CorpusError, match="text 1 of the corpus is a int"):
        train(iter(["a", 2]))
    with pytest.raises(CorpusError, match=r"is a dict, not a str.*\(row\['text'\] for row in rows\)"):
        train(iter([{"text": "a"}]))


def test_interrupt_while_reading_passes_through() -> None:
    def interrupted() -> Iterator[str]:
        yield "abc"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(interrupted())


def test_interrupt_while_merging_passes_through() -> None:
    from hf_bpe.engine import native

    counter = native.WordCounter(
        pattern=None, family=None, keep_unmatched=True, special_tokens=[], normalizer=[], add_prefix_space=False
    )
    counter.add([generated_text(1, 5000)], 1)

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        native.learn_merges(
            counter.take_words(), 1000, min_frequency=1, max_token_length=None, ties="lowest ids", progress=stop
        )
