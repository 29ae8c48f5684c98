"""How numbers are cut: by hand, for tokenizers that group from the left, from the right, not at all, and anyhow."""

from __future__ import annotations

import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import Encoder, TokenizerSpec
from hf_bpe.analysis.metrics.indents import indentation_tokens
from hf_bpe.analysis.metrics.numbers import cuts_of, numbers_cut
from tests.support.pieces import model
from tests.support.vocabularies import byte_spec, cl100k_encoder, cl100k_spec, gpt2_spec

FROM_RIGHT = r"\d{1,3}(?=(?:\d{3})*(?!\d))|[^\d]+"


def rows(found: dict) -> dict[int, dict]:
    return {row["digits"]: row for row in found["by_digits"]}


@pytest.fixture(scope="module")
def from_right() -> Encoder:
    return Encoder(cl100k_spec().replace(pattern=FROM_RIGHT))


def test_groups_from_the_left():
    found = numbers_cut(cl100k_encoder())
    assert found["grouping"] == {"scheme": "left", "size": 3}
    seven = rows(found)[7]
    assert (seven["most_common_cut"], seven["share_of_most_common"], seven["different_cuts"]) == ("3+3+1", 1.0, 1)
    assert (seven["tokens_per_number"], seven["right_aligned"]) == (3.0, 0.0)
    assert rows(found)[6]["right_aligned"] == 1.0  # 3+3 is so either way
    assert [row["numbers"] for row in found["by_digits"]][:4] == [10, 90, 900, 1000]


def test_groups_from_the_right(from_right):
    found = numbers_cut(from_right)
    assert found["grouping"] == {"scheme": "right", "size": 3}
    assert rows(found)[7]["most_common_cut"] == "1+3+3"
    assert {row["right_aligned"] for row in found["by_digits"]} == {1.0}
    assert found["aligned_sums"] == 1.0


def test_single_digits():
    found = numbers_cut(Encoder(byte_spec()))
    assert found["grouping"] == {"scheme": "digits", "size": 1}
    assert found["aligned_sums"] == 1.0
    assert [row["tokens_per_number"] for row in found["by_digits"]] == list(range(1, 13))


def test_a_sentencepiece_model_has_no_token_more_for_its_space():
    found = numbers_cut(Encoder(parse_model(model("mistral v1"), "mistral v1")))
    assert found["grouping"] == {"scheme": "digits", "size": 1}
    assert rows(found)[5]["tokens_per_number"] == 5


def test_irregular():
    found = numbers_cut(Encoder(gpt2_spec()))
    assert found["grouping"] == {"scheme": "irregular", "size": None}
    assert rows(found)[4]["different_cuts"] > 1
    assert 0 < found["aligned_sums"] < 1


def test_tokens_of_whole_numbers_only():
    spec = byte_spec()
    vocab = dict(spec.vocab) | {b"12": 256, b"123": 257}
    encoder = Encoder(TokenizerSpec(vocab=vocab, merges=((b"1", b"2"), (b"12", b"3"))))
    assert cuts_of(encoder, ["12", "123", "4123", "1212", "0"]) == [(2,), (3,), (1, 3), (2, 2), (1,)]


def test_sums_line_up_where_all_numbers_are_cut_at_the_same_powers():
    found = numbers_cut(cl100k_encoder())["aligned_sums"]
    # By definition, with the rule for groups from the left.
    import random

    chosen = random.Random(0)
    aligned = 0
    for _ in range(1000):
        a, b = (chosen.randrange(10 ** chosen.randrange(1, 10)) for _ in range(2))
        lengths = [len(str(number)) for number in (a, b, a + b)]
        cuts = [{length - place for place in range(3, length, 3)} for length in lengths]
        aligned += all(
            len({power in own for own, length in zip(cuts, lengths, strict=True) if length > power}) <= 1
            for power in range(1, 11)
        )
    assert found == aligned / 1000


def test_indentation_by_hand():
    found = indentation_tokens(Encoder(byte_spec()))
    assert all(int(number) == tokens for row in found.values() for number, tokens in row.items())
    cl100k = indentation_tokens(cl100k_encoder())
    # One space goes with the word; of more, all but that one are one token.
    assert (cl100k["spaces"]["1"], cl100k["spaces"]["4"], cl100k["spaces"]["32"]) == (0, 1, 1)
    assert indentation_tokens(Encoder(gpt2_spec()))["spaces"]["8"] == 7
