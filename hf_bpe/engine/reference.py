"""The definition of this package's BPE, in plain Python: encode, decode, train. Slow on purpose; the oracle of the tests.

Read it top to bottom: split the text, start from bytes, merge the best-ranked adjacent pair (the leftmost of equals) until
none is left. The native engine must give the same ids on every input. It is also what runs where the native engine is
not installed.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, pairwise
from operator import index
from typing import Any, Literal, NamedTuple, TypeAlias

import regex

from hf_bpe import pattern_syntax
from hf_bpe.byte_level import bytes_to_unicode
from hf_bpe.engine.normalizer_reference import NormalizerReference
from hf_bpe.engine.parts import TRUSTS, Trust, as_unicode
from hf_bpe.errors import CorpusError, DisallowedSpecialTokenError, PatternError, UnknownTokenError
from hf_bpe.pattern_syntax.code_points import property_members
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["Placed", "Reference", "ReferenceEngine", "as_unicode", "merge_pair", "pretokenize", "train_merges"]

Pair = tuple[int, int]
Tokens: TypeAlias = Sequence[AddedToken] | Mapping[str, AddedToken | None]
Place: TypeAlias = tuple[int, int, AddedToken]
"""Start and end, in characters, of an added token."""

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


def staged_spans(text: str, pattern: str | None, unmatched: str, stages: Sequence[str]) -> list[tuple[int, int]]:
    """The same for a pattern and stages, each of which sees the pieces of the one before as if each were a whole text."""
    spans = piece_spans(text, pattern, unmatched)
    for stage in stages:
        spans = [(start + a, start + b) for start, stop in spans for a, b in piece_spans(text[start:stop], stage)]
    return spans


def pretokenize(text: str, pattern: str | None, unmatched: str = "keep", stages: Sequence[str] = ()) -> list[str]:
    """Split text into the pieces that merging never crosses.

    >>> pretokenize("Hello world", r" ?\\p{L}+")
    ['Hello', ' world']
    """
    return [text[start:stop] for start, stop in staged_spans(text, pattern, unmatched, stages)]


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


def occurrences(text: str, tokens: Tokens) -> Iterator[Place]:
    """Where added tokens stand: leftmost first, the longest of those that start at one place.

    tokens: looked for by their content, or by the spellings that they are given with; with None, what is found is passed over.
    """
    by_spelling = tokens if isinstance(tokens, Mapping) else {token.content: token for token in tokens}
    longest_first = sorted(by_spelling, key=lambda spelling: len(spelling.encode()), reverse=True)
    finder = regex.compile("|".join(regex.escape(spelling, special_only=True) for spelling in longest_first))
    for match in finder.finditer(text) if tokens else ():
        token = by_spelling[match.group()]
        if token is not None:
            yield (*match.span(), token)


def added_token_spans(text: str, tokens: Tokens) -> Iterator[tuple[int, int, AddedToken | None]]:
    """Cut text at added tokens.

    Gives start and end, in characters, of every stretch, and the token it is, if any; with the white space the token takes.
    """
    return cut_at(text, occurrences(text, tokens))


def cut_at(text: str, places: Iterable[Place]) -> Iterator[tuple[int, int, AddedToken | None]]:
    """The same for tokens that were found already."""
    done = 0
    for start, stop, token in places:
        if token.single_word and not _stands_alone(text, start, stop):
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


def split_on_added_tokens(text: str, tokens: Tokens) -> Iterator[str | AddedToken]:
    """The stretches of a text, and the added tokens between them.

    >>> [str(getattr(p, "content", p)) for p in split_on_added_tokens("a<s>b", [AddedToken("<s>", 1)])]
    ['a', '<s>', 'b']
    """
    return (token or text[start:stop] for start, stop, token in added_token_spans(text, tokens))


def occurrences_in_parts(text: str, tokens: Sequence[AddedToken], trusts: Sequence[Trust]) -> list[Place]:
    """Where added tokens stand in a text of which each character is trusted or not.

    Of all occurrences those are left out that are special and not all trusted; of the others the leftmost is taken, the
    longest of those that start at one place, and so on behind it. Raises for special ones that touch what refuses them.
    """
    found = [
        (match.start(), match.start() + len(token.content), token)
        for token in tokens
        for match in regex.finditer(regex.escape(token.content, special_only=True), text, overlapped=True)
    ]
    found.sort(key=lambda place: (place[0], -place[1]))
    places: list[Place] = []
    for start, stop, token in found:
        touched = set(trusts[start:stop])
        if token.special and "raise" in touched and not (token.single_word and not _stands_alone(text, start, stop)):
            raise DisallowedSpecialTokenError(token.content)
    for start, stop, token in found:
        is_allowed = not token.special or set(trusts[start:stop]) == {"special"}
        if is_allowed and (not places or start >= places[-1][1]):
            places.append((start, stop, token))
    return places


def _trust_of_characters(lengths: Sequence[int], trusts: bytes) -> list[Trust]:
    return [TRUSTS[trust] for length, trust in zip(lengths, trusts, strict=True) for _ in range(length)]


def _stands_alone(text: str, start: int, stop: int) -> bool:
    return not (_is_word(text[:start][-1:]) or _is_word(text[stop:][:1]))


def _is_word(character: str) -> bool:
    return bool(character) and compile_pattern(r"\w").match(character) is not None


_SPACES = "".join(chr(c) for span in pattern_syntax.SPACE for c in range(span.first, span.last + 1))


def _strip_space(text: str, *, right: bool) -> str:
    return text.rstrip(_SPACES) if right else text.lstrip(_SPACES)


# ---------------------------------------------------------------------------------------------------------------------
# The engine


class Placed(NamedTuple):
    """An id, the first and last + 1 byte or character it stands for, the number of the piece of text that it is part of, and
    whether it is an added token that was found, not merged.
    """

    token_id: int
    start: int
    stop: int
    piece: int
    is_added: bool


@dataclass(frozen=True)
class ReferencePolicy:
    """Which added tokens `encode` matches and which make it raise: in the text as it is written, and in normalised text.

    places: where tokens stand in the one text that the policy is for, instead of `match`.
    """

    match: Tokens
    forbid: Tokens
    match_normalised: Tokens = field(default_factory=dict)
    forbid_normalised: Tokens = field(default_factory=dict)
    places: tuple[Place, ...] | None = None

    def cut(self, text: str) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Start and end of each stretch, and the token it is."""
        return cut_at(text, self.places) if self.places is not None else added_token_spans(text, self.match)


