"""Cards of tokens: trees, neighbours and reach, checked by brute force."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import Encoder, TokenizerSpec, UnknownTokenError
from hf_bpe.analysis import Cards
from hf_bpe.pieces import Piece, byte_piece
from hf_bpe.vocabulary.findings import findings_of, findings_of_token
from tests.support.pieces import pieces_spec
from tests.support.vocabularies import BYTES, byte_spec, cl100k_encoder, cl100k_spec, gpt2_spec, random_specs

MAGIKARP = " SolidGoldMagikarp"


@pytest.fixture(scope="module")
def gpt2():
    return Cards(gpt2_spec())


def leaves(node):
    return [node.content] if not node.parts else [leaf for part in node.parts for leaf in leaves(part)]


def nodes(node):
    yield node
    for part in node.parts:
        yield from nodes(part)


@settings(max_examples=30, deadline=None)
@given(random_specs(), st.data())
def test_a_card_by_brute_force(spec, data):
    cards = Cards(spec)
    content, token_id = data.draw(st.sampled_from(sorted(spec.vocab.items())))
    card = cards.card(token_id, most=1000)
    assert b"".join(leaf for tree in card.tree for leaf in leaves(tree)) == content
    for node in (node for tree in card.tree for node in nodes(tree)):
        if node.parts:
            assert spec.merges[node.rank] == tuple(part.content for part in node.parts)
    is_made = Encoder(spec).encode_piece(content, whole=False) == [token_id]
    assert (len(card.tree) == 1) == is_made
    assert {entry.id for entry in card.starting.first} == {
        i for t, i in spec.vocab.items() if t != content and t.startswith(content)
    }
    assert {entry.id for entry in card.ending.first} == {
        i for t, i in spec.vocab.items() if t != content and t.endswith(content)
    }
    assert {entry.id for entry in card.used_in.first} == {spec.vocab[a + b] for a, b in spec.merges if content in (a, b)}
    assert list(card.findings) == findings_of(Encoder(spec)).get(token_id, [])


def test_findings_of_one_token_are_those_of_the_audit():
    encoder = cl100k_encoder()
    every = findings_of(encoder)
    for token_id in [*range(0, 100_256, 997), *list(every)[::301], *cl100k_spec().special_tokens.values()]:
        assert findings_of_token(encoder, token_id) == every.get(token_id, [])


def test_a_token_of_gpt2_by_hand(gpt2):
    card = gpt2.card(gpt2.find(MAGIKARP))
    assert (card.entry.id, card.entry.spelled, card.rank) == (43453, "ĠSolidGoldMagikarp", 43198)
    [tree] = card.tree
    assert [part.content for part in tree.parts] == [b" Solid", b"GoldMagikarp"]
    assert (card.is_reachable, card.why, card.findings) == (True, "its own text becomes it", ("joined words",))
    assert [entry.id for entry in card.beside] == [43450, 43451, 43452, 43454, 43455, 43456]
    assert (card.used_in.total, card.starting.total) == (0, 0)


@pytest.mark.parametrize(
    ("wanted", "token_id"),
    [
        ("#262", 262),
        (" the", 262),
        ("Ġthe", 262),
        ("\\x20the", None),
        ("\\x20\\x74", 256),
        ("\\xF0\\x9F", 8582),
        ("262", 29119),  # the token of these three digits
        ("#50256", 50256),
        ("<|endoftext|>", 50256),
        ("50255", 50255),
    ],
)
def test_tokens_are_found_as_people_give_them(gpt2, wanted, token_id):
    if token_id is None:
        with pytest.raises(UnknownTokenError):
            gpt2.find(wanted)
    else:
        assert gpt2.find(wanted) == token_id


@pytest.mark.parametrize("wanted", ["", "##no", "#50257", "#-1", "no such token", "\\xZZ", "9" * 40, "\ud800"])
def test_what_is_no_token_is_refused(gpt2, wanted):
    with pytest.raises(UnknownTokenError, match="is no token here"):
        gpt2.find(wanted)


def test_an_id_out_of_use_is_refused(gpt2):
    for token_id in (60_000, -1, 2**40):
        with pytest.raises(UnknownTokenError):
            gpt2.card(token_id)


def test_tokens_that_no_text_has_say_why():
    spec = TokenizerSpec(
        vocab=BYTES | {b"a b": 256, b"xy": 257, b" b": 258}, merges=((b" ", b"b"), (b"a", b" b")), pattern=r"\s?\w+|\s+"
    )
    cards = Cards(spec)
    assert (cards.card(256).is_reachable, cards.card(256).why.startswith("merging would make it")) == (False, True)
    assert (cards.card(257).is_reachable, cards.card(257).why) == (False, "no merges make it, so no text becomes it")
    assert [node.content for node in cards.card(257).tree] == [b"x", b"y"]
    assert cards.card(0xFF).why == "it holds bytes that no UTF-8 text has"
    assert cards.card(258).is_reachable


def test_pieces_of_a_model():
    spec = pieces_spec(
        Piece("a"),
        Piece("b"),
        Piece("c"),
        Piece("ab", -1.0),
        Piece("abc", -2.0),
        Piece("bc", -0.5),
        Piece("<s>", kind="control"),
    )
    cards = Cards(spec)
    bc, abc = cards.card(cards.find("bc")), cards.card(cards.find("abc"))
    assert (bc.score, bc.rank, bc.used_in.first[0].spelled) == (-0.5, None, "abc")
    assert [part.content for part in abc.tree[0].parts] == [b"a", b"bc"]
    assert abc.tree[0].score == -2.0
    assert cards.card(cards.find("<s>")).tree == ()
    assert cards.card(cards.find("a")).score is None


def test_a_special_token_is_reachable_where_it_is_allowed(gpt2):
    card = gpt2.card(50256)
    assert card.added is not None
    assert (card.entry.kind, card.is_reachable, card.tree) == ("special", True, ())
    assert "where special tokens are allowed" in card.why


def test_a_token_too_long_for_a_tree_has_a_card():
    long = b"a" * 3000
    card = Cards(byte_spec().replace(vocab=BYTES | {long: 256})).card(256, most=1)
    assert (card.tree, card.rank) == ((), None)


def test_a_deep_tree_goes_to_json():
    runs = [b"a" * length for length in range(1, 300)]
    vocab = BYTES | {run: 256 + n for n, run in enumerate(runs[1:])}
    cards = Cards(TokenizerSpec(vocab=vocab, merges=tuple((run, b"a") for run in runs[:-1])))
    deep, too_deep = cards.card(vocab[b"a" * 256]), cards.card(vocab[b"a" * 257])
    assert len(json.dumps(cards.to_dict(deep), indent=2)) > 1000
    assert too_deep.tree == ()


def test_cards_go_to_json(gpt2):
    told = gpt2.to_dict(gpt2.card(gpt2.find(" the")))
    assert told["tree"] == [
        {
            "token": "Ġthe",
            "rank": 7,
            "score": None,
            "parts": [
                {"token": "Ġt", "rank": 1, "score": None, "parts": [{"token": "Ġ"}, {"token": "t"}]},
                {"token": "he", "rank": 3, "score": None, "parts": [{"token": "h"}, {"token": "e"}]},
            ],
        }
    ]
    assert told["starting"]["count"] > 10
    assert len(told["starting"]["first"]) == 12


def test_a_byte_piece_whose_character_is_a_piece_is_reached_by_no_text():
    pieces = [Piece(byte_piece(byte), 0.0, "byte") for byte in range(256)]
    spec = pieces_spec(*pieces, Piece("A"), byte_fallback=True)
    shadowed, other = (Cards(spec).card(spec.vocab[byte_piece(byte).encode()]) for byte in b"AB")
    assert (shadowed.is_reachable, shadowed.why) == (
        False,
        "it is a byte of characters that are pieces themselves, or never come up",
    )
    assert other.is_reachable
