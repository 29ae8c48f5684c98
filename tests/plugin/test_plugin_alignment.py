"""Where in the text each id comes from: offsets, words, windows, and what callers ask of `BatchEncoding`."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from hf_bpe import AddedToken, Encoder, Piece
from hf_bpe.plugin import HfBpeTokenizer, placement
from hf_bpe.plugin.shaping import Truncation
from tests.plugin.samples import NAMES
from tests.support.pieces import pieces_spec
from tests.support.vocabularies import byte_spec

TEXT = "Hello größer 안녕 world. <mask>  The end"


def test_each_id_knows_its_characters_and_its_word(saved: Any) -> None:
    result = saved.ours(TEXT, add_special_tokens=False)
    encoding = result.encodings[0]
    for position, (token_id, (start, stop)) in enumerate(zip(encoding.ids, encoding.offsets, strict=True)):
        assert TEXT[start:stop].strip().startswith(saved.ours.decode([token_id]).strip("\ufffd "))
        assert result.token_to_chars(position) == (start, stop)
        assert result.char_to_token(start) <= position
    assert result.word_ids()[0] == 0
    assert result.tokens() == saved.ours.convert_ids_to_tokens(result["input_ids"])
    assert result.sequence_ids() == [0] * len(encoding)
    assert len(result.tokens()) == len(result["input_ids"])


def test_offsets_are_the_same_without_the_compiled_engine(saved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, expected = [TEXT, "", "a"], saved.ours([TEXT, "", "a"], return_offsets_mapping=True)
    monkeypatch.setattr(placement, "load_native", lambda: None)
    assert dict(saved.ours(texts, return_offsets_mapping=True)) == dict(expected)


@pytest.mark.parametrize("side", ["left", "right"])
def test_overflowing_windows_overlap_by_the_stride(saved: Any, side: str) -> None:
    ours, stock = copy.copy(saved.ours), copy.deepcopy(saved.stock)
    options = {
        "truncation": True,
        "max_length": 12,
        "stride": 3,
        "return_overflowing_tokens": True,
        "return_offsets_mapping": True,
    }
    for tokenizer in (ours, stock):
        tokenizer.truncation_side = side
    texts = [TEXT * 3, "short"]
    found, expected = ours(texts, **options), stock(texts, **options)
    assert dict(found) == dict(expected)
    assert found["overflow_to_sample_mapping"][-1] == 1
    plain = ours(TEXT * 3, add_special_tokens=False)["input_ids"]
    windows = ours(TEXT * 3, add_special_tokens=False, **options)["input_ids"]
    assert windows[0] == (plain[:12] if side == "right" else plain[-12:])
    assert windows[0][-3:] == windows[1][:3] if side == "right" else windows[0][:3] == windows[1][-3:]


def test_windows_of_pairs_know_their_sequences(saved: Any) -> None:
    options = {
        "truncation": "only_second",
        "max_length": 20,
        "stride": 2,
        "return_overflowing_tokens": True,
        "padding": "max_length",
    }
    found, expected = saved.ours("question?", TEXT, **options), saved.stock("question?", TEXT, **options)
    assert dict(found) == dict(expected)
    assert len(found.encodings) == len(expected.encodings) > 1
    for number in range(len(found.encodings)):
        assert found.sequence_ids(number) == expected.sequence_ids(number)
        assert found.word_ids(number) == expected.word_ids(number)


def test_words_of_split_text_are_the_words_given(saved: Any) -> None:
    words = ["Hello", "größer", "", "안녕", "world"]
    found = saved.ours(words, is_split_into_words=True)
    expected = saved.stock(words, is_split_into_words=True)
    assert found.word_ids() == expected.word_ids()
    assert {number for number in found.word_ids() if number is not None} == {0, 1, 3, 4}
    assert found.word_to_tokens(3) == expected.word_to_tokens(3)
    assert found.word_to_chars(3) == expected.word_to_chars(3) == (0, 2)


def test_an_encoding_outlives_its_tokenizer_and_added_tokens(tokenizer: Any) -> None:
    result = tokenizer("a <new> b")
    before = tokenizer("a <new> b").tokens()
    tokenizer.add_tokens(["<new>"])
    assert result.tokens() == before
    assert "<new>" in tokenizer("a <new> b").tokens()


def test_a_pickled_result_has_everything_but_the_vocabulary(tokenizer: Any) -> None:
    result = tokenizer(["Hello world " * 9, "b"], truncation=True, max_length=5)
    content = pickle.dumps(result)
    assert len(content) < 5000
    again = pickle.loads(content)
    assert again.tokens(0) == result.tokens(0)
    assert [window.ids for window in again.encodings[0].overflowing] == [
        window.ids for window in result.encodings[0].overflowing
    ]
    assert again.char_to_token(0, 1) == result.char_to_token(0, 1)
    assert pickle.loads(pickle.dumps(again)).word_ids(1) == result.word_ids(1)


def test_no_window_can_be_made_with_a_stride_as_long_as_it() -> None:
    with pytest.raises(ValueError, match="stride 2 must be smaller than the 2 tokens"):
        Truncation(5, "longest_first", "right", stride=2).windows(9, 9)


def test_the_stock_class_on_request(tokenizer: Any) -> None:
    stock = tokenizer.as_stock()
    assert type(stock) is PreTrainedTokenizerFast
    assert stock(TEXT)["input_ids"] == tokenizer(TEXT)["input_ids"]
    assert (stock.pad_token, stock.chat_template) == (tokenizer.pad_token, tokenizer.chat_template)


def test_the_backend_is_made_once_and_anew_after_adding_tokens(tokenizer: Any) -> None:
    state = pickle.dumps(tokenizer)
    backend = tokenizer.backend_tokenizer
    assert backend is tokenizer.backend_tokenizer
    assert pickle.dumps(tokenizer) == state
    assert backend.encode(TEXT).ids == tokenizer.encode(TEXT)
    tokenizer.add_tokens(["größer"])
    assert tokenizer.backend_tokenizer.encode(TEXT).ids == tokenizer.encode(TEXT)
    assert tokenizer.is_fast


def test_special_ids_follow_every_change(tokenizer: Any) -> None:
    ids = tokenizer.all_special_ids
    assert ids == tokenizer.convert_tokens_to_ids(tokenizer.all_special_tokens)
    ids.append(-1)
    tokenizer.pad_token = "<|im|>"
    tokenizer.add_special_tokens({"cls_token": "<cls>", "extra_special_tokens": ["<e>"]})
    assert tokenizer.all_special_ids == tokenizer.convert_tokens_to_ids(tokenizer.all_special_tokens)
    assert tokenizer.convert_tokens_to_ids("<e>") in tokenizer.all_special_ids


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_alignment_tells_what_was_found_from_what_was_merged(engine: Any) -> None:
    spec = byte_spec("gpt2", added_tokens=(AddedToken("\n", 10), AddedToken("<s>", 256, special=False)))
    encoder = Encoder(spec, engine=engine)
    assert encoder.align_batch(["a\n<s>"], disallowed_special=()).added.tolist() == [False, False, True]
    assert encoder.align_batch(["a\n<s>"], allowed_special="all").added.tolist() == [False, True, True]
    assert encoder.align_batch(["a\n<s>"], allowed_special="all").ids.tolist() == [97, 10, 256]


TRIMS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def test_trimmed_offsets_are_those_of_the_stock_class(spec: Any, tmp_path: Path) -> None:
    HfBpeTokenizer.from_spec(spec, **NAMES).save_pretrained(tmp_path)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "post_processor": TRIMS}))
    ours, stock = HfBpeTokenizer.from_pretrained(tmp_path), PreTrainedTokenizerFast.from_pretrained(tmp_path)
    for text in (TEXT, "  a\n\n b ", " \t\n", "x <mask>  y", "word  plus ", "a\u3000 b"):
        assert ours(text)[0].offsets == stock(text)[0].offsets, text


@pytest.mark.parametrize("text", ["a   b", "   a", "a   ", " ", "", "  <s>  a  </s>  ", "a <s>", "a  b  c", "\u3000 a"])
@pytest.mark.parametrize(("prefix", "suffix"), [("always", False), ("always", True), ("never", False)])
def test_removed_and_added_spaces_stand_where_they_do_in_the_stock_class(
    text: str, prefix: Any, suffix: bool, tmp_path: Path
) -> None:
    pieces = [Piece("<s>", 0.0, "control"), Piece("</s>", 0.0, "control"), *map(Piece, "\u2581abc"), Piece("\u2581a", -1.0)]
    spec = pieces_spec(*pieces, prepend_scheme=prefix, treat_whitespace_as_suffix=suffix, remove_extra_whitespaces=True)
    HfBpeTokenizer.from_spec(spec).save_pretrained(tmp_path)
    ours, stock = HfBpeTokenizer.from_pretrained(tmp_path), PreTrainedTokenizerFast.from_pretrained(tmp_path)
    for split in (False, True):
        found, expected = (tokenizer(text, split_special_tokens=split)[0] for tokenizer in (ours, stock))
        assert (found.ids, found.offsets, found.word_ids) == (expected.ids, expected.offsets, expected.word_ids)


@pytest.mark.parametrize("options", [{}, {"add_special_tokens": False}])
def test_lists_of_a_result_are_the_callers_own(tokenizer: Any, options: dict[str, Any]) -> None:
    found = tokenizer(TEXT, return_offsets_mapping=True, **options)
    before = list(found[0].ids), list(found[0].offsets), list(found[0].attention_mask)
    for column in found.values():
        column.append(5)
    assert (found[0].ids, found[0].offsets, found[0].attention_mask) == before
