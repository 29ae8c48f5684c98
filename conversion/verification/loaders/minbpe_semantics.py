"""minbpe, which is on no package index: what it does, with the `regex` module and that module's version of Unicode."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from conversion import minbpe
from conversion.verification.loaders.files import TokenizerFile, library, named
from conversion.verification.side import AS_SPECIAL, AS_TEXT, Side

__all__ = ["load"]

_PIECES_KEPT = 1 << 16


def load(given: TokenizerFile) -> Side:
    """A model of minbpe: pieces by `findall`, the earliest merge of a piece everywhere in it until there is none."""
    if given.format is not minbpe.FORMAT:
        raise given.refuse("minbpe", "its own .model files")
    regex = library("regex", "regex")
    spec = given.spec
    ids_of = [spec.vocab[bytes([byte])] for byte in range(256)]
    made_by = {(spec.vocab[left], spec.vocab[right]): spec.vocab[left + right] for left, right in spec.merges}
    find = None if spec.pattern is None else regex.compile(spec.pattern).findall
    specials = spec.special_tokens
    split = regex.compile("(" + "|".join(map(regex.escape, specials)) + ")").split if specials else None
    token_of = {token_id: token for token, token_id in spec.vocab.items()} | {i: s.encode() for s, i in specials.items()}

    @lru_cache(maxsize=_PIECES_KEPT)
    def encode_piece(piece: str) -> tuple[int, ...]:
        ids = [ids_of[byte] for byte in piece.encode("utf-8", "replace")]
        while len(ids) >= 2:
            best = min(pairwise(ids), key=lambda pair: made_by.get(pair, len(token_of) + (1 << 32)))
            if best not in made_by:
                break
            ids = _merged(ids, best, made_by[best])
        return tuple(ids)

    def pieces(text: str) -> list[str]:
        return [text] if find is None else find(text)

    def as_text(text: str) -> list[int]:
        return [token_id for piece in pieces(text) for token_id in encode_piece(piece)]

    def as_special(text: str) -> list[int]:
        if split is None:
            return as_text(text)
        parts = ([specials[part]] if part in specials else as_text(part) for part in split(text))
        return [token_id for ids in parts for token_id in ids]

    return Side(
        source=given.path.name,
        loader="minbpe",
        library=f"minbpe's rules and {named('regex')}",
        engine="minbpe",
        readings={
            AS_TEXT: lambda texts: [as_text(text) for text in texts],
            AS_SPECIAL: lambda texts: [as_special(text) for text in texts],
        },
        decode=lambda rows: [b"".join(token_of[i] for i in ids).decode("utf-8", "replace") for ids in rows],
        spec=spec,
        nearest=spec,
        pieces=pieces,
    )


def _merged(ids: list[int], pair: tuple[int, int], made: int) -> list[int]:
    merged: list[int] = []
    place = 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            merged.append(made)
            place += 2
        else:
            merged.append(ids[place])
            place += 1
    return merged
