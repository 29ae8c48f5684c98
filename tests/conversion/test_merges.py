from __future__ import annotations

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from conversion import merges
from conversion.merges import recover_merges, unreachable_tokens
from hf_bpe import Encoder
from tests.conversion.support import rank_tables, spec_of_tokens
from tests.support.text import plain_text
from tests.support.vocabularies import BYTES, cl100k_ranks, gpt2_spec, tekken


def in_python(table: list[bytes]) -> tuple[tuple[tuple[bytes, bytes], ...], tuple[bytes, ...]]:
    return merges._recover(table)


@pytest.mark.parametrize("recover", [recover_merges, in_python])
class TestSmallTables:
    def test_a_part_may_rank_worse_than_the_whole(self, recover):
        # limited to ranks better than its own, the loop would lose `bca`: c and a would never meet
        assert recover([b"a", b"b", b"c", b"bca", b"ca"]) == (((b"b", b"ca"), (b"c", b"a")), ())

    def test_a_token_that_merging_steps_over_is_unreachable(self, recover):
        assert recover([b"a", b"b", b"c", b"d", b"bc", b"abcd"]) == (((b"b", b"c"),), (b"abcd",))

    def test_two_parts_left_over_make_the_token_whatever_their_ranks(self, recover):
        assert recover([b"a", b"b", b"c", b"abc", b"bc"]) == (((b"a", b"bc"), (b"b", b"c")), ())

    def test_of_equal_pairs_the_leftmost_merges_first(self, recover):
        assert recover([b"a", b"aa", b"aaa"])[0] == ((b"a", b"a"), (b"aa", b"a"))

    def test_single_bytes_need_no_merge(self, recover):
        assert recover([b"b", b"a"]) == ((), ())

    def test_an_empty_table_has_no_merges(self, recover):
        assert recover([]) == ((), ())

    def test_a_token_of_a_hundred_thousand_bytes_takes_no_quadratic_time(self, recover):
        table = [b"a", *(b"a" * 2**n for n in range(1, 18))]
        assert recover(table)[0][-1] == (b"a" * 2**16, b"a" * 2**16)


@given(rank_tables())
def test_native_and_python_recover_the_same(table):
    assert recover_merges([*BYTES, *table]) == in_python([*BYTES, *table])


@given(rank_tables(), st.lists(plain_text("abc"), max_size=10))
def test_recovered_merges_give_the_ids_of_the_rank_table(table, texts):
    spec = spec_of_tokens(table)
    official = tiktoken.Encoding("table", pat_str=r"[\s\S]+", mergeable_ranks=dict(spec.vocab), special_tokens={})
    assert Encoder(spec).encode_ordinary_batch(texts) == official.encode_ordinary_batch(texts)


@given(rank_tables())
def test_what_recovering_calls_unreachable_the_merges_do_not_reach(table):
    recovered, unreachable = recover_merges([*BYTES, *table])
    assert unreachable_tokens([*BYTES, *table], recovered) == list(unreachable)


def test_gpt2s_own_merges_are_recovered_in_order():
    spec = gpt2_spec()
    assert recover_merges(sorted(spec.vocab, key=spec.vocab.__getitem__)) == (spec.merges, ())


@pytest.mark.parametrize("ranks", [cl100k_ranks, lambda: tekken()[0]], ids=["cl100k", "tekken"])
def test_every_token_of_a_published_table_is_reachable(ranks):
    table = sorted(ranks(), key=ranks().__getitem__)
    recovered, unreachable = recover_merges(table)
    assert not unreachable
    assert [left + right for left, right in recovered] == [token for token in table if len(token) > 1]
