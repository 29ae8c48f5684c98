"""Counts of one pass: by hand, against tiktoken and sentencepiece, whatever the blocks, files and threads."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import hf_bpe.training.corpus
from conversion.sentencepiece.model import parse_model
from hf_bpe import CorpusError, Encoder, TokenizerSpec
from hf_bpe.analysis.metrics import corpora
from hf_bpe.analysis.metrics.corpora import NamedCorpus, common_cut
from hf_bpe.analysis.metrics.counting import TextCounts, TokenCounts, count_corpus
from hf_bpe.analysis.metrics.words import indentation, words_of
from tests.support.pieces import bytes_as_pieces_spec, model, processor
from tests.support.text import difficult_text, generated_text, plain_text
from tests.support.vocabularies import byte_spec, cl100k_encoder, cl100k_ranks, gpt2_spec

CODE = "def f(x):\n    if x:\n\treturn 1\n\n        # no\n"


def counted(
    texts: Iterable[str], *encoders: Encoder, words: str = "unicode", **options: Any
) -> tuple[TextCounts, list[TokenCounts]]:
    return count_corpus(NamedCorpus.of("some", iter(texts)), encoders, words=words, **options)


def spec_of(*merges: tuple[bytes, bytes], **fields: Any) -> TokenizerSpec:
    vocab = {bytes([byte]): byte for byte in range(256)}
    return TokenizerSpec(vocab=vocab | {a + b: 256 + n for n, (a, b) in enumerate(merges)}, merges=merges, **fields)


def test_a_text_by_hand():
    # " it" and "é" are one token each; the words are it, is, é.
    spec = spec_of((b"i", b"t"), (b" ", b"it"), (b"\xc3", b"\xa9"))
    text, (tokens,) = counted(["it is é!", " it"], Encoder(spec))
    assert asdict(text) == {"documents": 2, "bytes": 12, "characters": 11, "words": 4, "letters": 7, "spaceless": 0}
    # it| |i|s| |é|! and | it|: "is" has 2 tokens and the space, "é" one and the space, " it" its own space.
    assert tokens.tokens == 8
    assert tokens.touching == 1 + 3 + 2 + 1
    assert tokens.whole == 2
    assert tokens.indenting == 0
    assert tokens.by_id[[256, 257, 258, ord(" ")]].tolist() == [1, 1, 1, 2]


def test_a_space_counts_for_the_word_behind_it_only_by_itself():
    spaces = spec_of((b" ", b" "), (b"a", b" "))
    _, (tokens,) = counted(["  b"], Encoder(spaces))  # "  " is indentation rather than the space of a word
    assert (tokens.touching, tokens.indenting) == (1, 1)
    _, (tokens,) = counted(["a b"], Encoder(spaces))  # the space is in the token of the word before
    assert (tokens.touching, tokens.whole) == (2, 2)
    _, (tokens,) = counted(["a\nb"], Encoder(byte_spec()))
    assert (tokens.touching, tokens.whole) == (2, 2)


def test_a_token_over_two_words_counts_for_both():
    spec = spec_of((b"a", b" "), (b"a ", b"b"))
    _, (tokens,) = counted(["a b"], Encoder(spec))
    assert (tokens.tokens, tokens.touching, tokens.whole) == (1, 2, 2)


def test_indentation_by_hand():
    _, (tokens,) = counted([CODE], Encoder(byte_spec()))
    assert tokens.indenting == 4 + 1 + 8
    wide = spec_of((b" ", b" "), (b"  ", b"  "), (b"\n", b"    "), (b"    ", b"#"))
    _, (tokens,) = counted(["x y\n    z\n    #  !"], Encoder(wide))
    assert tokens.indenting == 2  # "\n    " twice; the spaces within the lines are none


@cache
def tiktoken_cl100k() -> tiktoken.Encoding:
    pattern = r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
    return tiktoken.Encoding("cl100k", pat_str=pattern, mergeable_ranks=cl100k_ranks(), special_tokens={})


def by_definition(text: str, mode: str) -> tuple[list[int], int, int, int]:
    """ids, touching, whole and indenting, out of tiktoken's tokens, character by character."""
    ids = tiktoken_cl100k().encode_ordinary(text)
    starts = np.cumsum([0, *(len(c.encode()) for c in text)])
    place, spans = 0, []
    for token in tiktoken_cl100k().decode_tokens_bytes(ids):
        spans.append({n for n, start in enumerate(starts[:-1]) if start < place + len(token) and place < starts[n + 1]})
        place += len(token)
    touching = []
    for start, stop in words_of(text, mode).spans.tolist():
        own = [span for span in spans if span & set(range(start, stop))]
        before = [span for span in spans if span == {start - 1} and text[start - 1] == " "]
        touching.append(len(own) + len(before))
    indents = {n for start, stop in indentation(text).tolist() for n in range(start, stop)}
    blank = [span for span in spans if all(text[n] in " \t\n\r\v\f" for n in span)]
    return ids, sum(touching), touching.count(1), sum(bool(span & indents) for span in blank)


