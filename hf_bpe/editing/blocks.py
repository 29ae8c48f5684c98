"""Blocks of special tokens: the codes of an image, of sound, as one range of ids."""

from __future__ import annotations

from hf_bpe.errors import EditError, some
from hf_bpe.spec import MAX_TOKEN_ID, TokenizerSpec

__all__ = ["with_block"]


def with_block(spec: TokenizerSpec, name: str, count: int) -> tuple[TokenizerSpec, range]:
    """A copy with special tokens <|NAME_0|>, <|NAME_1|>, ..., and their ids, which follow each other after the largest.

    Raises `EditError` where some of these tokens are there already, so that their ids would be no range, for fewer than one, and for more than there are ids.

    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> extended, ids = with_block(spec, "image", 8192)
    >>> ids, extended.special_tokens["<|image_8191|>"]
    (range(256, 8448), 8447)
    """
    if type(count) is not int or count < 1 or not name:
        raise EditError(f"a block is a name and how many tokens, a whole number of at least 1, not {name!r} and {count!r}")
    if spec.n_vocab + count > MAX_TOKEN_ID + 1:
        raise EditError(f"the block {name!r} is to have {count:,} tokens, and ids end at {MAX_TOKEN_ID:,}; ask for fewer")
    tokens = [f"<|{name}_{number}|>" for number in range(count)]
    there = [token for token in tokens if spec.token_id(token.encode("utf-8", "surrogatepass")) is not None]
    if there:
        raise EditError(f"tokens of the block {name!r} are there already: {some(there)}; choose another name")
    return spec.with_added_tokens(tokens), range(spec.n_vocab, spec.n_vocab + count)
