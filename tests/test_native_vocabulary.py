"""A spec read from a rank file is lazy; nothing but time tells it from one made of Python objects."""

from __future__ import annotations

import base64
import copy
import dataclasses
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conversion
from hf_bpe import NAMED_PATTERNS, AddedToken, Encoder, FormatError, HfBpeError, SpecError, TokenizerSpec
from hf_bpe.engine import native
from tests.support.text import generated_text
from tests.support.vocabularies import BYTES, CL100K_FILE, cl100k_ranks, spec_of_ranks, tekken

SMALL = BYTES | {b"ab": 256, b"abc": 257, b"cab": 258, b"zzz": 259, "é".encode(): 300}
ADDED = (AddedToken("<s>", 400), AddedToken("ab", 256, special=False))


def rank_file(ranks: dict[bytes, int], newline: bytes = b"\n") -> bytes:
    return b"".join(base64.b64encode(token) + b" %d" % rank + newline for token, rank in ranks.items())


def lazy(ranks: dict[bytes, int], **fields: Any) -> TokenizerSpec:
    return TokenizerSpec.from_table(native.Vocabulary.from_rank_file(rank_file(ranks)), **fields)


def eager(ranks: dict[bytes, int], **fields: Any) -> TokenizerSpec:
    return spec_of_ranks(ranks, **fields)


def check_alike(found: TokenizerSpec, expected: TokenizerSpec) -> None:
    assert (found.n_vocab, found.vocab_size) == (expected.n_vocab, expected.vocab_size)
    assert found.special_tokens == expected.special_tokens
    assert [found.token_id(t) for t in (b"a", b"ab", b"zzz", b"<s>", b"?!?", b"")] == [
        expected.token_id(t) for t in (b"a", b"ab", b"zzz", b"<s>", b"?!?", b"")
    ]
    for token_id in (97, 256, 300, 10**6, 2**70, -1, *expected.special_tokens.values()):
        assert found.token_bytes(token_id) == expected.token_bytes(token_id)
    assert all(expected.token_bytes(number) == content.encode() for content, number in expected.special_tokens.items())
    assert found.fingerprint == expected.fingerprint
    assert hash(found) == hash(expected)
    assert found == expected
    assert expected == found
    assert found in {expected}
    assert repr(found) == repr(expected)
    assert dict(found.vocab) == dict(expected.vocab)
    assert list(found.vocab.values()) == sorted(found.vocab.values())
    assert found.merges == expected.merges
    assert found.ignore_merges is expected.ignore_merges


FIELDS: list[dict[str, Any]] = [
    {},
    {"pattern": NAMED_PATTERNS["gpt2"].pattern},
    {"added_tokens": ADDED},
    {"added_tokens": list(ADDED), "unmatched": "drop", "pattern": r"\p{L}+", "provenance": {"file": "x"}},
]


@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("ranks", [BYTES, SMALL, {t: r for t, r in SMALL.items() if t != b"zzz"}])
def test_a_lazy_spec_is_an_eager_one(ranks: dict[bytes, int], fields: dict[str, Any]) -> None:
    check_alike(lazy(ranks, **fields), eager(ranks, **fields))


@pytest.mark.parametrize(
    "first", ["vocab", "merges", "ignore_merges", "fingerprint", "n_vocab", "vocab_size", "special_tokens"]
)
def test_whatever_is_asked_for_first(first: str) -> None:
    spec = lazy(SMALL, added_tokens=ADDED)
    assert getattr(spec, first) == getattr(eager(SMALL, added_tokens=ADDED), first)
    check_alike(spec, eager(SMALL, added_tokens=ADDED))


