"""`train_new_from_iterator`: the same kind of tokenizer on other texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken

from hf_bpe import TrainingError
from hf_bpe.normalizers import Prepend
from hf_bpe.plugin import HfBpeTokenizer
from hf_bpe.plugin.loading import read_document
from hf_bpe.training import train
from tests.plugin.samples import CORPUS, NAMES, make_spec


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


def test_every_rule_for_text_stays() -> None:
    old = HfBpeTokenizer.from_spec(
        make_spec(pattern=r"\w+|[^\w\s]+").replace(
            stages=(r"\d", "[a-c]+"), unmatched="drop", normalizer=("NFKC", Prepend("é")), add_prefix_space=True
        )
    )
    new = old.train_new_from_iterator(CORPUS, 300).spec
    for rule in ("pattern", "stages", "unmatched", "normalizer", "add_prefix_space"):
        assert getattr(new, rule) == getattr(old.spec, rule), rule
    assert not any(len(token) > 1 and token[-1:].isdigit() for token in new.vocab)  # the second stage held in training as well


def test_every_setting_of_training_is_taken_and_those_of_the_old_one_stay() -> None:
    old = HfBpeTokenizer.from_spec(train(iter(CORPUS), 300, pattern="gpt2", space_runs=3, min_frequency=1, progress=False))
    new = old.train_new_from_iterator(
        CORPUS,
        320,
        forbidden_tokens=["th"],
        digits="single",
        reserved_tokens=2,
        new_special_tokens=["<new>"],
        shortfall="reserve",
    )
    spec = new.spec
    assert spec.merges[0] == (b" ", b" ")
    assert b"th" not in spec.vocab
    assert spec.vocab_size == len(new) == 320
    assert list(spec.special_tokens)[:3] == ["<new>", "<|reserved_0|>", "<|reserved_1|>"]
    assert new.decode(new.encode("a<|reserved_1|>b", add_special_tokens=False)) == "a<|reserved_1|>b"


def test_settings_in_force_stay(tmp_path: Path) -> None:
    made = HfBpeTokenizer.from_spec(make_spec(), **NAMES, model_max_length=7, cls_token="<|im|>")
    made.save_pretrained(tmp_path)
    old = HfBpeTokenizer.from_pretrained(tmp_path, model_input_names=["input_ids"])
    old.padding_side, old.truncation_side, old.split_special_tokens, old.chat_template = "left", "left", True, "{{ messages }}"
    new = old.train_new_from_iterator(CORPUS, 300)
    settings = (
        "padding_side",
        "truncation_side",
        "model_input_names",
        "model_max_length",
        "split_special_tokens",
        "chat_template",
    )
    for name in (*settings, "special_tokens_map", "extra_special_tokens", "clean_up_tokenization_spaces"):
        assert getattr(new, name) == getattr(old, name), name
    assert new(["The quick brown fox", "x"], padding=True, truncation=True)["input_ids"][1][0] == new.pad_token_id


def test_offsets_without_spaces_stay_so() -> None:
    document = json.loads(HfBpeTokenizer.from_spec(make_spec()).backend_tokenizer.to_str())
    document["post_processor"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    old = HfBpeTokenizer(loaded=read_document(document, "a test"))
    new = old.train_new_from_iterator(CORPUS, 400)
    text = "The quick  brown"
    for tokenizer in (old, new):
        assert not any(" " in text[start:stop] for start, stop in tokenizer(text)[0].offsets)
    assert any(token.startswith("Ġ") and len(token) > 1 for token in new.tokenize(text))  # there was something to leave out


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


def test_the_card_speaks_of_the_new_texts(tmp_path: Path) -> None:
    made = HfBpeTokenizer.train(iter(CORPUS), 300, pattern="gpt2", progress=False)
    made.save_pretrained(tmp_path)
    old = HfBpeTokenizer.from_pretrained(tmp_path)
    new = old.train_new_from_iterator(["hello world " * 500], 300)
    assert "6,000 bytes of text" in new.model_card("me/x")
    new.save_pretrained(tmp_path)
    assert "6,000 bytes of text" in HfBpeTokenizer.from_pretrained(tmp_path).model_card("me/x")


def test_progress_may_be_named_as_in_the_stock_class(saved: Any, capfd: pytest.CaptureFixture[str]) -> None:
    new = saved.ours.train_new_from_iterator(CORPUS, 300, show_progress=False)
    assert new.get_vocab() == saved.ours.train_new_from_iterator(CORPUS, 300).get_vocab()
    assert "%" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"min_freq": 5}, "'min_freq'; did you mean 'min_frequency'"),
        ({"foo": 3}, "'foo'; training takes"),
        ({"dialect": "sentencepiece", "pattern": "gpt2"}, "'pattern'"),
    ],
    ids=str,
)
def test_settings_that_nobody_knows_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        HfBpeTokenizer.train(iter(CORPUS), 300, **wrong)
