"""The definition of this package's BPE, in plain Python: encode, decode, train. Slow on purpose; the oracle of the tests.

Read it top to bottom: split the text, start from bytes, merge the best-ranked adjacent pair (the leftmost of equals) until
none is left. The native engine must give the same ids on every input. It is also what runs where the native engine is
not installed.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from operator import index

import regex

from hf_bpe import pattern_syntax
from hf_bpe.errors import DisallowedSpecialTokenError, PatternError, UnknownTokenError
from hf_bpe.pattern_syntax.code_points import property_members
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["Reference", "ReferenceEngine", "as_unicode", "merge_pair", "pretokenize", "train_merges"]

Pair = tuple[int, int]

# ---------------------------------------------------------------------------------------------------------------------
# Splitting text into pieces


@cache
def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """The pattern for the `regex` module, with every property spelled out as Unicode 16.0 has it."""
    try:
        return regex.compile(pattern_syntax.render(pattern_syntax.parse(pattern), "regex", property_members))
    except regex.error as error:
        raise PatternError(f"split pattern {pattern!r} does not compile: {error}") from None


def piece_spans(text: str, pattern: str | None, unmatched: str = "keep") -> list[tuple[int, int]]:
    """Where the pieces that merging never crosses start and end, in characters."""
    if pattern is None:
        return [(0, len(text))] if text else []
    spans = []
    done = 0
    for match in compile_pattern(pattern).finditer(text):
        if match.end() == match.start():  # a zero-width match that slipped past the check by shape
            continue
        if match.start() > done and unmatched == "keep":
            spans.append((done, match.start()))
        spans.append(match.span())
        done = match.end()
    if done < len(text) and unmatched == "keep":
        spans.append((done, len(text)))
    return spans


def pretokenize(text: str, pattern: str | None, unmatched: str = "keep") -> list[str]:
    """Split text into the pieces that merging never crosses.

    >>> pretokenize("Hello world", r" ?\\p{L}+")
    ['Hello', ' world']
    """
    return [text[start:stop] for start, stop in piece_spans(text, pattern, unmatched)]


# ---------------------------------------------------------------------------------------------------------------------
# Merging


def merge_pair(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace every occurrence of a pair, left to right.

    >>> merge_pair([1, 1, 1, 2], (1, 1), 9)
    [9, 1, 2]
    """
    merged: list[int] = []
    position = 0
    while position < len(ids):
        if position + 1 < len(ids) and (ids[position], ids[position + 1]) == pair:
            merged.append(new_id)
            position += 2
        else:
            merged.append(ids[position])
            position += 1
    return merged


def merge_by_rank(ids: list[int], ranks: dict[Pair, tuple[int, int]]) -> list[int]:
    """Merge the best-ranked pair until no pair has a rank. `ranks`: (left, right) -> (rank, merged id)."""
    while len(ids) > 1:
        rank_at = [ranks.get(pair, (len(ranks), 0))[0] for pair in pairwise(ids)]
        best = min(rank_at)
        if best == len(ranks):
            break
        place = rank_at.index(best)  # one merge at a time: what it makes may merge before its neighbours do
        ids = [*ids[:place], ranks[ids[place], ids[place + 1]][1], *ids[place + 2 :]]
    return ids


# ---------------------------------------------------------------------------------------------------------------------
# Added tokens


def added_token_spans(text: str, tokens: Sequence[AddedToken]) -> Iterator[tuple[int, int, AddedToken | None]]:
    """Cut text at added tokens: leftmost first, the longest of those that start at one place.

    Gives start and end, in characters, of every stretch, and the token it is, if any; with the white space the token takes.
    """
    longest_first = sorted(tokens, key=lambda token: len(token.content.encode()), reverse=True)
    by_content = {token.content: token for token in tokens}
    finder = regex.compile("|".join(regex.escape(token.content, special_only=True) for token in longest_first))
    done = 0
    for match in finder.finditer(text) if tokens else ():
        token = by_content[match.group()]
        start, stop = match.span()
        if token.single_word and (_is_word(text[:start][-1:]) or _is_word(text[stop:][:1])):
            continue
        if token.lstrip:
            start = max(done, len(_strip_space(text[:start], right=True)))
        if token.rstrip:
            stop = len(text) - len(_strip_space(text[stop:], right=False))
        if start >= stop:  # all of it is white space that the token before took along
            continue
        if done < start:
            yield done, start, None
        yield start, stop, token
        done = stop
    if done < len(text):
        yield done, len(text), None


