"""Tokens for people."""

from __future__ import annotations

from collections.abc import Iterable

from hf_bpe.spec import TokenizerSpec

__all__ = ["shown", "shown_some", "tokens_by_id"]

_LONGEST = 40


def tokens_by_id(spec: TokenizerSpec) -> dict[int, bytes]:
    """Id -> token, of SentencePiece pieces as they are written, of added tokens their text. By id.

    >>> tokens_by_id(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()).with_added_tokens(["<s>"]))[256]
    b'<s>'
    """
    found = {token_id: token for token, token_id in spec.vocab.items()}
    return dict(sorted((found | {token.id: token.content.encode() for token in spec.added_tokens}).items()))


def shown(token: bytes) -> str:
    r"""A token for people: what is not UTF-8, or not visible, escaped.

    >>> shown(b"caf\xc3\n")
    'caf\\xc3\\n'
    """
    text = token.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown_some(spec: TokenizerSpec, ids: Iterable[int], most: int = 20) -> str:
    r"""The first few of these tokens with their ids, for people.

    >>> shown_some(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()), [97, 10, 98], 2)
    "'a' (97), '\\n' (10) and 1 more"
    """
    tokens, listed = tokens_by_id(spec), list(ids)
    some = ", ".join(f"'{_shortened(shown(tokens[token_id]))}' ({token_id})" for token_id in listed[:most])
    return some if len(listed) <= most else f"{some} and {len(listed) - most:,} more"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
