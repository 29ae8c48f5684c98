"""What tiktoken says of the end of a text: which ids more text may change, and what could come instead.

This is tiktoken's own answer, holes included (it is the union of guesses, not all that can happen), so that callers who rely on it
get the same. White space at the end counts as unstable as far back as it reaches.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Protocol

from hf_bpe.engine import Encoder

__all__ = ["Vocabulary", "completions", "encode_bytes", "unstable_length"]

_SPACES = frozenset(b" \n\t")
# Unicode's White_Space, which `str.isspace` is not: that holds the separators U+001C to U+001F too.
_WHITE_SPACE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | set(map(chr, range(0x2000, 0x200B)))


class Vocabulary(Protocol):
    """What is needed of an encoding."""

    @property
    def encoder(self) -> Encoder:
        """What encodes."""

    @property
    def token_of(self) -> dict[int, bytes]:
        """Id -> bytes, without special tokens."""

    @property
    def sorted_tokens(self) -> list[bytes]:
        """All tokens but the special ones, sorted."""

    @property
    def longest_token(self) -> int:
        """How many bytes the longest of them has."""


def unstable_length(vocabulary: Vocabulary, ids: Sequence[int], last_piece: int) -> int:
    """How many of the last ids more text may change, where the last piece has so many.

    White space before it can join it: cl100k's pattern takes "\\n" + " " apart, and "\\n \\n" together.
    """

    def is_space(token_id: int) -> bool:
        token = vocabulary.token_of.get(token_id)
        return token is not None and _SPACES.issuperset(token)

    length = last_piece
    if length and is_space(ids[-length]):
        while length < len(ids) and is_space(ids[-length - 1]):
            length += 1
    return length


def completions(vocabulary: Vocabulary, unstable: bytes) -> list[list[int]]:
    """The ids that could stand where the text ends in these bytes and goes on, each once."""
    found: dict[tuple[int, ...], None] = {}
    for token in _beginning_with(vocabulary.sorted_tokens, unstable):
        found[vocabulary.encoder.encode_single_token(token),] = None
    for encoded in _encoded(vocabulary, unstable):
        found[_up_to(encoded, len(unstable), vocabulary.token_of)] = None
    last = _last_character(unstable)
    if last in _WHITE_SPACE and len(unstable) > len(last.encode()):
        at = len(unstable) - len(last.encode())
        merge = vocabulary.encoder.encode_piece
        found[tuple(merge(unstable[:at], whole=False) + merge(unstable[at:], whole=False))] = None
    return list(map(list, found))


def _encoded(vocabulary: Vocabulary, unstable: bytes) -> Iterator[list[int]]:
    """The bytes with some token across their end, as they would be encoded."""
    texts, others = [], []
    # No token goes on where more bytes are left than the longest has: without this a long piece would take quadratic time.
    for at in range(max(1, len(unstable) - vocabulary.longest_token), len(unstable)):
        for token in _beginning_with(vocabulary.sorted_tokens, unstable[at:]):
            possibility = unstable[:at] + token
            try:
                texts.append(possibility.decode())
            except UnicodeDecodeError:
                others.append(possibility)
    yield from vocabulary.encoder.encode_ordinary_batch(texts)
    for possibility in others:
        yield vocabulary.encoder.encode_piece(possibility, whole=False)


def _up_to(ids: Sequence[int], length: int, token_of: dict[int, bytes]) -> tuple[int, ...]:
    """The first ids, until they make so many bytes."""
    done = 0
    for number, token_id in enumerate(ids, 1):
        done += len(token_of[token_id])
        if done >= length:
            return tuple(ids[:number])
    return tuple(ids)


def _beginning_with(tokens: list[bytes], start: bytes) -> list[bytes]:
    """Of sorted tokens, those that begin so."""
    first = bisect_left(tokens, start)
    return tokens[first : bisect_left(tokens, True, first, key=lambda token: not token.startswith(start))]


def _last_character(content: bytes) -> str:
    """The last character, or nothing where the bytes end in no whole one."""
    for size in range(1, min(4, len(content)) + 1):
        try:
            return content[-size:].decode()
        except UnicodeDecodeError:
            continue
    return ""


def encode_bytes(vocabulary: Vocabulary, content: bytes) -> list[int]:
    """Ids of bytes that need not be UTF-8: what is not text is merged with the last piece before it."""
    try:
        return vocabulary.encoder.encode_ordinary(content.decode())
    except UnicodeDecodeError as error:
        valid = error.start
    ids, last_piece = encode_with_last_piece(vocabulary.encoder, content[:valid].decode(), frozenset())
    stable = len(ids) - unstable_length(vocabulary, ids, last_piece)
    rest = b"".join(vocabulary.token_of[token_id] for token_id in ids[stable:]) + content[valid:]
    return ids[:stable] + vocabulary.encoder.encode_piece(rest)


def encode_with_last_piece(encoder: Encoder, text: str, allowed: frozenset[str]) -> tuple[list[int], int]:
    """The ids of a text, and how many of them the last piece has: none where it ends in a special token."""
    found = encoder.align_batch([text], num_threads=1, allowed_special=allowed, disallowed_special=())
    ids: list[int] = found.ids.tolist()
    # Between special tokens that are looked for no piece can be one, so the id says it, inside the table or outside.
    if not ids or ids[-1] in {encoder.spec.special_tokens[token] for token in allowed}:
        return ids, 0
    return ids, int((found.pieces == found.pieces[-1]).sum())
