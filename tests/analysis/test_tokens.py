"""A text as its tokens: every byte is accounted for, and tokens that share a character know it."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import AddedToken, Encoder
from hf_bpe.analysis import Vocabulary, view
from hf_bpe.pieces import Piece
from tests.support.pieces import pieces_spec, random_pieces_spec, spliced
from tests.support.text import difficult_text, generated_text
from tests.support.vocabularies import byte_spec, cl100k_encoder, random_specs


def is_cut(content):
    """Whether the first or the last character of a part of some text is not whole."""
    starts = [place for place, byte in enumerate(content) if byte & 0xC0 != 0x80]
    if not starts or starts[0]:
        return True
    first = content[starts[-1]]
    return len(content) - starts[-1] < (1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4)


@settings(max_examples=25, deadline=None)
@given(random_specs(), difficult_text())
def test_tokens_of_bytes_stand_for_their_own_bytes(spec, text):
    content = text.encode()
    tokens = view(spec, text)
    assert [token.id for token in tokens] == Encoder(spec).encode_ordinary(text)
    for token in tokens:
        assert content[slice(*token.in_bytes)] == token.content
        assert tokens.source(token).encode().find(token.content) >= 0
        assert (token.text is None) == (is_cut(token.content))
    if spec.unmatched == "keep":
        assert b"".join(token.content for token in tokens) == content


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_tokens_that_share_characters_are_those_whose_characters_overlap(seed):
    generator = random.Random(seed)
    spec = random_pieces_spec(generator) if seed % 2 else byte_spec()
    tokens = list(view(spec, spliced(generator) + "é👩‍👩"))
    for token in tokens:
        start, stop = token.in_characters
        assert token.number in token.shares
        for other in tokens:
            if max(start, other.in_characters[0]) < min(stop, other.in_characters[1]):
                assert other.number in token.shares
        for border in range(token.shares.start + 1, token.shares.stop):  # no group could be two
            reached = max(other.in_characters[1] for other in tokens[token.shares.start : border])
            assert tokens[border].in_characters[0] < reached


def test_real_tokens_by_hand():
    first, *parts, last = view(cl100k_encoder(), "hi 🤚🏾<|endoftext|>")
    assert (first.spelled, first.text, first.kind, first.piece, first.in_characters) == ("hi", "hi", "ordinary", 0, (0, 2))
    assert b"".join(part.content for part in parts) == " 🤚🏾".encode()
    assert parts[0].text is None
    assert parts[0].shares.start == 1
    assert (last.spelled, last.kind, last.in_bytes, last.in_characters) == ("<|endoftext|>", "special", (11, 24), (5, 18))
    assert last.shares == range(last.number, last.number + 1)


def test_special_tokens_are_text_where_that_is_asked_for():
    tokens = view(cl100k_encoder(), "<|endoftext|>", allowed_special=())
    assert {token.kind for token in tokens} == {"ordinary"}
    assert "".join(token.text for token in tokens) == "<|endoftext|>"


def test_an_id_that_merging_makes_too_is_special_only_where_it_was_found():
    spec = byte_spec().replace(added_tokens=(AddedToken("a", 97, single_word=True), AddedToken("b", 98, special=False)))
    assert [(token.spelled, token.kind) for token in view(spec, "a ab")] == [
        ("a", "special"),
        ("Ġ", "ordinary"),
        ("a", "ordinary"),
        ("b", "added"),
    ]


def test_bytes_that_are_parts_of_characters_have_no_text():
    tokens = view(byte_spec(), "aé")
    assert [(token.kind, token.text) for token in tokens] == [("ordinary", "a"), ("byte", None), ("byte", None)]
    assert [token.shares for token in tokens] == [range(1), range(1, 3), range(1, 3)]


def test_pieces_of_a_model():
    spec = pieces_spec(Piece("▁"), Piece("a"), Piece("▁a", -1.0), Piece("<c>", kind="user_defined"))
    tokens = view(spec, "a<c>x")
    assert [(token.spelled, token.text, token.kind, token.in_characters) for token in tokens] == [
        ("▁a", " a", "ordinary", (0, 1)),
        ("<c>", "<c>", "added", (1, 4)),
        ("<unk>", None, "unknown", (4, 5)),
    ]
    assert tokens.source(tokens[2]) == "x"


def test_a_lone_surrogate_is_read_as_the_replacement_character():
    tokens = view(byte_spec(), "a\ud800")
    assert tokens.text == "a\ufffd"
    assert tokens.source(tokens[3]) == "\ufffd"


def test_an_empty_text_has_no_tokens():
    tokens = view(byte_spec(), "")
    assert (len(tokens), list(tokens), tokens[:5]) == (0, [], [])
    with pytest.raises(IndexError):
        tokens[0]


def test_parts_of_a_view_are_those_of_the_whole():
    tokens = view(byte_spec("gpt2"), generated_text(3, 4000))
    every = list(tokens)
    assert len(every) == len(tokens) > 9000  # more than are made at a time
    assert tokens[4090:4100] == every[4090:4100]
    assert tokens[-1] == every[-1]
    assert tokens[::-1][0] == every[-1]


def test_only_what_is_looked_at_is_looked_up():
    vocabulary = Vocabulary(cl100k_encoder())
    tokens = view(vocabulary, "".join(map(chr, range(0x4E00, 0x9000))) * 10)
    assert len(tokens) > 100_000
    assert len(tokens[:50]) == 50
    assert len(vocabulary._known) <= 50


def test_views_go_to_json():
    [token] = view(byte_spec(), "a")
    assert token.to_dict() == {
        "id": 97,
        "token": "a",
        "text": "a",
        "bytes": [97],
        "kind": "ordinary",
        "piece": 0,
        "in_bytes": [0, 1],
        "in_characters": [0, 1],
        "shares": [0, 1],
    }


@pytest.mark.parametrize("text", ["", "a b", "é👩‍👩 ", "\ud800", "<|endoftext|> abc"])
def test_both_engines_show_the_same(text):
    specs = [byte_spec("gpt2"), random_pieces_spec(random.Random(5))]
    for spec in specs:
        assert list(view(Encoder(spec, engine="reference"), text)) == list(view(Encoder(spec, engine="native"), text))