class Reference(ABC):
    """What a reference does, of either dialect. The native engines have the same methods."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self._spec = spec

    def policy(self, allowed: frozenset[str], forbidden: frozenset[str]) -> ReferencePolicy:
        """What to do with added tokens: match the plain ones and the special ones in `allowed`, raise on `forbidden`.

        Where no special one is allowed, they hide others that begin inside them, as in `tokenizers`; else only those that are
        matched are looked for, as in tiktoken.
        """
        return ReferencePolicy(*_chosen({t.content: t for t in self._spec.added_tokens}, allowed, forbidden))

    def policy_of_parts(self, text: str, lengths: Sequence[int], trusts: bytes) -> ReferencePolicy:
        """A policy for one text, which is in parts. `lengths`: in characters; `trusts`: the number of each in `TRUSTS`."""
        places = occurrences_in_parts(text, self._spec.added_tokens, _trust_of_characters(lengths, trusts))
        return ReferencePolicy(match=(), forbid=(), places=tuple(places))

    def added_ids(self, text: str, policy: ReferencePolicy) -> list[int]:
        """The ids of the added tokens that a text is cut at."""
        return [token.id for _, _, token in policy.cut(text) if token is not None]

    def checked(self, text: str, policy: ReferencePolicy) -> str:
        """The text as it is encoded. Raises for what is no text, and for added tokens that the policy forbids."""
        if not isinstance(text, str):
            raise TypeError(f"the text must be a str, not a {type(text).__name__}")
        text = as_unicode(text)
        _refuse(text, policy.forbid)
        return text

    @abstractmethod
    def encode(self, text: str, policy: ReferencePolicy) -> list[int]:
        """Ids of a text."""

    @abstractmethod
    def encode_with_spans(self, text: str, policy: ReferencePolicy, characters: bool) -> list[Placed]:
        """The ids of a text, with their places in characters or bytes."""

    @abstractmethod
    def pretokenize(self, text: str) -> list[str]:
        """The pieces that merging never crosses, added tokens not considered."""

    @abstractmethod
    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes behind ids."""


