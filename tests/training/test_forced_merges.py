"""Tokens that are there before anything is learnt: made by explicit merges, each reached from its bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hf_bpe.engine.reference import merge_by_rank
from hf_bpe.training.forced_merges import forced_merges


def ids_of(token: bytes, merges: list[tuple[int, int]]) -> list[int]:
    return merge_by_rank(list(token), {pair: (rank, 256 + rank) for rank, pair in enumerate(merges)})


def test_runs_of_spaces_by_hand():
    assert forced_merges([b" " * n for n in range(2, 6)]) == [(32, 32), (256, 32), (256, 256), (256, 257)]


def test_a_character_takes_a_merge_for_each_byte_after_the_first():
    assert forced_merges(["é".encode(), "中".encode()]) == [(0xC3, 0xA9), (0xE4, 0xB8), (257, 0xAD)]


def test_parts_that_other_tokens_share_are_made_once():
    assert forced_merges([b"abc", b"abd"]) == [(97, 98), (256, 99), (256, 100)]


@given(st.lists(st.text("ab", min_size=2, max_size=7).map(str.encode), max_size=5))
def test_every_token_is_reached_by_merging(tokens):
    merges = forced_merges(tokens)
    spelled = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        spelled.append(spelled[left] + spelled[right])
    assert len(set(spelled)) == len(spelled), "a token is made in one way"
    for token in tokens:
        assert [spelled[i] for i in ids_of(token, merges)] == [token]


def test_what_other_tokens_make_impossible_is_refused():
    # "bc" merges first in "abc", and "ab" + "c" and "a" + "bc" would be two ways to one token: one of them is taken.
    merges = forced_merges([b"bc", b"abc"])
    assert merges == [(98, 99), (97, 256)]
    # In "xaab", "aa" merges first, so that "aab" is met as "aa" + "b"; "ab" is never met there.
    assert forced_merges([b"aa", b"ab", b"aab"]) == [(97, 97), (97, 98), (256, 98)]
