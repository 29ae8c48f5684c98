"""Random calls of random tokenizers: the same as the stock fast class, but for what docs/transformers.md lists."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest
from transformers import PreTrainedTokenizerBase

from hf_bpe.plugin import HfBpeTokenizer, encoding_methods
from tests.fuzz import calls
from tests.fuzz.calls.pairs import MODELS
from tests.fuzz.subjects import Mismatch, Tally

COUNTS = {"bytes": 200, "pieces": 100, **dict.fromkeys(MODELS, 25)}


@pytest.mark.parametrize("kind", COUNTS)
def test_random_calls(kind: str) -> None:
    calls.run(COUNTS[kind], 0, Tally("calls"), kinds={kind: 1}, each=25, show=False)


def test_what_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = HfBpeTokenizer._encode_plus

    def last_number_wrong(self: Any, *arguments: Any, **options: Any) -> Any:
        result = real(self, *arguments, **options)
        for column in result.values():
            if isinstance(column, list) and column and isinstance(column[-1], int):
                column[-1] += 1
        return result

    monkeypatch.setattr(HfBpeTokenizer, "_encode_plus", last_number_wrong)
    with pytest.raises(Mismatch, match=r"here, .* there"):
        calls.run(40, 0, Tally("calls"), kinds={"bytes": 1}, each=40, show=False)


def test_arguments_of_a_call_that_are_passed_on_are_all_that_transformers_knows() -> None:
    named = set(inspect.signature(PreTrainedTokenizerBase.__call__).parameters)
    others = {"self", "text", "text_target", "text_pair_target", "tokenizer_kwargs", "kwargs"}
    assert named - others | {"split_special_tokens"} == encoding_methods._OF_ENCODING


def test_short_ways_give_what_the_long_way_gives(saved: Any) -> None:
    ours, text = saved.ours, "Hello größer <mask>  world"
    for options in (
        {},
        {"return_offsets_mapping": True},
        {"truncation": True, "max_length": 4},
        {"truncation": True, "max_length": 4, "return_offsets_mapping": True, "return_special_tokens_mask": True},
        {"add_special_tokens": False, "return_token_type_ids": True},
        {"padding": "max_length", "max_length": 30, "truncation": True},
        {"return_tensors": "np", "return_length": True},
        {"text_pair": "the world"},
    ):
        found, expected = ours(text, **options), PreTrainedTokenizerBase.__call__(ours, text, **options)
        assert list(found) == list(expected)
        assert str(dict(found)) == str(dict(expected))
        assert type(found) is type(expected)
        assert (found.n_sequences, found.word_ids()) == (expected.n_sequences, expected.word_ids())


def test_names_of_no_token_are_not_remembered(saved: Any) -> None:
    ours = copy.copy(saved.ours)
    ours.unk_token = None
    before = ours.convert_tokens_to_ids(["Hello", "no such token"])
    ours.convert_tokens_to_ids([f"nonsense {number}" for number in range(1000)])
    ours.convert_ids_to_tokens(range(10**6, 10**6 + 1000))
    assert len(ours._vocabulary.known_ids) <= len(ours)
    assert len(ours._vocabulary.known_tokens) <= len(ours)
    ours.add_tokens(["no such token"])
    assert before[1] is None
    assert ours.convert_tokens_to_ids(["Hello", "no such token"])[1] == len(ours) - 1


@pytest.mark.parametrize("size", ["pad_to_multiple_of", "max_length"])
def test_sizes_below_zero_are_refused_by_pad(saved: Any, size: str) -> None:
    with pytest.raises(ValueError, match=f"{size} must not be negative, and it is -3"):
        saved.ours.pad({"input_ids": [[1, 2], [1]]}, **{size: -3})
    padded = saved.ours.pad({"input_ids": [[1, 2], [1]]}, pad_to_multiple_of=4)
    assert dict(padded) == dict(saved.stock.pad({"input_ids": [[1, 2], [1]]}, pad_to_multiple_of=4))
