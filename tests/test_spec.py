"""A description that contradicts itself cannot be made, and every defect is named."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given, settings

from hf_bpe import AddedToken, Piece, SentencePieceRules, SpecError, TokenizerSpec
from hf_bpe.errors import EditError
from tests.support.vocabularies import BYTES, random_specs


def make(**fields: Any) -> TokenizerSpec:
    return TokenizerSpec(**({"vocab": BYTES | {b"ab": 256}, "merges": ((b"a", b"b"),)} | fields))


@pytest.mark.parametrize(
    ("fields", "defect"),
    [
        (
            {"vocab": {t: i for t, i in BYTES.items() if t not in (b"\x00", b"a")}, "merges": ()},
            "vocab lacks the bytes 0x00, 0x61;",
        ),
        ({"vocab": BYTES | {b"ab": 97}}, r"ids are not unique: b'ab' and b'a' share id 97"),
        ({"vocab": BYTES | {b"": 300}, "merges": ()}, "vocab holds the empty token"),
        ({"vocab": BYTES | {b"ab": -1}}, r"ids must lie in 0..2147483647: b'ab': -1"),
        ({"vocab": BYTES | {b"ab": 2**31}}, "ids must lie in"),
        ({"vocab": BYTES | {"ab": 256}}, "tokens must be bytes: 'ab'"),
        ({"vocab": BYTES | {b"ab": True}}, r"ids must be int: b'ab': True"),
        ({"vocab": [b"a"]}, "vocab must map bytes to ids, not be a list"),
        ({"merges": ((b"a", b"c"),)}, r"not in vocab: b'a' \+ b'c'"),
        ({"merges": ((b"a", b"b"), (b"a", b"b"))}, r"merges appear more than once: b'a' \+ b'b'"),
        ({"merges": (("a", "b"),)}, "merges must be pairs of bytes"),
        ({"merges": ((b"a",),)}, "merges must be pairs of bytes"),
        ({"added_tokens": (AddedToken("", 300),)}, "an added token is empty"),
        ({"added_tokens": (AddedToken("\ud800", 300),)}, "lone surrogate"),
        ({"added_tokens": (AddedToken("<s>", -1),)}, r"'<s>': id -1 does not lie in"),
        ({"added_tokens": (AddedToken("<s>", 300), AddedToken("<s>", 301))}, "'<s>' appears more than once"),
        ({"added_tokens": (AddedToken("<s>", 300), AddedToken("<t>", 300))}, "'<s>' and '<t>' share id 300"),
        ({"added_tokens": (AddedToken("<s>", 97),)}, r"'<s>' has id 97, which is b'a' in vocab"),
        ({"added_tokens": (AddedToken("ab", 300),)}, "'ab' has id 300, but the same text has id 256"),
        ({"added_tokens": ("<s>",)}, "added tokens must be AddedToken"),
        ({"unmatched": "skip"}, "unmatched is 'skip'"),
        ({"pattern": "("}, "expected '\\)'"),
        ({"pattern": "a*"}, "can match the empty string"),
    ],
)
def test_each_defect_is_named(fields: dict[str, Any], defect: str) -> None:
    with pytest.raises(SpecError, match=defect):
        make(**fields)


def test_all_defects_are_named_at_once_and_survive_pickling() -> None:
    with pytest.raises(SpecError) as caught:
        make(merges=((b"a", b"c"),), pattern="a*", unmatched="x")
    assert len(caught.value.defects) == 3
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_an_added_token_may_stand_in_the_vocabulary_with_the_same_id() -> None:
    assert make(added_tokens=(AddedToken("ab", 256),)).vocab_size == 257


def test_sizes_count_holes_and_shared_ids() -> None:
    spec = make(added_tokens=(AddedToken("<s>", 300), AddedToken("ab", 256)))
    assert (spec.vocab_size, spec.n_vocab) == (258, 301)
    assert spec.special_tokens == {"<s>": 300, "ab": 256}


def test_nothing_can_be_changed() -> None:
    spec = make()
    with pytest.raises(FrozenInstanceError):
        spec.pattern = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        spec.vocab[b"zz"] = 1  # type: ignore[index]


def test_later_changes_to_the_callers_dict_do_not_reach_it() -> None:
    vocab = BYTES | {b"ab": 256}
    spec = make(vocab=vocab)
    vocab[b"zz"] = 400
    assert b"zz" not in spec.vocab


def test_equality_hash_and_fingerprint_ignore_where_it_came_from() -> None:
    a, b = make(provenance={"file": "x"}), make()
    assert a == b
    assert hash(a) == hash(b)
    assert a.fingerprint == b.fingerprint != make(ignore_merges=True).fingerprint
    assert pickle.loads(pickle.dumps(a)) == a
    assert dict(pickle.loads(pickle.dumps(a)).provenance) == {"file": "x"}


def test_replace_checks_again() -> None:
    assert make().replace(pattern="b+").pattern == "b+"
    with pytest.raises(SpecError):
        make().replace(pattern="b*")


def test_the_fingerprint_is_the_same_on_every_machine() -> None:
    assert make().fingerprint == "73f0b20d478e5b2a7c0a2f5bd0e48c8a4654a481a1ccc5a6583ac9149d83d53e"


def defects(**fields: Any) -> tuple[str, ...]:
    with pytest.raises(SpecError) as caught:
        make(**fields)
    assert all(defect in str(caught.value) for defect in caught.value.defects)
    return caught.value.defects


def test_all_defects_are_reported_at_once() -> None:
    found = defects(
        vocab={t: i for t, i in (BYTES | {b"ab": 256}).items() if t != b"q"} | {b"": 300, b"cd": 256},
        merges=((b"a", b"b"), (b"a", b"b"), (b"e", b"f")),
        added_tokens=(AddedToken("", 400),),
        pattern="x|",
        unmatched="lose",
    )
    words = ["empty token", "0x71", "not unique", "not in vocab", "more than once", "added token is empty", "lose", "'x|'"]
    assert len(found) == len(words)
    assert all(any(word in defect for defect in found) for word in words)


def test_many_defects_of_a_kind_are_counted_not_listed() -> None:
    (defect,) = defects(vocab=BYTES | {b"ab": 256} | {str(n): n + 300 for n in range(1000)})
    assert "and 995 more" in defect


@settings(max_examples=40)
@given(spec=random_specs())
def test_copies_are_equal_hash_alike_and_keep_the_fingerprint(spec: TokenizerSpec) -> None:
    for again in (pickle.loads(pickle.dumps(spec)), copy.deepcopy(spec), copy.copy(spec), spec.replace()):
        assert again == spec
        assert hash(again) == hash(spec)
        assert again.fingerprint == spec.fingerprint


def test_every_field_but_provenance_changes_the_fingerprint_and_equality() -> None:
    spec = TokenizerSpec(vocab=BYTES | {b"ab": 256, b"bc": 257, b"abc": 258}, merges=((b"a", b"b"), (b"b", b"c")))
    changes: list[dict[str, Any]] = [
        {"vocab": {**spec.vocab, b"abc": 300}},
        {"vocab": {**spec.vocab, b"zz": 300}},
        {"merges": spec.merges[::-1]},
        {"merges": spec.merges[:1]},
        {"pattern": "a|b"},
        {"added_tokens": (AddedToken("<s>", 400),)},
        {"added_tokens": (AddedToken("<s>", 400, lstrip=True),)},
        {"ignore_merges": True},
        {"unmatched": "drop"},
    ]
    others = [spec.replace(**change) for change in changes]
    assert len({other.fingerprint for other in [spec, *others]}) == len(others) + 1
    assert all(other != spec for other in others)
    noted = spec.replace(provenance={"source": "elsewhere"})
    assert (noted, noted.fingerprint) == (spec, spec.fingerprint)


def test_the_fingerprint_tells_where_the_bytes_of_a_merge_part() -> None:
    vocab = BYTES | {b"ab": 256, b"bc": 257, b"abc": 258}
    left = TokenizerSpec(vocab=vocab, merges=((b"ab", b"c"),))
    right = TokenizerSpec(vocab=vocab, merges=((b"a", b"bc"),))
    assert left.fingerprint != right.fingerprint


def test_the_largest_id_is_allowed() -> None:
    spec = TokenizerSpec(vocab=BYTES | {b"ab": 2**31 - 1}, merges=((b"a", b"b"),))
    assert spec.n_vocab == 2**31


PIECES = (Piece("<unk>", kind="unknown"), Piece("a", -1.0), Piece("b", -2.0), Piece("ab", -0.5))


@pytest.mark.parametrize(
    ("pieces", "fields", "defect"),
    [
        (PIECES[1:], {}, "exactly one unknown piece, not 0"),
        ((*PIECES, Piece("<u>", kind="unknown")), {}, "exactly one unknown piece, not 2: '<unk>', '<u>'"),
        ((*PIECES, Piece("a")), {}, "pieces appear more than once: 'a'"),
        ((*PIECES, Piece("")), {}, "piece 4 is empty"),
        ((*PIECES, Piece("a\0")), {}, "hold a NUL"),
        ((*PIECES, Piece("\ud800")), {}, "lone surrogate"),
        ((*PIECES, Piece("c", float("nan"))), {}, "'c' has nan"),
        ((*PIECES, Piece("c", 0.1)), {}, "finite 32-bit floats: 'c' has 0.1"),
        ((*PIECES, Piece("c", 1e300)), {}, "finite 32-bit floats"),
        ((*PIECES, Piece("c", kind="word")), {}, "piece kinds must be one of .* not 'word'"),  # type: ignore[arg-type]
        ((*PIECES, Piece("<0x41>", kind="byte")), {}, "byte_fallback is off: '<0x41>'"),
        ((*PIECES, Piece("0x41", kind="byte")), {"byte_fallback": True}, "written like '<0x41>': '0x41'"),
        (PIECES, {"byte_fallback": True}, "missing: '<0x00>', '<0x01>'"),
        (PIECES, {"prepend_scheme": "sometimes"}, "prepend_scheme is 'sometimes'"),
        (PIECES, {"eos_id": 4}, "eos_id is 4, which is no id of a piece"),
        (PIECES, {"escape_whitespaces": 1}, "escape_whitespaces must be True or False, not 1"),
        (PIECES, {"precompiled_charsmap": "x"}, "precompiled_charsmap must be bytes, not a str"),
        (("a",), {}, "pieces must be Piece"),
    ],
)
def test_each_defect_of_a_sentencepiece_model_is_named(pieces: tuple[Piece, ...], fields: dict[str, Any], defect: str) -> None:
    with pytest.raises(SpecError, match=defect):
        TokenizerSpec.from_sentencepiece(SentencePieceRules(pieces, **fields))


def test_a_sentencepiece_model_is_a_spec() -> None:
    spec = TokenizerSpec.from_sentencepiece(
        SentencePieceRules(PIECES), added_tokens=[AddedToken("<unk>", 0), AddedToken("<x>", 4)]
    )
    assert (spec.dialect, spec.n_vocab, spec.vocab_size, dict(spec.special_tokens)) == (
        "sentencepiece",
        5,
        5,
        {"<unk>": 0, "<x>": 4},
    )
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    assert spec.replace(added_tokens=()).sentencepiece == spec.sentencepiece
    assert spec.replace(sentencepiece=SentencePieceRules(PIECES, bos_id=1)).fingerprint != spec.fingerprint
    spec.validate()


def test_what_a_sentencepiece_model_has_not_cannot_be_given() -> None:
    with pytest.raises(SpecError, match=r"use TokenizerSpec\.from_sentencepiece"):
        make(sentencepiece=SentencePieceRules(PIECES))


def test_tokens_are_added_after_the_largest_id_and_no_id_changes() -> None:
    spec = make(added_tokens=[AddedToken("<p>", 300, special=False), AddedToken("<s>", 299, lstrip=True)])
    more = spec.with_added_tokens(["<a>", "ab", "<s>", "<p>", "<b>", "<a>"])
    assert [(token.content, token.id, token.special) for token in more.added_tokens] == [
        ("<p>", 300, True),
        ("<s>", 299, True),
        ("<a>", 301, True),
        ("ab", 256, True),
        ("<b>", 302, True),
    ]
    assert more.added_tokens[1].lstrip
    assert more.vocab == spec.vocab
    assert spec.with_added_tokens(["<a>", "<s>"], special=False).added_tokens[-1] == AddedToken("<a>", 301, special=False)
    assert spec.with_added_tokens({"<a>": 1000}).with_added_tokens(["<b>"]).special_tokens == {
        "<s>": 299,
        "<a>": 1000,
        "<b>": 1001,
    }
    assert spec.with_added_tokens([]) == spec


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ([5], "given by its text, a str, not as 5"),
        ([AddedToken("<u>", 300)], "not as AddedToken"),
        ({"<u>": "6"}, "the id of '<u>' is an int, not '6'"),
        ({"<u>": True}, "the id of '<u>' is an int, not True"),
    ],
)
def test_what_is_no_text_or_no_id_cannot_be_added(tokens: Any, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        make().with_added_tokens(tokens)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ({"<s>": 301}, "'<s>' has id 300, and 301 is asked for"),
        ({"ab": 301}, "'ab' has id 256, and 301 is asked for"),
        ({"<a>": 97}, "'<a>' has id 97, which is b'a'"),
        ({"<a>": 300}, "'<s>' and '<a>' share id 300"),
        ({"<a>": -1}, "does not lie in"),
        ([""], "an added token is empty"),
        (["\ud800"], "lone surrogate"),
    ],
)
def test_adding_tokens_refuses_what_would_change_an_id(tokens: Any, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        make(added_tokens=[AddedToken("<s>", 300)]).with_added_tokens(tokens)


def test_a_text_is_no_collection_of_tokens_to_add() -> None:
    with pytest.raises(TypeError, match="put it into a list"):
        make().with_added_tokens("<s>")


def test_reserved_tokens_come_into_use_under_their_ids() -> None:
    spec = make().with_added_tokens(f"<|reserved_{n}|>" for n in range(3))
    used = spec.with_renamed_tokens({"<|reserved_1|>": "<|tool|>"})
    assert used.special_tokens == {"<|reserved_0|>": 257, "<|tool|>": 258, "<|reserved_2|>": 259}
    assert used.with_renamed_tokens({"<|tool|>": "<|reserved_0|>", "<|reserved_0|>": "<|tool|>"}).special_tokens == {
        "<|tool|>": 257,
        "<|reserved_0|>": 258,
        "<|reserved_2|>": 259,
    }


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"<x>": "<y>", "<a>": "<t>"}, "there is no token '<x>' to rename; the added tokens are '<a>', '<b>', 'ab'"),
        ({"cd": "<y>"}, "'cd' cannot be renamed, being made by merging"),
        ({"ab": "<y>"}, "'ab' cannot be renamed, being made by merging"),
        ({"<a>": "<b>"}, "'<b>' cannot be a new name, as there is a token of that name"),
        ({"<a>": "cd"}, "'cd' cannot be a new name"),
        ({"<a>": "<y>", "<b>": "<y>"}, "'<y>' is to be the new name of several tokens"),
        ({"<a>": ""}, "a new name is empty"),
    ],
)
def test_what_cannot_be_renamed_is_said_of_the_renaming(names: dict[str, str], said: str) -> None:
    spec = make(vocab=BYTES | {b"ab": 256, b"cd": 257}, merges=((b"a", b"b"), (b"c", b"d"))).with_added_tokens(
        ["<a>", "<b>", "ab"]
    )
    with pytest.raises(EditError, match=f"^{said}"):
        spec.with_renamed_tokens(names)