def split_on_added_tokens(text: str, tokens: Sequence[AddedToken]) -> Iterator[str | AddedToken]:
    """The stretches of a text, and the added tokens between them.

    >>> [str(getattr(p, "content", p)) for p in split_on_added_tokens("a<s>b", [AddedToken("<s>", 1)])]
    ['a', '<s>', 'b']
    """
    return (token or text[start:stop] for start, stop, token in added_token_spans(text, tokens))


def _is_word(character: str) -> bool:
    return bool(character) and compile_pattern(r"\w").match(character) is not None


_SPACES = "".join(chr(c) for span in pattern_syntax.SPACE for c in range(span.first, span.last + 1))


def _strip_space(text: str, *, right: bool) -> str:
    return text.rstrip(_SPACES) if right else text.lstrip(_SPACES)


# ---------------------------------------------------------------------------------------------------------------------
# The engine


@dataclass(frozen=True)
class ReferencePolicy:
    """Which added tokens `encode` matches and which make it raise."""

    match: tuple[AddedToken, ...]
    forbid: tuple[AddedToken, ...]


def as_unicode(text: str) -> str:
    """Join surrogate pairs, replace lone surrogates by U+FFFD: what tiktoken does with text that UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Reference(ABC):
    """What a reference does, of either dialect. The native engines have the same methods."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self._spec = spec

    def policy(self, allowed: frozenset[str], forbidden: frozenset[str]) -> ReferencePolicy:
        """What to do with added tokens: match the plain ones and the special ones in `allowed`, raise on `forbidden`."""
        tokens = self._spec.added_tokens
        return ReferencePolicy(
            match=tuple(token for token in tokens if not token.special or token.content in allowed),
            forbid=tuple(token for token in tokens if token.content in forbidden),
        )

    def checked(self, text: str, policy: ReferencePolicy) -> str:
        """The text as it is encoded. Raises for what is no text, and for added tokens that the policy forbids."""
        if not isinstance(text, str):
            raise TypeError(f"the text must be a str, not a {type(text).__name__}")
        text = as_unicode(text)
        for part in split_on_added_tokens(text, policy.forbid):
            if isinstance(part, AddedToken):
                raise DisallowedSpecialTokenError(part.content)
        return text

    @abstractmethod
    def encode(self, text: str, policy: ReferencePolicy) -> list[int]:
        """Ids of a text."""

    @abstractmethod
    def encode_with_spans(self, text: str, policy: ReferencePolicy, characters: bool) -> list[tuple[int, int, int, int]]:
        """Id, start and end of each token, in characters or bytes, and the number of the piece that it is part of."""

    @abstractmethod
    def pretokenize(self, text: str) -> list[str]:
        """The pieces that merging never crosses, added tokens not considered."""

    @abstractmethod
    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes behind ids."""


class ReferenceEngine(Reference):
    """Runs a byte-level spec."""

    def __init__(self, spec: TokenizerSpec) -> None:
        super().__init__(spec)
        vocab = spec.vocab
        self._byte_ids = [vocab[bytes([byte])] for byte in range(256)]
        self._ranks = {(vocab[a], vocab[b]): (rank, vocab[a + b]) for rank, (a, b) in enumerate(spec.merges)}
        self._bytes_of = {token_id: token for token, token_id in vocab.items()}
        self._bytes_of |= {token.id: token.content.encode() for token in spec.added_tokens}

    def encode(self, text: str, policy: ReferencePolicy) -> list[int]:
        """Ids of a text."""
        text = self.checked(text, policy)
        ids: list[int] = []
        for part in split_on_added_tokens(text, policy.match):
            ids += [part.id] if isinstance(part, AddedToken) else self._encode_pieces(part)
        return ids

    def encode_with_spans(self, text: str, policy: ReferencePolicy, characters: bool) -> list[tuple[int, int, int, int]]:
        """Id, start, end and piece of each token. Text that no piece holds belongs to none; an added token is a piece."""
        text = self.checked(text, policy)
        spans = []
        piece = itertools.count()
        for start, stop, token in added_token_spans(text, policy.match):
            if token is not None:
                spans.append((token.id, _bytes_in(text[:start]), _bytes_in(text[:stop]), next(piece)))
                continue
            stretch = text[start:stop]
            for first, last in piece_spans(stretch, self._spec.pattern, self._spec.unmatched):
                done, number = _bytes_in(text[: start + first]), next(piece)
                for token_id in self._encode_piece(stretch[first:last].encode()):
                    spans.append((token_id, done, done := done + len(self._bytes_of[token_id]), number))
        if not characters:
            return spans
        of_byte = [n for n, character in enumerate(text) for _ in character.encode()]
        return [(token_id, of_byte[start], of_byte[stop - 1] + 1, number) for token_id, start, stop, number in spans]

    def pretokenize(self, text: str) -> list[str]:
        """The pieces of a text, added tokens not considered."""
        return pretokenize(as_unicode(text), self._spec.pattern, self._spec.unmatched)

    def _encode_pieces(self, text: str) -> list[int]:
        return [token_id for piece in self.pretokenize(text) for token_id in self._encode_piece(piece.encode())]

    def _encode_piece(self, piece: bytes) -> list[int]:
        if self._spec.ignore_merges and piece in self._spec.vocab:
            return [self._spec.vocab[piece]]
        return merge_by_rank([self._byte_ids[byte] for byte in piece], self._ranks)

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes of the tokens, joined."""
        try:
            return b"".join([self._bytes_of[index(token_id)] for token_id in ids])
        except KeyError as error:
            raise UnknownTokenError(f"id {error.args[0]!r} is not in the vocabulary") from None