@pytest.mark.parametrize("mode", ["unicode", "whitespace"])
@pytest.mark.parametrize(
    "text", [CODE, "It's  naïve — 12345 中文 😉 e-mail\n\n  x", *(generated_text(seed, 60) for seed in range(4))]
)
def test_counts_are_those_that_tiktokens_tokens_give(text, mode):
    ids, touching, whole, indenting = by_definition(text, mode)
    _, (tokens,) = counted([text], cl100k_encoder(), words=mode)
    assert tokens.by_id.tolist() == np.bincount(ids, minlength=len(tokens.by_id)).tolist()
    assert (tokens.touching, tokens.whole, tokens.indenting) == (touching, whole, indenting)


@pytest.mark.parametrize("name", ["mistral v1", "nmt_nfkc_cf without bytes", "space as suffix", "user-defined"])
def test_ids_are_those_of_sentencepiece(name):
    spec = parse_model(model(name), name)
    texts = [generated_text(seed, 40) for seed in range(5)]
    text, (tokens,) = counted(texts, Encoder(spec))
    ids = [number for each in processor(model(name)).encode(texts) for number in each]
    assert tokens.by_id.tolist() == np.bincount(ids, minlength=spec.n_vocab).tolist()
    assert tokens.whole <= text.words


def test_a_word_behind_a_space_of_its_own_has_that_space_too():
    spec = parse_model(model("mistral v1"), "mistral v1")
    encoder = Encoder(spec)
    assert [encoder.decode_single_token_bytes(number) for number in encoder.encode("a 𐍈x")][1] == b" "
    _, (tokens,) = counted(["a 𐍈x"], encoder)  # a, then the space, four bytes, x
    assert (tokens.tokens, tokens.touching, tokens.whole) == (7, 7, 1)


@given(st.lists(difficult_text(), min_size=1, max_size=4), st.sampled_from(["unicode", "whitespace"]))
def test_texts_by_themselves_give_what_they_give_together(texts, mode):
    texts = [*texts, "x"]
    encoders = [cl100k_encoder(), Encoder(byte_spec())]
    text, together = counted(texts, *encoders, words=mode)
    single = [counted([each], *encoders, words=mode) for each in texts if each]
    assert text.words == sum(one.words for one, _ in single)
    assert text.bytes == sum(len(each.encode()) for each in texts)
    for number, tokens in enumerate(together):
        parts = [one[number] for _, one in single]
        assert tokens.by_id.tolist() == sum(part.by_id for part in parts).tolist()
        for name in ("touching", "whole", "indenting"):
            assert getattr(tokens, name) == sum(getattr(part, name) for part in parts)
        assert tokens.touching >= text.words >= tokens.whole


@given(st.lists(plain_text("abcXé1", max_size=6).filter(bool), min_size=1, max_size=12))
def test_of_text_with_single_spaces_it_is_what_tools_find_that_split_at_white_space(words):
    encoder = cl100k_encoder()
    text, (tokens,) = counted([" ".join(words)], encoder, words="whitespace")
    assert tokens.touching / text.words == len(encoder.encode_ordinary(" ".join(words))) / len(" ".join(words).split())


def same(a: tuple[TextCounts, list[TokenCounts]], b: tuple[TextCounts, list[TokenCounts]]) -> bool:
    plain = [(asdict(text), [asdict(each) | {"by_id": each.by_id.tolist()} for each in tokens]) for text, tokens in (a, b)]
    return plain[0] == plain[1]


