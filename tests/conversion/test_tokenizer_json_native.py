"""A tokenizer.json read by the native engine and the slow way give one tokenizer, and what is amiss always goes the slow way."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversion import printable
from conversion.printable import spell_merges
from conversion.tokenizer_json import from_dict, to_dict
from hf_bpe import AddedToken, ConversionRefused, Encoder, FormatError, HfBpeError, TokenizerSpec
from hf_bpe.byte_level import bytes_to_token
from hf_bpe.engine import native
from tests.support.vocabularies import BYTES, byte_spec, random_specs

SMALL = TokenizerSpec(
    vocab=BYTES | {b"ab": 256, b" a": 257, "é".encode(): 258},
    merges=((b"a", b"b"), (b" ", b"a"), (b"\xc3", b"\xa9")),
    pattern=r"\s?\S+|\s",
    added_tokens=(AddedToken("<s>", 259), AddedToken("<é▁>", 260, special=False)),
)


def read_slowly(document: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> TokenizerSpec:
    with monkeypatch.context() as patch:
        patch.setattr(printable, "load_native", lambda: None)
        spec = from_dict(document, "x")
    assert spec.table is None
    return spec


def with_added_tokens_in_vocab(document: dict[str, Any]) -> dict[str, Any]:
    document = copy.deepcopy(document)
    document["model"]["vocab"] |= {token["content"]: token["id"] for token in document["added_tokens"]}
    return document


def check_alike(document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, *, is_fast: bool | None = True) -> None:
    found, expected = from_dict(document, "x"), read_slowly(document, monkeypatch)
    assert is_fast is None or (found.table is not None) is is_fast
    assert found == expected
    assert (found.fingerprint, found.n_vocab, found.vocab_size) == (expected.fingerprint, expected.n_vocab, expected.vocab_size)
    for text in ("ab aé<s>b <é▁> \x00\xad\x7f\xa0Ġ", "中 a b" * 9):
        assert Encoder(found).encode(text, allowed_special="all") == Encoder(expected).encode(text, allowed_special="all")


@settings(max_examples=60, deadline=None)
@given(spec=random_specs(), as_pairs=st.booleans(), in_vocab=st.booleans())
def test_random_tokenizers_are_alike(spec: TokenizerSpec, as_pairs: bool, in_vocab: bool) -> None:
    added = (AddedToken("<s>", spec.n_vocab), AddedToken("ab", spec.vocab.get(b"ab", spec.n_vocab + 1), special=False))
    try:
        document = to_dict(spec.replace(added_tokens=added if in_vocab else ()))
    except ConversionRefused:
        return
    if in_vocab:
        document = with_added_tokens_in_vocab(document)
    if as_pairs:
        document["model"]["merges"] = [merge.split(" ") for merge in document["model"]["merges"]]
    with pytest.MonkeyPatch.context() as monkeypatch:
        check_alike(document, monkeypatch, is_fast=None)


@pytest.mark.parametrize("ignore_merges", [False, True])
def test_added_tokens_in_the_vocabulary_are_left_out_of_it(ignore_merges: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    document = with_added_tokens_in_vocab(to_dict(SMALL))
    document["model"]["ignore_merges"] = ignore_merges
    # With ignore_merges, the pattern could give "<s>" as a piece to be looked up whole.
    check_alike(document, monkeypatch, is_fast=not ignore_merges)


def test_an_added_token_that_merging_makes_goes_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    document = to_dict(SMALL.replace(added_tokens=(AddedToken("ab", 256, special=False),)))
    check_alike(document, monkeypatch, is_fast=False)


def test_a_merge_that_stands_twice_counts_where_it_stands_last(monkeypatch: pytest.MonkeyPatch) -> None:
    document = to_dict(SMALL)
    document["model"]["merges"] = [*document["model"]["merges"], document["model"]["merges"][0]]
    check_alike(document, monkeypatch, is_fast=False)
    assert from_dict(document, "x").merges[-1] == (b"a", b"b")


def test_every_byte_has_the_spelling_that_python_reads() -> None:
    vocab = {bytes_to_token(token): token_id for token, token_id in BYTES.items()}
    assert native.Vocabulary.from_spelled(vocab, [], frozenset()).vocab() == BYTES
    merges = spell_merges([(bytes([byte]), b"\xff") for byte in range(256)])
    pairs = {bytes_to_token(bytes([byte, 255])): 256 + byte for byte in range(256)}
    made = native.Vocabulary.from_spelled(vocab | pairs, merges, frozenset()).merges()
    assert made == tuple((bytes([byte]), b"\xff") for byte in range(256))


@pytest.mark.parametrize(
    ("vocab", "merges"),
    [
        ({"a": True}, []),
        ({"ab": -1}, []),
        ({"ab": 2**31}, []),
        ({"ab": 2**70}, []),
        ({"ab": "256"}, []),
        ({"ab": 97}, []),  # the id of another
        ({"": 256}, []),
        ({"a b": 256}, []),
        ({"中": 256}, []),
        ({"\ud800": 256}, []),
        ({"\u0144": 256}, []),
        ({3: 256}, []),
        ({}, ["a b"]),  # makes what is not there
        ({"ab": 256}, ["ab"]),
        ({"ab": 256}, ["a b "]),
        ({"ab": 256}, [" a b"]),
        ({"ab": 256}, ["a  b"]),
        ({"ab": 256}, [["a"]]),
        ({"ab": 256}, [["a", "b", ""]]),
        ({"ab": 256}, [["a", 3]]),
        ({"ab": 256}, [("a", "b")]),
        ({"ab": 256}, [None]),
        ({"ab": 256}, ["a b", "a b"]),
    ],
)
def test_what_is_amiss_is_refused_without_a_panic_and_named_by_the_slow_way(vocab: Any, merges: Any) -> None:
    document = to_dict(byte_spec())
    document["model"]["vocab"] |= vocab
    document["model"]["merges"] = merges
    with pytest.raises((HfBpeError, ValueError, TypeError, OverflowError)):
        native.Vocabulary.from_spelled(document["model"]["vocab"], merges, frozenset())
    if merges not in ([("a", "b")], ["a b", "a b"]) and 3 not in vocab:
        with pytest.raises(FormatError):
            from_dict(document, "x")