def _bytes_in(text: str) -> int:
    return len(text.encode())


# ---------------------------------------------------------------------------------------------------------------------
# Training


def count_pairs(words: Iterable[tuple[Sequence[int], int]]) -> Counter[Pair]:
    """How often each pair of neighbours occurs, each word counted as often as it was seen.

    >>> count_pairs([([1, 1, 1], 2)])
    Counter({(1, 1): 4})
    """
    counts: Counter[Pair] = Counter()
    for ids, count in words:
        for pair in pairwise(ids):
            counts[pair] += count
    return counts


def train_merges(
    word_counts: dict[bytes, int], num_merges: int, min_frequency: int = 1, max_token_length: int | None = None
) -> list[Pair]:
    """Learn merges from counted pieces. Ids 0..255 are the bytes, the n-th merge makes id 256 + n.

    Each step merges the most frequent pair; of equally frequent ones the pair with the lowest ids, left id first. Pairs
    seen fewer than `min_frequency` times, or that would make more than `max_token_length` bytes, are never merged.

    >>> train_merges({b"aaabdaaabac": 1}, 3)
    [(97, 97), (97, 98), (256, 257)]
    """
    words = [(list(word), count) for word, count in word_counts.items()]
    length = dict.fromkeys(range(256), 1)
    merges: list[Pair] = []
    while len(merges) < num_merges:
        fits = (
            (count, pair)
            for pair, count in count_pairs(words).items()
            if max_token_length is None or length[pair[0]] + length[pair[1]] <= max_token_length
        )
        count, pair = max(fits, key=lambda item: (item[0], -item[1][0], -item[1][1]), default=(0, (0, 0)))
        if count < max(min_frequency, 1):
            break
        new_id = 256 + len(merges)
        length[new_id] = length[pair[0]] + length[pair[1]]
        merges.append(pair)
        words = [(merge_pair(ids, pair, new_id), count) for ids, count in words]
    return merges