@pytest.mark.parametrize("num_threads", [1, 3])
def test_blocks_files_and_threads_do_not_matter(tmp_path, monkeypatch, num_threads):
    texts = [generated_text(seed, 40).replace("\r", "").replace("\0", "") or "x" for seed in range(30)]
    encoders = [cl100k_encoder(), Encoder(gpt2_spec())]
    expected = counted(texts, *encoders)
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (tmp_path / "t.jsonl").write_text(lines)
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    import pyarrow as pa
    import pyarrow.parquet as pq
    from backports import zstd

    (tmp_path / "t.jsonl.zst").write_bytes(zstd.compress(lines.encode()))
    pq.write_table(pa.table({"text": texts}), tmp_path / "t.parquet", row_group_size=7)
    monkeypatch.setattr(corpora, "_BLOCK_BYTES", 500)
    for name in ("t.jsonl", "t.jsonl.gz", "t.jsonl.zst", "t.parquet"):
        corpus = NamedCorpus.of("some", tmp_path / name)
        assert same(count_corpus(corpus, encoders, words="unicode", num_threads=num_threads), expected), name


def test_a_long_text_is_measured_in_parts_with_the_same_result(tmp_path, monkeypatch):
    text = "".join(f"{generated_text(seed, 8)} x\nLine  {seed}\n\n    indented\n" for seed in range(200)).replace("\r", "")
    (tmp_path / "t.txt").write_bytes(text.encode())
    encoders = [cl100k_encoder(), Encoder(gpt2_spec())]
    expected = counted([text], *encoders)
    monkeypatch.setattr(corpora, "_BLOCK_BYTES", 100)
    corpus = NamedCorpus.of("some", tmp_path / "t.txt", cut=common_cut([each.spec for each in encoders]))
    assert len(list(corpus.blocks(lambda done: None))) > 20
    assert same(count_corpus(corpus, encoders, words="unicode"), expected)


def test_a_text_is_cut_only_where_every_tokenizer_allows_it():
    free, whole = gpt2_spec(), byte_spec()  # what has no pattern merges across the whole text
    assert common_cut([free, free]) is not None
    assert common_cut([free, whole]) is None
    assert common_cut([free, bytes_as_pieces_spec()]) is None


def test_memory_does_not_grow_with_the_corpus(monkeypatch):
    monkeypatch.setattr(hf_bpe.training.corpus, "_BLOCK_BYTES", 1 << 14)
    encoder = Encoder(byte_spec("gpt2"))
    text = "some words, and again some words\n" * 30

    def peak(texts: int) -> int:
        tracemalloc.start()
        counted((text for _ in range(texts)), encoder)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(40)
    small, large = peak(40), peak(400)
    assert large < 1.2 * small


def test_added_tokens_that_text_spells_are_text():
    spec = gpt2_spec()
    _, (tokens,) = counted(["<|endoftext|>"], Encoder(spec))
    assert tokens.by_id[50256] == 0
    assert tokens.tokens == len(Encoder(spec).encode_ordinary("<|endoftext|>"))


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_a_corpus_without_text_is_refused_by_name(texts):
    with pytest.raises(CorpusError, match="corpus 'some': holds no text"):
        counted(texts, Encoder(byte_spec()))


def test_what_cannot_be_read_names_corpus_file_and_place(tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"good\nb\xffad\n")
    (tmp_path / "bad.jsonl").write_bytes(b'{"text": "a"}\n{"txet": "b"}\n')
    for name, message in (("bad.txt", r"byte 6 of the text: not UTF-8: byte 0xFF"), ("bad.jsonl", 'line 2: .*"text"')):
        with pytest.raises(CorpusError, match=f"corpus 'some': .*{name}: .*{message}"):
            count_corpus(NamedCorpus.of("some", Path(tmp_path / name)), [Encoder(byte_spec())], words="unicode")
    with pytest.raises(CorpusError, match=r"corpus 'some': .*nowhere\.txt: does not exist"):
        NamedCorpus.of("some", tmp_path / "nowhere.txt")


def test_bad_texts_are_left_out_where_that_is_wanted(tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"good\nb\xffad\nfine")
    corpus = NamedCorpus.of("some", tmp_path / "bad.txt", separator="\n", skip_bad=True)
    text, _ = count_corpus(corpus, [Encoder(byte_spec())], words="unicode")
    assert (text.documents, text.bytes, corpus.bad.count) == (2, 8, 1)


@pytest.mark.parametrize(
    "spec", [gpt2_spec(), parse_model(model("nmt_nfkc_cf without bytes"), "")], ids=["gpt2", "sentencepiece"]
)
def test_both_engines_give_the_same_counts(spec):
    texts = [CODE, *(generated_text(seed, 25) for seed in range(4))]
    assert same(counted(texts, Encoder(spec, engine="native")), counted(texts, Encoder(spec, engine="reference")))
