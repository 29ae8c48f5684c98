"""Tokens added at run time: ids, flags, what they match, and that nothing is lost on the way to disk."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

import conversion
import hf_bpe
from hf_bpe import ConversionRefused, TokenizerSpec
from hf_bpe.plugin import HfBpeTokenizer
from tests.plugin.conftest import save_and_load_both
from tests.plugin.samples import NAMES, make_spec
from tests.support.vocabularies import byte_spec

TEXT = "a <t> b<t>c  <t>  d x<t> <t>y <t><t> word<t>word <|end|><t>"


@pytest.fixture
def both(tokenizer: Any, tmp_path: Path) -> Any:
    return save_and_load_both(tokenizer, tmp_path / "both")


FLAGS = [
    dict(zip(("lstrip", "rstrip", "single_word", "special"), values, strict=True))
    for values in product([False, True], repeat=4)
]


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_every_combination_of_flags(both: Any, flags: dict[str, bool], tmp_path: Path) -> None:
    for tokenizer in (both.ours, both.stock):
        assert tokenizer.add_tokens([AddedToken("<t>", normalized=False, **flags)]) == 1
    assert both.ours.encode(TEXT) == both.stock.encode(TEXT)
    assert both.ours.encode(TEXT, split_special_tokens=True) == both.stock.encode(TEXT, split_special_tokens=True)
    ids = both.ours.encode(TEXT)
    assert both.ours.decode(ids, skip_special_tokens=True) == both.stock.decode(ids, skip_special_tokens=True)
    again = save_and_load_both(both.ours, tmp_path / "again")
    assert again.ours.added_tokens_decoder == again.stock.added_tokens_decoder == both.ours.added_tokens_decoder
    assert again.ours.encode(TEXT) == again.stock.encode(TEXT) == ids


STEPS: list[tuple[Any, bool]] = [
    (["<a>", "<b>", "<a>", ""], False),
    ("<a>", False),
    (["<a>"], True),
    ([AddedToken("<b>", lstrip=True)], False),
    ([AddedToken("<b>", lstrip=True)], False),
    (["the", "Ġ<new>"], False),
    ([AddedToken("<c>", rstrip=True)], True),
    (["<|end|>"], False),
    ([], False),
]


def test_ids_flags_and_counts_step_by_step(both: Any) -> None:
    for tokens, special in STEPS:
        added = [tokenizer.add_tokens(tokens, special_tokens=special) for tokenizer in (both.ours, both.stock)]
        assert added[0] == added[1], tokens
        assert both.ours.added_tokens_decoder == both.stock.added_tokens_decoder, tokens
        assert (both.ours.vocab_size, len(both.ours)) == (both.stock.vocab_size, len(both.stock))
        assert both.ours.get_vocab() == both.stock.get_vocab()
        assert both.ours.all_special_tokens == both.stock.all_special_tokens


def test_special_tokens_given_roles_at_run_time(both: Any, tmp_path: Path) -> None:
    wanted = {"cls_token": "<cls>", "sep_token": AddedToken("<sep>", lstrip=True), "extra_special_tokens": ["<e1>", "<e2>"]}
    for tokenizer in (both.ours, both.stock):
        assert tokenizer.add_special_tokens(wanted) == 4
    for loaded in (both, save_and_load_both(both.ours, tmp_path / "again")):
        assert loaded.ours.cls_token_id == loaded.stock.cls_token_id
        assert loaded.ours.all_special_ids == loaded.stock.all_special_ids
        assert loaded.ours.special_tokens_map == loaded.stock.special_tokens_map
        assert loaded.ours.encode("a <sep> <cls><e1>") == loaded.stock.encode("a <sep> <cls><e1>")


def test_roles_named_when_loading(both: Any) -> None:
    options = {"mask_token": AddedToken("<new mask>", lstrip=True), "unk_token": "<unk>", "image_token": "<image>"}
    ours, stock = (cls.from_pretrained(both.folder, **options) for cls in (HfBpeTokenizer, PreTrainedTokenizerFast))
    assert ours.added_tokens_decoder == stock.added_tokens_decoder
    assert ours.special_tokens_map == stock.special_tokens_map
    assert ours.encode("a  <new mask><image>") == stock.encode("a  <new mask><image>")
    assert ours.image_token_id == stock.image_token_id


def test_a_token_with_a_role_becomes_special(spec: Any, tmp_path: Path) -> None:
    ours = HfBpeTokenizer.from_spec(spec, pad_token="<tool>")
    assert ours.added_tokens_decoder[ours.pad_token_id].special
    again = save_and_load_both(ours, tmp_path)
    ids = again.ours.encode("a<tool>b<mask>c")
    for loaded in (ours, again.ours):
        assert loaded.decode(ids, skip_special_tokens=True) == again.stock.decode(ids, skip_special_tokens=True) == "abc"


def test_a_role_taken_away_or_changed_is_saved(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.bos_token = None
    tokenizer.pad_token = "<|end|>"
    again = save_and_load_both(tokenizer, tmp_path)
    assert again.ours.bos_token is None
    assert again.stock.bos_token is None
    assert again.ours.pad_token_id == again.stock.pad_token_id == again.ours.eos_token_id


def test_added_tokens_decode_to_their_text_whatever_letters_they_hold(tokenizer: Any, tmp_path: Path) -> None:
    contents = ["<é>", "<｜début▁of▁phrase｜>", "<안녕>", "<Ġx>"]
    tokenizer.add_tokens(contents)
    with pytest.warns(RuntimeWarning, match="<é>.*decode them to other text"):
        again = save_and_load_both(tokenizer, tmp_path)
    for content in contents:
        ids = again.ours.encode(content)
        assert ids == again.stock.encode(content) == [again.ours.convert_tokens_to_ids(content)]
        assert again.ours.decode(ids) == content


def test_a_token_that_merging_can_make_keeps_its_id(both: Any, tmp_path: Path) -> None:
    word, token_id = next((token, n) for token, n in both.ours.get_vocab().items() if token.isascii() and len(token) == 4)
    for tokenizer in (both.ours, both.stock):
        size = len(tokenizer)
        assert tokenizer.add_tokens([word]) == 1
        assert len(tokenizer) == size
    again = save_and_load_both(both.ours, tmp_path / "again")
    text = f"a{word}b {word} {word}s"
    assert again.ours.encode(text) == again.stock.encode(text) == both.stock.encode(text)
    assert again.ours.convert_tokens_to_ids(word) == token_id


def test_text_with_spaces_or_other_scripts_that_merging_can_make_keeps_its_id_too(tokenizer: Any, tmp_path: Path) -> None:
    text = tokenizer.decode(
        [next(n for token, n in tokenizer.get_vocab().items() if token.startswith("Ġ") and len(token) == 4)]
    )
    (token_id,) = tokenizer.encode(text)
    tokenizer.add_tokens([text])
    assert tokenizer.encode(f"x{text}y")[1] == token_id
    try:
        again = save_and_load_both(tokenizer, tmp_path)
    except ConversionRefused:  # then nothing is saved that would load differently
        assert not list(tmp_path.iterdir())
    else:
        assert again.ours.encode(f"x{text}y") == again.stock.encode(f"x{text}y")


@pytest.mark.parametrize("content", ["é", "Ġ", "Ġthe"])
def test_a_token_spelt_like_other_bytes_is_refused(tokenizer: Any, content: str) -> None:
    with pytest.raises(ValueError, match="cannot be told from"):
        tokenizer.add_tokens([content])


@pytest.mark.parametrize("bad", [[3], [None], ["fine", b"bytes"]])
def test_what_is_not_a_token_is_refused_and_nothing_is_added(tokenizer: Any, bad: Any) -> None:
    size = len(tokenizer)
    with pytest.raises(TypeError):
        tokenizer.add_tokens(bad)
    assert len(tokenizer) == size
    with pytest.raises(ValueError, match="surrogate"):
        tokenizer.add_tokens(["\ud800"])


def test_many_tokens_are_added_and_saved_quickly(tokenizer: Any, tmp_path: Path) -> None:
    contents = [f"<extra_{n}>" for n in range(3_000)]
    assert tokenizer.add_tokens(contents) == 3_000
    for content in contents[:200]:
        tokenizer.add_tokens([content + "!"])  # one by one must not rebuild everything each time
    again = save_and_load_both(tokenizer, tmp_path)
    text = "x".join(contents[::97])
    assert again.ours.encode(text) == again.stock.encode(text)


def test_training_makes_room_for_the_named_tokens() -> None:
    tokenizer = HfBpeTokenizer.train(
        iter(["to be or not to be, that is the question " * 5]), 300, pattern="gpt2", progress=False,
        special_tokens=["<|x|>"], eos_token="<|end|>", pad_token="<|pad|>", additional_special_tokens=["<|im|>"], model_max_length=9,
    )  # fmt: skip
    assert len(tokenizer) == tokenizer.vocab_size <= 300
    assert tokenizer.eos_token_id is not None
    assert set(tokenizer.get_added_vocab()) == {"<|x|>", "<|end|>", "<|pad|>", "<|im|>"}
    assert max(tokenizer.get_vocab().values()) == len(tokenizer) - 1
    assert tokenizer.model_max_length == 9


def test_bos_and_eos_can_be_switched(both: Any) -> None:
    for value in (True, False):
        for tokenizer in (both.ours, both.stock):
            tokenizer.add_bos_token = value
            tokenizer.add_eos_token = not value
        assert both.ours("a", "b")["input_ids"] == both.stock("a", "b")["input_ids"]
        assert (both.ours.add_bos_token, both.ours.add_eos_token) == (value, not value)


def test_bos_without_a_bos_token_is_refused() -> None:
    spec = make_spec()
    with pytest.raises(ValueError, match="add_bos_token=True needs bos_token"):
        HfBpeTokenizer.from_spec(spec, add_bos_token=True)
    assert HfBpeTokenizer.from_spec(spec, **NAMES, add_eos_token=True).encode("")[0] == spec.special_tokens["<|end|>"]


@pytest.mark.parametrize("name", ["bos_token", "eos_token"])
def test_a_token_that_is_not_set_is_put_around_nothing(spec: TokenizerSpec, name: str) -> None:
    tokenizer = HfBpeTokenizer.from_spec(spec)
    with pytest.warns(RuntimeWarning, match=f"has no {name}"):
        setattr(tokenizer, f"add_{name}", True)
    assert not getattr(tokenizer, f"add_{name}")
    assert tokenizer("hello")["input_ids"] == tokenizer("hello", add_special_tokens=False)["input_ids"]


def test_one_that_merging_can_also_make_counts_twice(tmp_path: Path) -> None:
    spec = byte_spec("gpt2", added_tokens=(hf_bpe.AddedToken("\n", 10), hf_bpe.AddedToken("<s>", 256)))
    both = save_and_load_both(HfBpeTokenizer.from_spec(spec), tmp_path)
    for tokenizer in (both.ours, both.stock):
        assert len(tokenizer) == len(tokenizer.get_vocab()) == 258
        assert tokenizer.vocab_size == both.stock.vocab_size
    for tokenizer in (both.ours, both.stock):
        tokenizer.add_tokens(["<t>"])
        assert tokenizer.convert_tokens_to_ids("<t>") == 258


def test_nothing_is_added_if_one_could_not_be_found() -> None:
    tokenizer = HfBpeTokenizer.from_spec(byte_spec("gpt2", normalizer=("Strip", "Lowercase")))
    before = tokenizer.get_vocab()
    with pytest.raises(ValueError, match="nothing is left of the added token ' '"):
        tokenizer.add_tokens([AddedToken("<t>"), AddedToken(" ", normalized=True)])
    with pytest.raises(ValueError, match="are both '<t>' once they are normalised"):
        tokenizer.add_tokens([AddedToken("<t>", normalized=True), AddedToken("<T>", normalized=True)])
    assert tokenizer.get_vocab() == before


def test_what_makes_the_library_panic_is_saved(tmp_path: Path) -> None:
    """Two tokens that take along the same white space, in text that saving compares."""
    tokens = [hf_bpe.AddedToken(":", 58, rstrip=True), hf_bpe.AddedToken(" ", 32, special=False, lstrip=True)]
    tokenizer = HfBpeTokenizer.from_spec(byte_spec("gpt2", added_tokens=tokens))
    with pytest.raises(BaseException, match="bad split"):
        tokenizers.Tokenizer.from_str(json.dumps(conversion.tokenizer_json.to_dict(tokenizer.spec))).encode("f(x):\n    x")
    tokenizer.save_pretrained(tmp_path)
    assert HfBpeTokenizer.from_pretrained(tmp_path).encode("f(x):\n    x") == tokenizer.encode("f(x):\n    x")


@pytest.mark.parametrize("normalizer", [(), ("NFC",)], ids=str)
def test_special_ones_hide_plain_ones_that_begin_inside_them_though_they_are_split(normalizer: Any, tmp_path: Path) -> None:
    tokens = [
        hf_bpe.AddedToken("<ab>", 256),
        hf_bpe.AddedToken("b>c", 257, special=False),
    ]
    both = save_and_load_both(HfBpeTokenizer.from_spec(byte_spec("gpt2", added_tokens=tokens, normalizer=normalizer)), tmp_path)
    for text in ("<ab>c", "b>c", "x <ab>c <ab", "< <ab> <", "<ab><ab>cb>c"):
        for split in (True, False):
            options = {"split_special_tokens": split, "return_offsets_mapping": True}
            assert dict(both.ours(text, **options)) == dict(both.stock(text, **options)), (text, split)
