"""Tokens as text: as tokenizer files write them, and for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from conversion.printable import spell
from hf_bpe.spec import TokenizerSpec

__all__ = ["shown", "shown_some", "spelled_tokens"]

_SHOWN = 20


def spelled_tokens(spec: TokenizerSpec) -> dict[int, str]:
    """Id -> token, as tokenizer files write it: `Ġthe` of bytes, `▁the` of SentencePiece pieces, an added token as it is. By id."""
    ordered = sorted(spec.vocab.items(), key=lambda item: item[1])
    tokens = [token for token, _ in ordered]
    written = spell(tokens) if spec.sentencepiece is None else [token.decode() for token in tokens]
    found = dict(zip((token_id for _, token_id in ordered), written, strict=True))
    return dict(sorted((found | {token.id: token.content for token in spec.added_tokens}).items()))


def shown(token: bytes) -> str:
    r"""A token for people: what is not UTF-8, or not visible, escaped.

    >>> shown(b"caf\xc3\n")
    'caf\\xc3\\n'
    """
    text = token.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown_some(tokens: Iterable[tuple[int, bytes]], most: int = _SHOWN) -> str:
    """The first few tokens with their ids, for people.

    >>> shown_some([(262, b" the"), (198, b"\\n"), (7, b"(")], 2)
    "' the' (262), '\\\\n' (198) and 1 more"
    """
    listed: Sequence[tuple[int, bytes]] = list(tokens)
    some = ", ".join(f"'{shown(token)}' ({token_id})" for token_id, token in listed[:most])
    return some if len(listed) <= most else f"{some} and {len(listed) - most:,} more"
