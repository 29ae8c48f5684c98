"""Merges that rank a token's use before its making: one pair merges at a time, the leftmost of the best."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tiktoken
import tokenizers

from conversion import tokenizer_json
from hf_bpe import Encoder, TokenizerSpec
from tests.support.vocabularies import BYTES

USED_BEFORE_MADE = TokenizerSpec(vocab=BYTES | {b"bb": 257, b"bbb": 256}, merges=((b"bb", b"b"), (b"b", b"b")))
EXPECTED = {3: [256], 4: [256, 98], 5: [256, 257], 7: [256, 256, 98], 70: [256] * 23 + [98], 200: [256] * 66 + [257]}


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("times", [times for times in EXPECTED if times > 3])
def test_the_best_pair_is_looked_for_anew_after_every_merge(engine: Any, times: int) -> None:
    assert Encoder(USED_BEFORE_MADE, engine=engine).encode_ordinary("b" * times) == EXPECTED[times]


@pytest.mark.parametrize("times", EXPECTED)
def test_that_is_what_tiktoken_and_tokenizers_do(times: int) -> None:
    official = tiktoken.Encoding("b", pat_str=r"[\s\S]+", mergeable_ranks=dict(USED_BEFORE_MADE.vocab), special_tokens={})
    stock = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json.to_dict(USED_BEFORE_MADE)))
    assert official.encode_ordinary("b" * times) == stock.encode("b" * times).ids == EXPECTED[times]
