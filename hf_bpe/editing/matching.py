"""The id map of two tokenizers: a token of one is the token of the other that has the same text."""

from __future__ import annotations

from typing import TypeAlias

from hf_bpe.editing.id_map import IdMap
from hf_bpe.errors import EditError, some
from hf_bpe.pieces import SentencePieceRules, piece_bytes
from hf_bpe.spec import TokenizerSpec

__all__ = ["id_map_between", "texts_of"]

_Key: TypeAlias = tuple[str, bytes]


def id_map_between(old: TokenizerSpec, new: TokenizerSpec) -> IdMap:
    """Tokens of the same bytes are the same; the others are gone, or are to be made.

    A token that was renamed counts as another one. Between the two dialects, U+2581 in a piece is a space, and a piece for a
    single byte is that byte unless a character is the same byte. Raises `EditError` where that gives one token several ids.

    >>> bytes_alone = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> id_map = id_map_between(bytes_alone, bytes_alone.with_added_tokens(["<s>"]))
    >>> len(id_map.kept), dict(id_map.made)
    (256, {256: None})
    """
    same_dialect = old.dialect == new.dialect
    old_ids, new_ids = (_by_key(spec, as_written=same_dialect) for spec in (old, new))
    kept = {old_id: new_ids[key] for key, old_id in old_ids.items() if key in new_ids}
    gone = [old_id for key, old_id in old_ids.items() if key not in new_ids]
    made = {new_id: None for key, new_id in new_ids.items() if key not in old_ids}
    return IdMap(old.n_vocab, new.n_vocab, kept, gone, made)


def texts_of(spec: TokenizerSpec) -> dict[int, bytes]:
    """Id -> the bytes it stands for in text, U+2581 being a space and a byte piece its byte.

    >>> texts_of(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()))[97]
    b'a'
    """
    added = {token.id: token.content.encode() for token in spec.added_tokens}
    if spec.sentencepiece is None:
        return {token_id: token for token, token_id in spec.vocab.items()} | added
    return {number: piece_bytes(piece) for number, piece in enumerate(spec.sentencepiece.pieces)} | added


def _by_key(spec: TokenizerSpec, *, as_written: bool) -> dict[_Key, int]:
    added = {("token", token.content.encode()): token.id for token in spec.added_tokens}
    if spec.sentencepiece is None or as_written:
        return {("token", token): token_id for token, token_id in spec.vocab.items()} | added
    return _across_dialects(spec.sentencepiece, added)


def _across_dialects(rules: SentencePieceRules, added: dict[_Key, int]) -> dict[_Key, int]:
    owners: dict[_Key, set[int]] = {key: {token_id} for key, token_id in added.items()}
    taken = set(added.values())
    bytes_alone: dict[_Key, int] = {}
    for number, piece in enumerate(rules.pieces):
        if piece.kind == "byte":
            bytes_alone["token", piece_bytes(piece)] = number
        elif number not in taken:
            owners.setdefault(("token", piece_bytes(piece)), set()).add(number)
    several = [f"{key[1]!r} is {' and '.join(map(str, sorted(ids)))}" for key, ids in owners.items() if len(ids) > 1]
    if several:
        raise EditError(
            f"which token is which of the other tokenizer cannot be told, as ids of the SentencePiece model stand for the same text: "
            f"{some(several)}; give an id map that says it"
        )
    found = {key: ids.pop() for key, ids in owners.items()}
    for key, number in bytes_alone.items():
        found[key if key not in found else ("byte", key[1])] = number
    return found
