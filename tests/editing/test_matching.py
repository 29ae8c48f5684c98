"""Which token of one tokenizer is which of another."""

from __future__ import annotations

import pytest

from hf_bpe import AddedToken, EditError, Piece, SentencePieceRules, TokenizerSpec
from hf_bpe.editing import id_map_between
from hf_bpe.editing.matching import texts_of
from hf_bpe.pieces import byte_piece
from tests.editing.models import new_spec, old_spec, pruned_spec
from tests.support.vocabularies import byte_spec

SPACE = "\u2581"


def pieces(*contents: str, kinds: dict[str, str] | None = None, bytes_too: bool = True) -> TokenizerSpec:
    listed = [Piece("<unk>", kind="unknown"), Piece("<s>", kind="control")]
    listed += [Piece(byte_piece(byte), kind="byte") for byte in range(256)] if bytes_too else []
    listed += [Piece(content, -float(n), (kinds or {}).get(content, "normal")) for n, content in enumerate(contents)]  # type: ignore[arg-type]
    rules = SentencePieceRules(tuple(listed), byte_fallback=bytes_too)
    return TokenizerSpec.from_sentencepiece(rules, added_tokens=[AddedToken("<s>", 1)])


def test_equal_tokenizers_give_the_identity() -> None:
    for spec in (old_spec(), pieces("a", SPACE)):
        id_map = id_map_between(spec, spec)
        assert dict(id_map.kept) == {number: number for number in range(spec.n_vocab)}
        assert not id_map.gone
        assert not id_map.made


def test_every_kept_id_has_the_same_text_and_all_ids_are_accounted_for() -> None:
    for old, new in ((old_spec(), pruned_spec()), (pruned_spec(), new_spec())):
        id_map, before, after = id_map_between(old, new), texts_of(old), texts_of(new)
        assert all(before[a] == after[b] for a, b in id_map.kept.items())
        assert id_map.old_ids == before.keys()
        assert {*id_map.kept.values(), *id_map.made} == after.keys()
        assert not {before[a] for a in id_map.gone} & {after[b] for b in id_map.made}
    assert len(id_map_between(old_spec(), pruned_spec()).gone) == 10


def test_a_token_that_becomes_special_is_the_same_token() -> None:
    old = byte_spec().replace(vocab={**byte_spec().vocab, b"ab": 256}, merges=((b"a", b"b"),))
    new = byte_spec().with_added_tokens({"ab": 300})
    assert id_map_between(old, new).kept[256] == 300


def test_across_dialects_a_character_goes_before_the_byte_piece() -> None:
    old = pieces("a", "b", SPACE, f"{SPACE}a")
    new = byte_spec().replace(vocab={**byte_spec().vocab, b" a": 256, b"ab": 257}, merges=((b" ", b"a"), (b"a", b"b")))
    id_map = id_map_between(old, new)
    a, space, c = (old.vocab[name] for name in (b"a", SPACE.encode(), b"<0x63>"))
    assert (id_map.kept[a], id_map.kept[space], id_map.kept[c]) == (ord("a"), ord(" "), ord("c"))
    assert id_map.kept[old.vocab[f"{SPACE}a".encode()]] == 256
    assert id_map.gone == {0, 1, old.vocab[b"<0x61>"], old.vocab[b"<0x62>"], old.vocab[b"<0x20>"]}
    assert set(id_map.made) == {257}


def test_two_pieces_of_one_text_are_refused_across_dialects_only() -> None:
    old = pieces(SPACE, " ", kinds={" ": "user_defined"})
    with pytest.raises(EditError, match=r"stand for the same text: b' ' is 258 and 259; give an id map"):
        id_map_between(old, byte_spec())
    with pytest.raises(EditError, match="give an id map"):
        id_map_between(byte_spec(), old)
    assert len(id_map_between(old, pieces(" ", SPACE)).kept) == 260
