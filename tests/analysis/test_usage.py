"""Vocabulary in use: shares by hand, entropy as tokenization-scorer has it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tokenization_scorer
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import AddedToken, Encoder
from hf_bpe.analysis.metrics.usage import ALPHA, count_tokens, renyi_entropy, vocabulary_use
from tests.support.vocabularies import byte_spec


@given(
    st.lists(st.integers(0, 60), min_size=2).filter(lambda ids: len(set(ids)) > 1), st.sampled_from([0.5, 1.0, 2.0, 2.5, 3.0])
)
def test_entropy_and_efficiency_are_those_of_tokenization_scorer(ids, alpha):
    counts = np.bincount(ids, minlength=256)
    text = [list(map(str, ids))]
    metric = "shannon" if alpha == 1 else "renyi"
    options = {} if alpha == 1 else {"power": alpha}
    entropy = renyi_entropy(counts, alpha)
    assert entropy == pytest.approx(tokenization_scorer.score(text, metric=f"{metric}_entropy", **options), abs=1e-9)
    if alpha == ALPHA:
        found = vocabulary_use(byte_spec(), counts)
        assert found["renyi_efficiency_of_used"] == pytest.approx(
            tokenization_scorer.score(text, metric="renyi_efficiency", power=alpha), abs=1e-6
        )
        assert found["renyi_efficiency"] == pytest.approx(
            tokenization_scorer.score(text, metric="renyi_efficiency", power=alpha, vocab=256), abs=1e-6
        )


def test_entropy_by_hand():
    assert renyi_entropy(np.array([3, 1]), 2) == pytest.approx(-math.log2(9 / 16 + 1 / 16))
    assert renyi_entropy(np.array([5]), 2.5) == 0
    assert math.copysign(1, renyi_entropy(np.array([5]), 1.0)) == 1
    assert renyi_entropy(np.array([0, 0]), 2.5) is None


def test_use_by_hand():
    spec = byte_spec(added_tokens=(AddedToken("<s>", 300),))  # ids 256 to 299 are holes, and no tokens
    counts = np.zeros(301, np.int64)
    counts[[97, 98, 99, 100]] = [1, 9, 10, 100_000]
    found = vocabulary_use(spec, counts)
    assert (found["size"], found["used"], found["share_used"]) == (257, 4, round(4 / 257, 6))
    assert [(band["from"], band["to"], band["tokens"], band["used"]) for band in found["by_id"]][3:5] == [
        (78, 103, 26, 4),
        (104, 129, 26, 0),
    ]
    assert found["by_id"][-1]["to"] == 300
    assert sum(band["tokens"] for band in found["by_id"]) == 257
    rows = {band["from"]: (band["to"], band["tokens"]) for band in found["by_frequency"]}
    assert rows == {0: (0, 253), 1: (9, 2), 10: (99, 1), 100: (999, 0), 1000: (9999, 0), 10_000: (None, 1)}
    assert sum(band["share_of_text"] for band in found["by_frequency"]) == pytest.approx(1, abs=1e-5)
    assert found["by_frequency"][1]["share_of_text"] == round(10 / 100_020, 6)


def test_a_vocabulary_that_nothing_is_used_of():
    found = vocabulary_use(byte_spec(), np.zeros(256, np.int64))
    assert (found["used"], found["renyi_efficiency"], found["renyi_entropy"]) == (0, None, None)
    assert found["by_frequency"][0] == {"from": 0, "to": 0, "tokens": 256, "share_of_text": None}


def test_counts_over_many_batches(monkeypatch):
    monkeypatch.setattr("hf_bpe.analysis.metrics.usage._BATCH_CHARACTERS", 3)
    assert count_tokens(Encoder(byte_spec()), ["ab", "b", "", "abc"])[97:100].tolist() == [2, 3, 1]
