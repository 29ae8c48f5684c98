"""Every call gives what the stock fast class gives for the same folder."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.plugin.samples import TEXTS

PAIRS = [(a, b) for a, b in product(TEXTS[2:9:2], TEXTS[3:13:3])]


def assert_same(ours: Any, stock: Any) -> None:
    assert list(ours.keys()) == list(stock.keys())
    for name, expected in stock.items():
        assert type(ours[name]) is type(expected), name
        if isinstance(expected, np.ndarray):
            assert ours[name].dtype == expected.dtype
            np.testing.assert_array_equal(ours[name], expected)
        else:
            assert ours[name] == expected, name


@pytest.mark.parametrize("add_special_tokens", [True, False])
@pytest.mark.parametrize("split_special_tokens", [True, False])
def test_single_texts(saved: Any, add_special_tokens: bool, split_special_tokens: bool) -> None:
    options = {"add_special_tokens": add_special_tokens, "split_special_tokens": split_special_tokens}
    for text in TEXTS:
        assert saved.ours.encode(text, **options) == saved.stock.encode(text, **options)
        assert_same(saved.ours(text, **options), saved.stock(text, **options))


EXTRAS: list[dict[str, Any]] = [
    {},
    {"return_token_type_ids": True, "return_special_tokens_mask": True, "return_length": True},
    {"return_attention_mask": False},
    {"return_tensors": "np", "padding": True},
    {"return_tensors": "np", "padding": "max_length", "max_length": 32, "truncation": True, "return_token_type_ids": True},
    {"padding": True, "padding_side": "left", "return_special_tokens_mask": True},
    {"padding": "longest", "pad_to_multiple_of": 8, "return_length": True},
    {"padding": "max_length", "max_length": 20, "padding_side": "left", "pad_to_multiple_of": 7},
    {"padding": "max_length"},
    {"truncation": True},
    {"truncation": True, "max_length": 10},
    {"max_length": 9},
    {"truncation": "longest_first", "max_length": 9, "stride": 1},
    {"truncation": "do_not_truncate", "max_length": 7},
    {"truncation": True, "max_length": 5, "padding": True, "return_special_tokens_mask": True},
    {"truncation": True, "max_length": 16, "padding": "max_length", "pad_to_multiple_of": 16},
    {"add_special_tokens": False, "return_token_type_ids": True, "truncation": True, "max_length": 6},
    {"split_special_tokens": True, "padding": True},
    {"is_split_into_words": False, "verbose": False, "made_up_argument": 3},
]


@pytest.mark.parametrize("options", EXTRAS, ids=str)
@pytest.mark.parametrize("truncation_side", ["right", "left"])
def test_every_option(saved: Any, options: dict[str, Any], truncation_side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for tokenizer in (saved.ours, saved.stock):
        monkeypatch.setattr(tokenizer, "truncation_side", truncation_side)
    firsts, seconds = [a for a, _ in PAIRS], [b for _, b in PAIRS]
    assert_same(saved.ours(TEXTS, **options), saved.stock(TEXTS, **options))
    assert_same(saved.ours(tuple(TEXTS), **options), saved.stock(tuple(TEXTS), **options))
    assert_same(saved.ours(TEXTS[3], **options), saved.stock(TEXTS[3], **options))
    assert_same(saved.ours(*PAIRS[1], **options), saved.stock(*PAIRS[1], **options))
    assert_same(saved.ours(firsts, seconds, **options), saved.stock(firsts, seconds, **options))
    assert_same(saved.ours(PAIRS, **options), saved.stock(PAIRS, **options))
    assert_same(saved.ours([TEXTS[2], PAIRS[0]], **options), saved.stock([TEXTS[2], PAIRS[0]], **options))
    assert_same(saved.ours("one", text_target="two", **options), saved.stock("one", text_target="two", **options))


def outcome(tokenizer: Any, *call: Any, **options: Any) -> Any:
    """What a call gives; ValueError where it fails (stock raises a bare Exception for impossible truncation)."""
    try:
        return tokenizer(*call, **options)["input_ids"]
    except Exception:  # noqa: BLE001
        return ValueError


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("room", [0, 1, 2, 3, 4, 5, 6, 9, 12, 25, 64])
def test_truncation_of_pairs(saved: Any, strategy: str, side: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for tokenizer in (saved.ours, saved.stock):
        monkeypatch.setattr(tokenizer, "truncation_side", side)
    # Where special tokens leave no room stock does not cut at all; ours is tested below.
    options = {"truncation": strategy, "max_length": room + saved.stock.num_special_tokens_to_add(pair=True)}
    for first, second in [*PAIRS, ("", "a b c d e f"), ("a b c d e f", "x"), ("a b c d e f g", "h i j k l m n")]:
        for call in ((first, second), (first,)):
            assert outcome(saved.ours, *call, **options) == outcome(saved.stock, *call, **options), call


@pytest.mark.parametrize("max_length", [0, 1, 2])
def test_special_tokens_alone_remain_where_they_leave_no_room(saved: Any, max_length: int) -> None:
    for call in (("one two three",), ("one two three", "four five")):
        alone = saved.ours.num_special_tokens_to_add(pair=len(call) == 2)
        if alone >= max_length:
            assert len(saved.ours(*call, truncation=True, max_length=max_length)["input_ids"]) == alone


@pytest.mark.parametrize("options", EXTRAS[:8], ids=str)
def test_words(saved: Any, options: dict[str, Any]) -> None:
    words = [text.split() for text in TEXTS]
    pairs = list(zip(words[2:5], words[5:8], strict=True))
    options = {**options, "is_split_into_words": True}
    assert_same(saved.ours(words[3], **options), saved.stock(words[3], **options))
    assert_same(saved.ours(tuple(words[3]), **options), saved.stock(tuple(words[3]), **options))
    assert_same(saved.ours([], **options), saved.stock([], **options))
    assert_same(saved.ours(words, **options), saved.stock(words, **options))
    assert_same(saved.ours(words[2], words[3], **options), saved.stock(words[2], words[3], **options))
    assert_same(saved.ours(pairs, **options), saved.stock(pairs, **options))


def test_an_empty_second_text_is_none_for_one_text_and_a_text_in_a_batch(saved: Any) -> None:
    for call in (("a", ""), (["a"], [""])):
        assert_same(saved.ours(*call), saved.stock(*call))


def test_tokens_of_a_text(saved: Any) -> None:
    stripping = ("mask", "</tool>")  # stock shows the white space that such a token took as part of it
    for text in (text for text in TEXTS if not any(token in text for token in stripping)):
        assert saved.ours.tokenize(text) == saved.stock.tokenize(text)
        assert saved.ours.tokenize(text, add_special_tokens=True) == saved.stock.tokenize(text, add_special_tokens=True)
    assert saved.ours.tokenize("a  <mask>  b")[1] == "<mask>"
    with pytest.raises(ValueError, match="one text"):
        saved.ours.tokenize(["a", "b"])


def test_an_empty_batch_gives_an_empty_result(saved: Any) -> None:
    assert dict(saved.ours([])) == {"input_ids": [], "attention_mask": []}
    assert saved.ours([], padding=True, return_tensors="np")["input_ids"].shape == (0,)


def test_lone_surrogates_are_read_as_replacement_characters(saved: Any) -> None:
    assert saved.ours.encode("a\ud800b") == saved.ours.encode("a\ufffdb")
    assert saved.ours(["a\ud800b", "c"])["input_ids"] == saved.ours(["a\ufffdb", "c"])["input_ids"]
    assert saved.ours.encode("\ud83d\ude00") == saved.ours.encode("😀")


@pytest.mark.parametrize(
    "bad", [3, 3.5, b"bytes", {"a": 1}, [66, 67], [[66, 67]], [None], [["a", "b", "c"]], ["a", 3], [("a",)]]
)
@pytest.mark.parametrize("is_split_into_words", [False, True])
def test_what_is_not_text_is_refused_as_in_stock(saved: Any, bad: Any, is_split_into_words: bool) -> None:
    def attempt(tokenizer: Any) -> Any:
        try:
            return dict(tokenizer(bad, is_split_into_words=is_split_into_words))
        except (ValueError, TypeError) as error:
            return type(error)

    assert attempt(saved.ours) == attempt(saved.stock)


@pytest.mark.parametrize("call", [("a", ["b"]), (["a"], "b"), (["a", "b"], ["c"]), (None, "b"), ("a", 3)])
def test_texts_and_second_texts_that_do_not_fit_are_refused(saved: Any, call: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        saved.ours(*call)


def test_a_stride_that_does_not_fit_is_refused(saved: Any) -> None:
    text = "one two three four five six seven eight nine ten"
    for stride in (4, 5, 50):
        with pytest.raises(ValueError, match="stride"):
            saved.ours(text, truncation=True, max_length=4, stride=stride, add_special_tokens=False)


def test_padding_without_a_padding_token_is_refused(spec: Any) -> None:
    from hf_bpe.plugin import HfBpeTokenizer

    with pytest.raises(ValueError, match="padding token"):
        HfBpeTokenizer.from_spec(spec)(["a", "b c"], padding=True)


def test_pad_and_special_masks_by_hand(saved: Any) -> None:
    rows = [{"input_ids": saved.stock.encode(text)} for text in TEXTS[1:5]]
    assert_same(saved.ours.pad(rows, padding=True), saved.stock.pad(rows, padding=True))
    ids = saved.stock.encode("a<|end|>b")
    masks = [t.get_special_tokens_mask(ids, already_has_special_tokens=True) for t in (saved.ours, saved.stock)]
    assert masks[0] == masks[1]
    plain = saved.ours.encode("hello there", add_special_tokens=False)
    built = saved.ours.build_inputs_with_special_tokens(plain, plain)
    expected = saved.stock("hello there", "hello there", return_token_type_ids=True, return_special_tokens_mask=True)
    assert built == expected["input_ids"]
    assert saved.ours.create_token_type_ids_from_sequences(plain, plain) == expected["token_type_ids"]
    assert saved.ours.get_special_tokens_mask(plain, plain) == expected["special_tokens_mask"]
    for pair in (False, True):
        assert saved.ours.num_special_tokens_to_add(pair) == saved.stock.num_special_tokens_to_add(pair)
    assert saved.ours.max_len_single_sentence == saved.stock.max_len_single_sentence


def test_tensors_of_torch(saved: Any) -> None:
    torch = pytest.importorskip("torch")
    result = saved.ours(["a", "b c d"], padding=True, return_tensors="pt")["input_ids"]
    assert isinstance(result, torch.Tensor)
    assert result.tolist() == saved.ours(["a", "b c d"], padding=True)["input_ids"]
    assert saved.ours.decode(result) == saved.ours.decode(result.tolist())


def test_too_long_text_warns_once_and_is_kept(tokenizer: Any, caplog: pytest.LogCaptureFixture) -> None:
    tokenizer.model_max_length = 4
    assert len(tokenizer("one two three four five six seven")["input_ids"]) > 4
    assert tokenizer.deprecation_warnings
