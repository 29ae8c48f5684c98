"""How the rows of new tokens begin, as `--init` says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import cast, get_args

from hf_bpe.editing.id_map import IdMap, Made, RowKind
from hf_bpe.editing.matching import texts_of
from hf_bpe.engine import Encoder
from hf_bpe.errors import EditError
from hf_bpe.spec import TokenizerSpec

__all__ = ["INITS", "describe", "starting_rows"]

INITS = ("mean", "pieces", "zeros", "normal", "copy:TOKEN")

_COPY = "copy:"


def starting_rows(init: str, id_map: IdMap, old: TokenizerSpec | None, new: TokenizerSpec) -> dict[int, Made]:
    """New id -> how its row is made, for those of which the id map says nothing.

    mean: of all rows in use. pieces: of the rows of the ids that the old tokenizer gives the token's text, or of all in use where
    it gives none. zeros. normal: drawn with the mean and the covariance of the rows in use. copy:TOKEN: the row of an old token.

    Raises `EditError` for another word, and for a token that the old tokenizer lacks.
    """
    open_ids = [new_id for new_id, made in id_map.made.items() if made is None]
    if init in get_args(RowKind):
        return dict.fromkeys(open_ids, Made(cast("RowKind", init)))
    if init != "pieces" and not init.startswith(_COPY):
        raise EditError(f"there is no way {init!r} of making rows; choose one of {', '.join(INITS)}")
    if old is None:
        raise EditError(f"rows are made as {init!r} with the old tokenizer, which was not found; name it with old_tokenizer=")
    if init == "pieces":
        return _of_pieces(open_ids, old, new, id_map)
    return dict.fromkeys(open_ids, Made("mean", (_old_id(init.removeprefix(_COPY), old),)))


def describe(made: Iterable[Made]) -> dict[str, int]:
    """Way -> how many rows are made in it.

    >>> describe([Made(), Made("zeros"), Made("mean", (3,)), Made("mean", (1, 2))])
    {'mean of the rows in use': 1, 'zeros': 1, 'copy of a row': 1, 'mean of other rows': 1}
    """
    return dict(Counter(map(_words, made)))


def _words(made: Made) -> str:
    if made.row == "zeros":
        return "zeros"
    if made.row == "normal":
        return "drawn at random"
    return "mean of the rows in use" if not made.of else "copy of a row" if len(made.of) == 1 else "mean of other rows"


def _old_id(token: str, old: TokenizerSpec) -> int:
    found = old.token_id(token.encode("utf-8", "surrogatepass"))
    if found is None:
        found = next((number for number, text in texts_of(old).items() if text == token.encode("utf-8", "surrogatepass")), None)
    if found is None:
        raise EditError(f"the old tokenizer has no token {token!r} whose row could be copied")
    return found


def _of_pieces(ids: Iterable[int], old: TokenizerSpec, new: TokenizerSpec, id_map: IdMap) -> dict[int, Made]:
    encoder = Encoder(_without_prefix(old))
    texts = texts_of(new)
    return {new_id: Made("mean", tuple(i for i in _pieces(texts[new_id], encoder) if i in id_map.old_ids)) for new_id in ids}


def _pieces(token: bytes, encoder: Encoder) -> list[int]:
    try:
        return encoder.encode_ordinary(token.decode())
    except UnicodeDecodeError:  # a part of a character
        if encoder.spec.sentencepiece is None:
            return encoder.encode_piece(token)
        return [number for byte in token if (number := encoder.spec.token_id(b"<0x%02X>" % byte)) is not None]


def _without_prefix(spec: TokenizerSpec) -> TokenizerSpec:
    """A token is a part of a text: no space is put before it, and the one it begins with is not taken away."""
    if spec.sentencepiece is None:
        return spec.replace(add_prefix_space=False)
    rules = replace(spec.sentencepiece, prepend_scheme="never", prefix_before_space=True, remove_extra_whitespaces=False)
    return spec.replace(sentencepiece=rules)
