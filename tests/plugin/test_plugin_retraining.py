"""`train_new_from_iterator`: the same kind of tokenizer on other texts."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import AddedToken

from hf_bpe.plugin import HfBpeTokenizer
from tests.plugin.samples import CORPUS


def test_split_template_and_special_tokens_stay(saved: Any) -> None:
    texts = ["völlig andere Wörter, völlig andere Texte"] * 9
    new = saved.ours.train_new_from_iterator([texts], 300)
    assert new.spec.pattern == saved.ours.spec.pattern
    assert new.special_tokens_map == saved.ours.special_tokens_map
    assert len(new.tokenize("völlig")) < len(saved.ours.tokenize("völlig"))
    assert "<tool>" not in new.get_vocab()  # not special: left behind, as in stock
    mask = next(token for token in new.spec.added_tokens if token.content == "<mask>")
    assert mask.lstrip
    assert mask.rstrip
    ends = [saved.ours.convert_ids_to_tokens(saved.ours.encode("x"))[n] for n in (0, -1)]
    found = [new.convert_ids_to_tokens(new.encode("x"))[n] for n in (0, -1)]
    assert [token for token in found if token.startswith("<|")] == [token for token in ends if token.startswith("<|")]
    assert new.chat_template == saved.ours.chat_template


def test_special_tokens_are_renamed_and_added(saved: Any) -> None:
    new = saved.ours.train_new_from_iterator(
        iter(CORPUS), 300, new_special_tokens=["<new>", AddedToken("<l>", lstrip=True)], special_tokens_map={"<|bos|>": "<s>"}
    )
    assert new.bos_token == "<s>"
    assert "<|bos|>" not in new.get_vocab()
    assert new.convert_tokens_to_ids("<new>") in new.all_special_ids
    assert new.tokenize("a  <l>b")[1] == "<l>"


@pytest.mark.parametrize("prefix", [True, False])
def test_sentencepiece_models_too(prefix: bool) -> None:
    old = HfBpeTokenizer.train(
        iter(CORPUS),
        400,
        dialect="sentencepiece",
        preset="llama2",
        add_dummy_prefix=prefix,
        eos_token="</s>",
        add_eos_token=True,
        progress=False,
    )
    new = old.train_new_from_iterator([CORPUS[:3], CORPUS[3:]], 420)
    assert new.spec.sentencepiece.byte_fallback
    assert new.spec.sentencepiece.prepend_scheme == old.spec.sentencepiece.prepend_scheme
    assert new.convert_ids_to_tokens(new.encode("hello"))[-1] == "</s>"
    assert new.decode(new.encode("hello 안"), skip_special_tokens=True) == "hello 안"
