"""Where tokenizers differ: found by borders, checked against sets."""

from itertools import pairwise

import pytest
from hypothesis import given, settings

from hf_bpe import HfBpeError, TokenizerSpec
from hf_bpe.analysis import differences, view
from tests.support.text import plain_text
from tests.support.vocabularies import BYTES, byte_spec, cl100k_encoder, random_specs


def merging(*pairs):
    merges = tuple(tuple(part.encode() for part in pair.split("+")) for pair in pairs)
    return TokenizerSpec(vocab=BYTES | {a + b: 256 + n for n, (a, b) in enumerate(merges)}, merges=merges)


def borders(tokens):
    return {place for token in tokens for place in token.in_bytes} | {0, len(tokens.text.encode())}


@settings(max_examples=25, deadline=None)
@given(random_specs(), random_specs(), random_specs(), plain_text())
def test_stretches_are_the_shortest_between_common_borders(one, two, three, text):
    views = [view(spec, text) for spec in (one, two, three)]
    found = differences(views)
    sets = list(map(borders, views))
    common = sorted(set.intersection(*sets))
    expected = [pair for pair in pairwise(common) if any(pair[0] < place < pair[1] for each in sets for place in each)]
    assert [stretch.in_bytes for stretch in found] == expected
    assert found.differing_bytes == sum(stop - start for start, stop in expected)
    for number, tokens in enumerate(views):
        inside = {own for stretch in found for own in stretch.tokens[number]}
        assert inside == {token.number for token, is_marked in zip(tokens, found.marks(number), strict=True) if is_marked}


def test_by_hand():
    found = differences([view(merging("a+b"), "xabc"), view(merging("b+c"), "xabc")])
    [stretch] = found
    assert stretch == ((1, 4), "abc", (range(1, 3), range(1, 3)))
    assert found.marks(0).tolist() == [False, True, True]
    assert found[:5] == [stretch]


def test_equal_cuts_with_other_ids_are_no_difference():
    other = TokenizerSpec(vocab={token: 300 - token_id for token, token_id in BYTES.items()}, merges=())
    assert len(differences([view(byte_spec(), "abc é"), view(other, "abc é")])) == 0


def test_a_character_that_is_cut_differently_is_shown_whole():
    found = differences([view(byte_spec(), "한국"), view(cl100k_encoder(), "한국")])
    assert [stretch.text for stretch in found] == ["한", "국"]


def test_one_tokenizer_and_no_text_have_no_differences():
    assert len(differences([view(byte_spec(), "abc")])) == 0
    found = differences([view(byte_spec(), ""), view(byte_spec(), "")])
    assert (len(found), found.marks(0).tolist(), found.differing_bytes) == (0, [], 0)


def test_views_of_different_texts_are_refused():
    with pytest.raises(HfBpeError, match="different texts"):
        differences([view(byte_spec(), "a"), view(byte_spec(), "b")])
    with pytest.raises(HfBpeError, match="nothing to compare"):
        differences([])
