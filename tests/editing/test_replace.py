"""A token that comes in the place of another changes the ids of texts that have either, and of no others."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hf_bpe import AddedToken, Encoder, Piece
from hf_bpe.editing import extend, replace_tokens
from hf_bpe.errors import EditError
from tests.editing.checks import check_replaced, leaf_ids
from tests.editing.test_prune import SMALL
from tests.fuzz.random_specs import random_spec, random_text
from tests.support.pieces import pieces_spec, random_pieces_spec


def test_the_new_token_is_merged_when_nothing_else_can_be() -> None:
    replaced = replace_tokens(SMALL, {"de": "abcab"})
    assert replaced.replaced == {258: (b"de", b"abcab")}
    assert replaced.spec.merges == ((b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"abc", b"ab"))
    assert Encoder(replaced.spec).encode("abcabde") == [258, 100, 101]
    assert check_replaced(SMALL, replaced, ["abc", "bcabc", "xyz", "abcab", "de", "abcabcab"]) == (3, 3)


def test_new_tokens_may_be_made_of_each_other_in_any_order() -> None:
    spec = SMALL.replace(vocab={**SMALL.vocab, b"fg": 260, b"hi": 261}, merges=(*SMALL.merges, (b"f", b"g"), (b"h", b"i")))
    replaced = replace_tokens(spec, {"fg": "xyzzy", "de": "xy", "hi": b"xyz", "bc": "zy"})
    assert replaced.spec.merges[2:] == ((b"x", b"y"), (b"z", b"y"), (b"xy", b"z"), (b"xyz", b"zy"))
    encoder = Encoder(replaced.spec)
    assert [encoder.encode(text) for text in ("xy", "xyz", "xyzzy")] == [[258], [261], [260]]


@pytest.mark.parametrize("seed", range(80))
def test_random_vocabularies_and_replacements(seed: int) -> None:
    generator = random.Random(seed)
    alphabet = "abc é中\u2581"
    spec = random_spec(generator, alphabet) if seed % 2 else random_pieces_spec(generator, alphabet)
    leaves = leaf_ids(spec)
    tokens = [token for token in spec.vocab if all(byte not in b"<>%" for byte in token)]
    done = 0
    for _ in range(12 if leaves else 0):
        chosen = generator.sample(leaves, min(2, len(leaves)))
        named: Any = {token_id: b"".join(generator.choices(tokens, k=2)) for token_id in chosen}
        try:
            replaced = replace_tokens(spec, named)
        except EditError:
            continue
        done += 1
        texts = [random_text(generator, spec, alphabet) for _ in range(40)]
        check_replaced(spec, replaced, texts, gives_text_back=False)
        whole = Encoder(replaced.spec)
        for token_id, (_, new) in replaced.replaced.items():
            if spec.sentencepiece is None:
                assert whole.encode_piece(new) == [token_id]
    _DONE.append(done)


_DONE: list[int] = []


def test_enough_of_the_random_replacements_were_possible() -> None:
    assert not _DONE or sum(_DONE) > len(_DONE)


ADDED = SMALL.replace(added_tokens=(AddedToken("<s>", 270),))


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ({}, "no token is to be replaced"),
        ({"nothing": "xy"}, "has no tokens 'nothing'"),
        ({"a": "xy"}, "must stay.*'a'"),
        ({"<s>": "xy"}, "added tokens are renamed"),
        ({"ab": "xy"}, "made of those that are to go: 'abc'"),
        ({"de": "bc"}, "not there yet.*b'bc'"),
        ({"de": "<s>"}, "not there yet"),
        ({"de": ""}, "not there yet"),
        ({"de": "xy", "bc": "xy"}, "come once: b'xy'"),
        ({"de": "xy", 258: "xz"}, "two tokens are to come"),
        ({"de": "xyz"}, "merged of 3 tokens, b'x' b'y' b'z'.*put b'xy' in the place of other"),
        ({"de": b"\xff\xfe"}, "no text would have.*no text"),
        ({"de": "\ud800x"}, "no text that UTF-8"),
    ],
)
def test_what_cannot_be_replaced_is_refused(tokens: dict[Any, Any], message: str) -> None:
    with pytest.raises(EditError, match=message):
        replace_tokens(ADDED, tokens)


def test_what_the_split_never_leaves_whole_is_refused() -> None:
    with pytest.raises(EditError, match=r"no text would have.*split apart.*'a '"):
        replace_tokens(SMALL.replace(pattern=r"\w+|\W"), {"de": "a "})


def test_a_piece_that_would_come_to_life_is_refused_and_not_learnt_either() -> None:
    # No merge makes "abc": neither "ab" nor "bc" is a piece. With "ab" there would be one, and "abc" would change.
    spec = pieces_spec(*(Piece(c, -1.0) for c in "abcxy\u2581"), Piece("abc", -2.0), Piece("xy", -3.0))
    with pytest.raises(EditError, match="'ab' is part of the piece 'abc', which no merge makes now"):
        replace_tokens(spec, {"xy": "ab"})
    learnt = extend(spec, ["ababab abyx"], 1, min_frequency=1, progress=False).learnt
    assert b"ab" not in learnt.values()
