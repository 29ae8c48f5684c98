"""Ids and tokens become text as in the stock fast class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.plugin.samples import TEXTS


@pytest.mark.parametrize("skip_special_tokens", [True, False])
def test_decoding(saved: Any, skip_special_tokens: bool) -> None:
    batch = saved.stock(TEXTS)["input_ids"]
    options = {"skip_special_tokens": skip_special_tokens}
    for ids in batch:
        assert saved.ours.decode(ids, **options) == saved.stock.decode(ids, **options)
        assert saved.ours.decode(np.array(ids, dtype=np.int64), **options) == saved.stock.decode(ids, **options)
    assert saved.ours.decode(batch, **options) == saved.stock.decode(batch, **options)
    assert saved.ours.batch_decode(batch, **options) == saved.stock.batch_decode(batch, **options)
    padded = saved.ours(TEXTS, padding=True, return_tensors="np")["input_ids"]
    assert saved.ours.batch_decode(padded, **options) == saved.stock.batch_decode(padded, **options)


def test_every_single_id(saved: Any) -> None:
    for token_id in range(len(saved.stock) + 3):
        assert saved.ours.decode(token_id) == saved.stock.decode(token_id)
        assert saved.ours.decode([token_id, 97], skip_special_tokens=True) == saved.stock.decode(
            [token_id, 97], skip_special_tokens=True
        )
        assert saved.ours.convert_ids_to_tokens(token_id) == saved.stock.convert_ids_to_tokens(token_id)


def test_any_text_comes_back(saved: Any) -> None:
    for text in (text for text in TEXTS if "mask" not in text and "tool" not in text):
        assert saved.ours.decode(saved.ours.encode(text, add_special_tokens=False)) == text


def test_ids_not_in_use_give_no_text(saved: Any) -> None:
    for ids in ([72, 999_999, 73], [999_999], [2**31]):
        assert saved.ours.decode(ids) == saved.stock.decode(ids)


def test_negative_ids_are_refused_with_a_hint(saved: Any) -> None:
    for ids in ([-100], [72, -1], -5):
        with pytest.raises(OverflowError):
            saved.stock.decode(ids)
        with pytest.raises(OverflowError, match="-100 first"):
            saved.ours.decode(ids)


def test_cleaning_up_spaces_has_no_effect(saved: Any) -> None:
    ids = saved.ours.encode("x != y , z .", add_special_tokens=False)
    for option in (True, False, None):
        assert saved.ours.decode(ids, clean_up_tokenization_spaces=option) == "x != y , z ."


def test_tokens_and_ids(saved: Any) -> None:
    tokens = ["Ġthe", "<|end|>", "é", "not a token", "plus", "Ġ", "Ċ", ""]
    assert saved.ours.convert_tokens_to_ids(tokens) == saved.stock.convert_tokens_to_ids(tokens)
    assert saved.ours.convert_tokens_to_ids("Ġthe") == saved.stock.convert_tokens_to_ids("Ġthe")
    ids = saved.stock.encode(TEXTS[9])
    for skip in (True, False):
        assert saved.ours.convert_ids_to_tokens(ids, skip) == saved.stock.convert_ids_to_tokens(ids, skip)
    for text in TEXTS:
        tokens = saved.stock.convert_ids_to_tokens(saved.stock.encode(text))
        assert saved.ours.convert_tokens_to_string(tokens) == saved.stock.convert_tokens_to_string(tokens)
    assert saved.ours.convert_tokens_to_string(["Hello", "Ġ世"]) == saved.stock.convert_tokens_to_string(["Hello", "Ġ世"])


def test_unknown_tokens_get_the_id_of_the_unknown_token(spec: Any) -> None:
    from hf_bpe.plugin import HfBpeTokenizer

    assert HfBpeTokenizer.from_spec(spec).convert_tokens_to_ids("not a token") is None
    tokenizer = HfBpeTokenizer.from_spec(spec, unk_token="<|im|>")
    assert tokenizer.convert_tokens_to_ids(["not a token"]) == [tokenizer.unk_token_id]


def test_vocabulary_and_sizes(saved: Any) -> None:
    assert saved.ours.get_vocab() == saved.stock.get_vocab() == saved.ours.vocab
    assert saved.ours.get_added_vocab() == saved.stock.get_added_vocab()
    assert saved.ours.added_tokens_encoder == saved.stock.added_tokens_encoder
    assert saved.ours.added_tokens_decoder == saved.stock.added_tokens_decoder
    assert len(saved.ours) == len(saved.stock)
    assert saved.ours.vocab_size == saved.stock.vocab_size
    for name in ("all_special_tokens", "all_special_ids", "special_tokens_map", "extra_special_tokens", "eos_token_id"):
        assert getattr(saved.ours, name) == getattr(saved.stock, name), name
    saved.ours.get_vocab().clear()
    assert saved.ours.get_vocab()