def _chosen(
    tokens: Mapping[str, AddedToken], allowed: frozenset[str], forbidden: frozenset[str]
) -> tuple[Tokens, Mapping[str, AddedToken]]:
    matched = {spelling: t for spelling, t in tokens.items() if not t.special or t.content in allowed}
    forbidden_ones = {spelling: t for spelling, t in tokens.items() if t.content in forbidden}
    return matched if allowed or not matched else {spelling: matched.get(spelling) for spelling in tokens}, forbidden_ones


def _refuse(text: str, tokens: Tokens) -> None:
    for part in split_on_added_tokens(text, tokens):
        if isinstance(part, AddedToken):
            raise DisallowedSpecialTokenError(part.content)


class ReferenceEngine(Reference):
    """Runs a byte-level spec."""

    def __init__(self, spec: TokenizerSpec) -> None:
        super().__init__(spec)
        vocab = spec.vocab
        self._byte_ids = [vocab[bytes([byte])] for byte in range(256)]
        self._ranks = {(vocab[a], vocab[b]): (rank, vocab[a + b]) for rank, (a, b) in enumerate(spec.merges)}
        self._bytes_of = {token_id: token for token, token_id in vocab.items()}
        self._bytes_of |= {token.id: token.content.encode() for token in spec.added_tokens}
        self._normalizer = NormalizerReference(spec.normalizer, spec.add_prefix_space)
        self._normalizer.as_sought(
            [token for token in spec.added_tokens if token.normalized]
        )  # raises for what cannot be told apart

    def policy(self, allowed: frozenset[str], forbidden: frozenset[str]) -> ReferencePolicy:
        """What to do with added tokens, some of which are looked for in normalised text."""
        tokens = self._spec.added_tokens
        written = {token.content: token for token in tokens if not token.normalized}
        normalised = self._normalizer.as_sought([token for token in tokens if token.normalized])
        return ReferencePolicy(*_chosen(written, allowed, forbidden), *_chosen(normalised, allowed, forbidden))

    def policy_of_parts(self, text: str, lengths: Sequence[int], trusts: bytes) -> ReferencePolicy:
        """A policy for one text, which is in parts. `lengths`: in characters; `trusts`: the number of each in `TRUSTS`.

        Tokens that are looked for in normalised text are matched everywhere if normalising changes anything: it is up to the
        caller to look where they were found.
        """
        of_character = _trust_of_characters(lengths, trusts)
        written, normalised = ([t for t in self._spec.added_tokens if t.normalized == kind] for kind in (False, True))
        places = occurrences_in_parts(text, written, of_character)
        if self._spec.normalizer:
            return ReferencePolicy((), (), self._normalizer.as_sought(normalised), places=tuple(places))
        final: list[Place] = []
        for start, stop, token in cut_at(text, places):
            if token is not None:
                final.append((start, stop, AddedToken(token.content, token.id)))
                continue
            stretch = text[start:stop]
            for first, last, found in cut_at(stretch, occurrences_in_parts(stretch, normalised, of_character[start:stop])):
                if found is not None:
                    final.append((start + first, start + last, AddedToken(found.content, found.id)))
        return ReferencePolicy((), (), places=tuple(final))

    def added_ids(self, text: str, policy: ReferencePolicy) -> list[int]:
        """The ids of the added tokens that a text is cut at."""
        ids = []
        for start, stop, token in policy.cut(text):
            stretch = "" if token is not None else self._normalizer.apply(text[start:stop])
            inside = added_token_spans(stretch, policy.match_normalised)
            ids += [token.id] if token is not None else [found.id for _, _, found in inside if found is not None]
        return ids

    def encode(self, text: str, policy: ReferencePolicy) -> list[int]:
        """Ids of a text."""
        text = self.checked(text, policy)
        ids: list[int] = []
        for start, stop, token in policy.cut(text):
            ids += [token.id] if token is not None else self._encode_stretch(text[start:stop], policy)
        return ids

    def _encode_stretch(self, text: str, policy: ReferencePolicy) -> Iterator[int]:
        text = self._normalizer.apply(text)
        _refuse(text, policy.forbid_normalised)
        for part in split_on_added_tokens(text, policy.match_normalised):
            if isinstance(part, AddedToken):
                yield part.id
                continue
            for piece in self._split(part):
                yield from self.encode_piece(piece.encode())

    def encode_with_spans(self, text: str, policy: ReferencePolicy, characters: bool) -> list[Placed]:
        """The ids of a text, with their places. Text that no piece holds belongs to none; an added token is a piece.

        What normalising made stands for a whole character, the first of those it was made of; an added space for the text\x27s first.
        """
        text = self.checked(text, policy)
        spans: list[Placed] = []
        piece = itertools.count()
        for start, stop, token in policy.cut(text):
            done = _bytes_in(text[:start])
            if token is not None:
                spans.append(Placed(token.id, done, _bytes_in(text[:stop]), next(piece), is_added=True))
                continue
            spans += [
                place._replace(start=done + place.start, stop=done + place.stop)
                for place in self._stretch_spans(text[start:stop], policy, piece)
            ]
        if not characters:
            return spans
        of_byte = [n for n, character in enumerate(text) for _ in character.encode()]
        return [place._replace(start=of_byte[place.start], stop=of_byte[place.stop - 1] + 1) for place in spans]

    def _stretch_spans(self, stretch: str, policy: ReferencePolicy, piece: Iterator[int]) -> Iterator[Placed]:
        text = self._normalizer.apply(stretch)
        _refuse(text, policy.forbid_normalised)
        origins = self._normalizer.origins(stretch, text)
        for first, last, token in added_token_spans(text, policy.match_normalised):
            bytes_from = _origins_of_bytes(stretch, text[first:last], origins[first:last])
            if token is not None:
                yield Placed(token.id, bytes_from[0][0], bytes_from[-1][1], next(piece), is_added=True)
                continue
            part = text[first:last]
            if self._normalizer.prefixed(part) != part:
                part = self._normalizer.prefixed(part)
                bytes_from.insert(0, (bytes_from[0][0], bytes_from[_bytes_in(part[1]) - 1][1]))
            for piece_first, piece_last in staged_spans(part, self._spec.pattern, self._spec.unmatched, self._spec.stages):
                done, number = _bytes_in(part[:piece_first]), next(piece)
                for token_id in self.encode_piece(part[piece_first:piece_last].encode()):
                    begin, done = done, done + len(self._bytes_of[token_id])
                    yield Placed(token_id, bytes_from[begin][0], bytes_from[done - 1][1], number, is_added=False)

    def pretokenize(self, text: str) -> list[str]:
        """The pieces of a text, added tokens not considered."""
        return self._split(self._normalizer.apply(as_unicode(text)))

    def _split(self, text: str) -> list[str]:
        """The pieces of a normalised stretch."""
        return pretokenize(self._normalizer.prefixed(text), self._spec.pattern, self._spec.unmatched, self._spec.stages)

    def encode_piece(self, piece: bytes, whole: bool = True) -> list[int]:
        """Ids of one piece. `whole`: as a token where it is one and merges are ignored for those."""
        if whole and self._spec.ignore_merges and piece in self._spec.vocab:
            return [self._spec.vocab[piece]]
        return merge_by_rank([self._byte_ids[byte] for byte in piece], self._ranks)

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes of the tokens, joined."""
        try:
            return b"".join([self._bytes_of[index(token_id)] for token_id in ids])
        except KeyError as error:
            raise UnknownTokenError(f"id {error.args[0]!r} is not in the vocabulary") from None


def _origins_of_bytes(stretch: str, text: str, origins: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """For each byte of a text, first and last + 1 byte of what it was made of, where origins are in characters.

    Bytes of a character that was left as it is come from themselves, others from whole characters.
    """
    byte_at = [0, *accumulate(map(_bytes_in, stretch))]
    found = []
    for character, (first, last) in zip(text, origins, strict=True):
        start, stop = byte_at[first], byte_at[last]
        is_unchanged = character == stretch[first:last]
        found += [(start + n, start + n + 1) if is_unchanged else (start, stop) for n in range(_bytes_in(character))]
    return found


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


Ties: TypeAlias = Literal["lowest ids", "lowest characters", "first seen"]

_place_of_byte = {byte: place for place, byte in enumerate(sorted(range(256), key=bytes_to_unicode().__getitem__))}
_orders: dict[Ties, Callable[[tuple[int, Pair]], Any]] = {
    "lowest ids": lambda item: (item[0], *(-token_id for token_id in item[1])),
    "lowest characters": lambda item: (item[0], *(-_place_of_byte.get(token_id, token_id) for token_id in item[1])),
    "first seen": lambda item: item[0],
}


def train_merges(
    word_counts: dict[bytes, int],
    num_merges: int,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    ties: Ties = "lowest ids",
    *,
    start: Sequence[Pair] = (),
    forbids: Callable[[bytes, bytes], bool] | None = None,
) -> list[Pair]:
    """Learn merges from counted pieces. Ids 0..255 are the bytes, the n-th merge makes id 256 + n.

    Each step merges the most frequent pair; of equally frequent ones the pair with the lowest ids, left id first; or the same with the
    bytes in the order of the characters that stand for them in GPT-2's files; or the one that stands first in the words as they are by
    then, as in minbpe. Pairs seen fewer than `min_frequency` times, or that
    would make more than `max_token_length` bytes, are never merged.

    start: merges that are done first, in order, however rare; they are the first of the result. forbids: asked for a pair of tokens
    before it is merged for the first time; a pair that it forbids never is.

    >>> train_merges({b"aaabdaaabac": 1}, 3)
    [(97, 97), (97, 98), (256, 257)]
    """
    words = [(list(word), count) for word, count in word_counts.items()]
    tokens = [bytes([byte]) for byte in range(256)]
    merges: list[Pair] = []

    def merge(pair: Pair) -> None:
        nonlocal words
        words = [(merge_pair(ids, pair, len(tokens)), count) for ids, count in words]
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
        merges.append(pair)

    def may_merge(left: int, right: int) -> bool:
        fits = max_token_length is None or len(tokens[left]) + len(tokens[right]) <= max_token_length
        return fits and not (forbids and forbids(tokens[left], tokens[right]))

    for pair, count in count_pairs(words).items():
        if count >= 1 << 63:
            raise CorpusError(
                f"the pair of tokens {pair[0]} and {pair[1]} occurs more than 2^63 times; lower the weights of the words"
            )
    for pair in start:
        merge(pair)
    while len(merges) < num_merges:
        fits = ((count, pair) for pair, count in count_pairs(words).items() if may_merge(*pair))
        count, pair = max(fits, key=_orders[ties], default=(0, (0, 0)))
        if count < max(min_frequency, 1):
            break
        merge(pair)
    return merges