COPIES: dict[str, Any] = {
    "pickle": lambda spec: pickle.loads(pickle.dumps(spec)),
    "oldest pickle": lambda spec: pickle.loads(pickle.dumps(spec, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "replace": lambda spec: spec.replace(),
    "dataclasses.replace": dataclasses.replace,
    "replaced and put back": lambda spec: spec.replace(pattern="x").replace(pattern=spec.pattern),
    "of an encoder": lambda spec: Encoder(spec).spec,
    "of a pickled encoder": lambda spec: pickle.loads(pickle.dumps(Encoder(spec))).spec,
}


@pytest.mark.parametrize("kind", COPIES)
def test_copies_are_alike_and_encode_alike(kind: str) -> None:
    spec, expected = lazy(SMALL, added_tokens=ADDED), eager(SMALL, added_tokens=ADDED)
    copied = COPIES[kind](spec)
    check_alike(copied, expected)
    text = "abcabzzzé<s>ab" * 3
    ids = Encoder(expected, engine="reference").encode_ordinary(text)
    for engine in ("native", "reference"):
        assert Encoder(copied, engine=engine).encode_ordinary(text) == ids  # type: ignore[arg-type]
        assert Encoder(lazy(SMALL, added_tokens=ADDED), engine=engine).encode_ordinary(text) == ids  # type: ignore[arg-type]


def test_replacing_changes_what_it_says_and_checks() -> None:
    spec = lazy(SMALL)
    assert spec.replace(ignore_merges=False).ignore_merges is False
    assert spec.ignore_merges is True
    assert Encoder(spec.replace(ignore_merges=False)).encode_ordinary("zzz") == [122] * 3
    assert Encoder(spec).encode_ordinary("zzz") == [259]
    assert spec.replace(ignore_merges=False) != spec
    with pytest.raises(SpecError, match="share id 400"):
        spec.replace(added_tokens=(AddedToken("<s>", 400), AddedToken("<t>", 400)))


def test_nothing_of_a_lazy_spec_can_be_changed() -> None:
    spec = lazy(SMALL)
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.pattern = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        spec.vocab[b"q"] = 3  # type: ignore[index]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        spec.nothing  # type: ignore[attr-defined]  # noqa: B018
    spec.validate()


@pytest.mark.parametrize(
    ("fields", "defect"),
    [
        ({"added_tokens": (AddedToken("<s>", 97),)}, r"'<s>' has id 97, which is b'a' in vocab"),
        ({"added_tokens": (AddedToken("ab", 300),)}, "'ab' has id 300, but the same text has id 256"),
        ({"added_tokens": (AddedToken("<s>", 400), AddedToken("<t>", 400))}, "share id 400"),
        ({"added_tokens": (AddedToken("", 400),)}, "an added token is empty"),
        ({"added_tokens": (AddedToken("<s>", -1),)}, "id -1 does not lie in"),
        ({"added_tokens": (AddedToken("<s>", 2**31),)}, "does not lie in"),
        ({"pattern": "a*"}, "can match the empty string"),
        ({"pattern": "("}, "expected"),
        ({"unmatched": "skip"}, "unmatched is 'skip'"),
    ],
)
def test_a_lazy_spec_names_the_same_defects(fields: dict[str, Any], defect: str) -> None:
    for make in (lazy, eager):
        with pytest.raises(SpecError, match=defect):
            make(SMALL, **fields)


@st.composite
def rank_tables(draw: st.DrawFn) -> dict[bytes, int]:
    """Tokens of few letters in any order of ranks, with holes, many of which no merge makes."""
    longer = draw(st.lists(st.text("abé", min_size=2, max_size=7).map(str.encode), max_size=25, unique=True))
    tokens = [*BYTES, *(token for token in longer if token not in BYTES)]
    order = draw(st.randoms(use_true_random=False))
    ranks = sorted(order.sample(range(len(tokens) + 30), len(tokens)))
    if draw(st.booleans()):
        order.shuffle(tokens)
    return dict(zip(tokens, ranks, strict=True))


@settings(max_examples=200)
@given(ranks=rank_tables(), text=st.text("abé ", max_size=30), shuffled=st.booleans())
def test_random_tables_are_alike(ranks: dict[bytes, int], text: str, shuffled: bool) -> None:
    expected = eager(ranks, pattern=r"\S+|\s+")
    listed = dict(sorted(ranks.items())) if shuffled else ranks
    ids = Encoder(expected, engine="reference").encode_ordinary(text)
    spec = lazy(listed, pattern=r"\S+|\s+")
    assert Encoder(spec, engine="native").encode_ordinary(text) == ids
    assert Encoder(spec, engine="reference").encode_ordinary(text) == ids
    check_alike(spec, expected)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\n\n"])
def test_files_with_any_ends_of_lines(tmp_path: Path, newline: bytes) -> None:
    path = tmp_path / "small.tiktoken"
    for content in (rank_file(SMALL, newline), rank_file(SMALL, newline).rstrip()):
        path.write_bytes(content)
        check_alike(conversion.load(path, pattern=None), eager(SMALL))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"YQ== 0\n",
        rank_file({t: r for t, r in SMALL.items() if t != b"a"}),
        rank_file(SMALL) + b"YWE=",
        rank_file(SMALL) + b"YWE= -1\n",
        rank_file(SMALL) + b"YWE= 2147483648\n",
        rank_file(SMALL) + b"YWE= 99999999999999999999\n",
        rank_file(SMALL) + b"YWE= 256\n",
        rank_file(SMALL) + b"YWE= 500 7\n",
        rank_file(SMALL) + b"Y*E= 500\n",
        rank_file(SMALL) + b"YWE 500\n",
        rank_file(SMALL) + b" 500\n",
        rank_file(SMALL) + b"\xff\xfe 500\n",
        rank_file(SMALL)[:-4],
    ],
)
def test_damaged_files_are_refused_by_both_readers(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(HfBpeError):
        native.Vocabulary.from_rank_file(content)
    path = tmp_path / "damaged.tiktoken"
    path.write_bytes(content)
    with pytest.raises((FormatError, SpecError)):
        conversion.load(path, format="tiktoken", pattern=None)


def test_the_table_answers_for_itself() -> None:
    table = native.Vocabulary.from_rank_file(rank_file(SMALL))
    assert (len(table), table.n_vocab, table.is_by_rank, table.unreachable) == (len(SMALL), 301, True, 1)
    assert table.vocab() == SMALL
    assert [table.token_bytes(i) for i in (97, 257, 299, 301, -1, 2**40)] == [b"a", b"abc", None, None, None, None]
    assert [table.token_id(t) for t in (b"a", b"abc", b"nope", b"")] == [97, 257, None, None]
    given_merges = native.Vocabulary(SMALL, ((b"a", b"b"),))
    assert (given_merges.is_by_rank, given_merges.merges(), given_merges.unreachable) == (False, ((b"a", b"b"),), 0)


@pytest.mark.parametrize("name", ["cl100k", "tekken"])
def test_published_tables_are_alike(name: str) -> None:
    ranks, pattern = (cl100k_ranks(), NAMED_PATTERNS["cl100k"].pattern) if name == "cl100k" else tekken()
    spec, expected = lazy(ranks, pattern=pattern), eager(ranks, pattern=pattern)
    text = generated_text(2, 20_000)
    ids = Encoder(expected, engine="native").encode_ordinary(text)
    assert Encoder(spec, engine="native").encode_ordinary(text) == ids
    assert "vocab" not in spec.__dict__
    assert "merges" not in spec.__dict__
    assert pickle.loads(pickle.dumps(spec)) == spec == expected
    assert spec.fingerprint == expected.fingerprint


def test_loading_a_published_file_gives_the_spec_of_its_table() -> None:
    spec = conversion.load(CL100K_FILE, pattern="cl100k")
    assert spec == eager(cl100k_ranks(), pattern=NAMED_PATTERNS["cl100k"].pattern)
    assert spec.provenance["format"] == "tiktoken"
