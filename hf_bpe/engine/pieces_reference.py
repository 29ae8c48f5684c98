"""The definition of the SentencePiece dialect, in plain Python; the oracle of the tests.

Read it top to bottom: normalise the text, cut it into characters and user-defined pieces, merge the neighbours that make the
piece with the highest score (the leftmost of equals) until none is left, take unused pieces apart again, and write what is no
piece as its bytes or as the unknown piece. The native engine must give the same on every input.

All of it happens on UTF-8, as in SentencePiece: a charsmap may replace parts of characters, or by parts of characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import accumulate, count, groupby
from operator import index
from typing import NamedTuple

from hf_bpe.charsmap import Charsmap
from hf_bpe.engine.reference import Placed, Reference, ReferencePolicy, as_unicode
from hf_bpe.errors import UnknownTokenError
from hf_bpe.pieces import SPACE_SYMBOL, Piece, SentencePieceRules, byte_piece, piece_bytes
from hf_bpe.spec import TokenizerSpec

__all__ = ["PiecesReference"]

_SPACE = SPACE_SYMBOL.encode()
_REPLACEMENT = "\ufffd".encode()
_MOST_USER_DEFINED_AT_ONE_PLACE = 64


# ---------------------------------------------------------------------------------------------------------------------
# Characters


def _character_length(text: bytes, start: int) -> int:
    """The length of the character at a place, or 0 where there is none: bytes that are not UTF-8."""
    length = _claimed_length(text[start])
    try:
        text[start : start + length].decode()
    except UnicodeDecodeError:
        return 0
    return length


def _claimed_length(byte: int) -> int:
    """How many bytes a character takes that begins with this byte. 1 where none does."""
    return 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1


class UserDefined:
    """The user-defined pieces, found before anything else."""

    def __init__(self, rules: SentencePieceRules) -> None:
        self._contents = {piece.content.encode() for piece in rules.pieces if piece.kind == "user_defined"}
        self._lengths = sorted({len(content) for content in self._contents})

    def length_at(self, text: bytes, start: int) -> int:
        """The length of the longest at a place; of more than 64 that begin one another, of the shortest 64. 0: none."""
        found = [length for length in self._lengths if text[start : start + length] in self._contents]
        return found[:_MOST_USER_DEFINED_AT_ONE_PLACE][-1] if found else 0


# ---------------------------------------------------------------------------------------------------------------------
# Normalising


def replacements(
    text: bytes, charsmap: Charsmap | None, user_defined: Callable[[bytes, int], int], malformed: bytes | None = _REPLACEMENT
) -> Iterator[tuple[int, bytes]]:
    """The text bit by bit: where each begins, and what it becomes. `malformed`: what a byte that is not UTF-8 becomes, or None
    where it stays.
    """
    start = 0
    while start < len(text):
        stop, content = start + user_defined(text, start), b""
        found = charsmap.longest(text, start) if charsmap is not None and stop == start else None
        if found is not None:
            stop, content = found
        elif stop > start or (stop := start + _character_length(text, start)) > start:
            content = text[start:stop]
        else:
            stop, content = start + 1, malformed or text[start : start + 1]
        yield start, content
        start = stop


def normalise(
    text: bytes, rules: SentencePieceRules, charsmap: Charsmap | None, user_defined: UserDefined, *, with_space: bool
) -> tuple[bytes, list[int]]:
    """The text that is merged, and for each byte of it, and its end, the place in `text` it came from.

    with_space: whether the dummy prefix (or suffix) is added.
    """
    space = _SPACE if rules.escape_whitespaces else b" "
    trims = rules.remove_extra_whitespaces
    bits = list(replacements(text, charsmap, user_defined.length_at))
    first = next((n for n, (_, content) in enumerate(bits) if content != b" " or not trims), len(bits))
    if first == len(bits):
        return b"", [0]
    normalised, origins = bytearray(), []
    with_suffix = with_space and rules.treat_whitespace_as_suffix

    def append(content: bytes, origin: int) -> None:
        normalised.extend(content)
        origins.extend([origin] * len(content))

    if with_space and not with_suffix:
        append(space, bits[first][0])
    after_space = trims
    for start, content in bits[first:]:
        kept = content.lstrip(b" ") if after_space else content
        append(kept.replace(b" ", space), start)
        if kept:
            after_space = trims and kept.endswith(b" ")
    end = len(text)
    while trims and normalised.endswith(space):
        end = origins[len(normalised) - len(space)]
        del normalised[-len(space) :], origins[-len(space) :]
    if with_suffix:
        append(space, end)
    return bytes(normalised), [*origins, end]


# ---------------------------------------------------------------------------------------------------------------------
# Merging


class Findable(NamedTuple):
    """What has to be known of a piece that text can hold: a character or the product of merging."""

    token_id: int
    score: float
    is_unused: bool


def cut(text: bytes, user_defined: UserDefined) -> Iterator[tuple[bytes, bool]]:
    """The symbols that merging starts from, and whether each is frozen: merges with nothing."""
    start = 0
    while start < len(text):
        length = user_defined.length_at(text, start)
        stop = start + (length or _claimed_length(text[start]))
        yield text[start:stop], length > 0
        start = stop


def _borders_of_frozen(symbols: Sequence[tuple[bytes, bool]]) -> set[int]:
    """Where frozen symbols begin and end within the text."""
    ends = list(accumulate(len(content) for content, _ in symbols))
    frozen = [(end - len(content), end) for (content, is_frozen), end in zip(symbols, ends, strict=True) if is_frozen]
    return {place for span in frozen for place in span} - {0}


def merge(symbols: Sequence[tuple[bytes, bool]], pieces: dict[bytes, Findable]) -> list[bytes]:
    """Merge the neighbours that make the piece with the highest score, the leftmost of equals, until none do.

    An agenda holds the pairs that can merge; one whose halves have changed since is passed over. Looking at all pairs again
    after each merge would say the same in fewer lines, and take hours for a document.
    """
    contents: list[bytes] = [content for content, _ in symbols]
    left_of = list(range(-1, len(contents) - 1))
    right_of = [*range(1, len(contents)), -1]
    agenda: list[tuple[float, int, int, int]] = []
    halves: dict[bytes, tuple[bytes, bytes]] = {}

    def propose(left: int, right: int) -> None:
        if left < 0 or right < 0 or symbols[left][1] or symbols[right][1]:
            return
        whole = contents[left] + contents[right]
        piece = pieces.get(whole)
        if piece is not None:
            heappush(agenda, (-piece.score, left, right, len(whole)))
            if piece.is_unused:
                halves[whole] = contents[left], contents[right]

    for left in range(len(contents) - 1):
        propose(left, left + 1)
    while agenda:
        _, left, right, length = heappop(agenda)
        if not contents[left] or not contents[right] or len(contents[left]) + len(contents[right]) != length:
            continue
        contents[left] += contents[right]
        contents[right] = b""
        right_of[left] = right_of[right]
        if right_of[left] >= 0:
            left_of[right_of[left]] = left
        propose(left_of[left], left)
        propose(left, right_of[left])
    return [part for content in contents if content for part in take_apart(content, halves)]


def take_apart(content: bytes, halves: dict[bytes, tuple[bytes, bytes]]) -> list[bytes]:
    """An unused piece as the two it was made of, and those again; any other as it is."""
    waiting, parts = [content], []
    while waiting:
        part = waiting.pop()
        if part in halves:
            waiting += reversed(halves[part])
        else:
            parts.append(part)
    return parts


# ---------------------------------------------------------------------------------------------------------------------
# Decoding


class Surface(NamedTuple):
    """What an id becomes in decoded text. has_space: it begins with a space that was written U+2581."""

    content: bytes
    is_byte: bool = False
    has_space: bool = False


def surface_of(piece: Piece, rules: SentencePieceRules) -> Surface:
    """What a piece becomes: control pieces nothing, bytes themselves, U+2581 a space."""
    if piece.kind == "control":
        return Surface(b"")
    if piece.kind == "unknown":
        return Surface(rules.unk_surface.encode())
    return Surface(piece_bytes(piece), piece.kind == "byte", piece.content.startswith(SPACE_SYMBOL))


# ---------------------------------------------------------------------------------------------------------------------
# The engine


class PiecesReference(Reference):
    """Runs a spec of the dialect "sentencepiece"."""

    def __init__(self, spec: TokenizerSpec) -> None:
        super().__init__(spec)
        rules = spec.sentencepiece
        if rules is None:
            raise ValueError("a byte-level spec is run by ReferenceEngine")
        self._rules = rules
        self._findable = {
            piece.content.encode(): Findable(token_id, piece.score, piece.kind == "unused")
            for token_id, piece in enumerate(rules.pieces)
            if piece.kind in ("normal", "user_defined", "unused")
        }
        self._byte_ids = [spec.vocab[byte_piece(byte).encode()] for byte in range(256)] if rules.byte_fallback else []
        self._user_defined = UserDefined(rules)
        self._charsmap = Charsmap(rules.precompiled_charsmap) if rules.precompiled_charsmap else None
        self._denormaliser = Charsmap(rules.denormalizer_charsmap) if rules.denormalizer_charsmap else None
        self._surfaces = {token.id: Surface(token.content.encode()) for token in spec.added_tokens}
        self._surfaces |= {token_id: surface_of(piece, rules) for token_id, piece in enumerate(rules.pieces)}

    # -- encoding -----------------------------------------------------------------------------------------------------

    def encode(self, text: str, policy: ReferencePolicy) -> list[int]:
        """Ids of a text."""
        return [span.token_id for span in self._spans(text, policy, own_bytes=False)[1]]

    def encode_with_spans(self, text: str, policy: ReferencePolicy, characters: bool) -> list[Placed]:
        """The ids of a text, with their places in characters or bytes. User-defined pieces cut the text."""
        text, spans = self._spans(text, policy, own_bytes=not characters)
        if not characters:
            return spans
        of_byte = [number for number, character in enumerate(text) for _ in character.encode()] + [len(text)]
        return [span._replace(start=of_byte[span.start], stop=of_byte[span.stop]) for span in spans]

    def _spans(self, text: str, policy: ReferencePolicy, *, own_bytes: bool) -> tuple[str, list[Placed]]:
        text = self.checked(text, policy)
        spans: list[Placed] = []
        done = pieces = 0
        for start, stop, token in policy.cut(text):
            stretch = text[start:stop].encode()
            if token is not None:
                spans.append(Placed(token.id, done, done + len(stretch), pieces, is_added=True))
            else:
                found = self._encode_stretch(stretch, at_start=start == 0, own_bytes=own_bytes)
                spans += [
                    Placed(n, done + start, done + stop, pieces + piece, is_added) for n, start, stop, piece, is_added in found
                ]
            done += len(stretch)
            pieces = spans[-1].piece + 1 if spans else 0
        return text, spans

    def _normalise(self, stretch: bytes, *, at_start: bool) -> tuple[bytes, list[int]]:
        scheme = self._rules.prepend_scheme
        with_space = scheme == "always" or (scheme == "first" and at_start)
        if not self._rules.prefix_before_space and stretch.startswith((b" ", _SPACE)):
            with_space = False
        return normalise(stretch, self._rules, self._charsmap, self._user_defined, with_space=with_space)

    def _encode_stretch(self, stretch: bytes, *, at_start: bool, own_bytes: bool) -> Iterator[Placed]:
        normalised, origins = self._normalise(stretch, at_start=at_start)
        unknown: Placed | None = None  # not yet given out, for the next may join it
        symbols = list(cut(normalised, self._user_defined))
        borders = _borders_of_frozen(symbols)
        end = number = 0
        for content in merge(symbols, self._findable):
            begin, end = end, end + len(content)
            number += begin in borders
            piece = self._findable.get(content)
            if piece is not None and piece.is_unused:  # a character: it does not come apart, so it is unknown
                piece = None
            token_id = piece.token_id if piece else self._rules.unk_id
            span = Placed(token_id, origins[begin], origins[end], number, is_added=False)
            if piece is None and not self._rules.byte_fallback:
                unknown = span if unknown is None else unknown._replace(stop=span.stop)
                continue
            if unknown is not None:
                yield unknown
                unknown = None
            if piece is None:
                yield from self._spans_of_bytes(content, span, stretch, own_bytes=own_bytes)
            else:
                yield span
        if unknown is not None:
            yield unknown

    def _spans_of_bytes(self, content: bytes, span: Placed, stretch: bytes, *, own_bytes: bool) -> Iterator[Placed]:
        """Byte pieces for a character that is no piece, each with its own byte if the text has it and that is wanted."""
        has_them = own_bytes and stretch[span.start : span.stop] == content
        for byte, place in zip(content, count(span.start), strict=False):
            start, stop = (place, place + 1) if has_them else (span.start, span.stop)
            yield span._replace(token_id=self._byte_ids[byte], start=start, stop=stop)

    def pretokenize(self, text: str) -> list[str]:
        """The text as it is merged, if anything of it is left; added tokens not considered."""
        normalised, _ = self._normalise(as_unicode(text).encode(), at_start=True)
        return [normalised.decode("utf-8", "replace")] if normalised else []

    # -- decoding -----------------------------------------------------------------------------------------------------

    def decode(self, ids: Sequence[int]) -> str:
        """The text behind ids. Each byte that is no part of a character is one U+FFFD."""
        return self._denormalise(self._join(ids, _REPLACEMENT), _REPLACEMENT).decode("utf-8", "replace")

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The same with those bytes left as they are."""
        return self._denormalise(self._join(ids, None), None)

    def _denormalise(self, text: bytes, malformed: bytes | None) -> bytes:
        if self._denormaliser is None:
            return text
        return _joined(replacements(text, self._denormaliser, _no_user_defined, malformed))

    def _join(self, ids: Sequence[int], malformed: bytes | None) -> bytes:
        """The text of the pieces. Where the text begins, one space goes with a dummy prefix, all with spaces removed.

        Bytes make characters only with bytes right beside them: a piece between them, even one without text, keeps them apart.
        """
        rules = self._rules
        drops_space = rules.prepend_scheme != "never" or rules.remove_extra_whitespaces
        text = bytearray()
        for is_run_of_bytes, surfaces in groupby(map(self._surface, ids), lambda surface: surface.is_byte):
            if is_run_of_bytes:
                run = b"".join(surface.content for surface in surfaces)
                text += _joined(replacements(run, None, _no_user_defined, malformed))
                continue
            for surface in surfaces:
                content = surface.content
                if drops_space and surface.has_space and not text:
                    content = content[1:]
                    drops_space = rules.remove_extra_whitespaces
                text += content
        return bytes(text)

    def _surface(self, token_id: int) -> Surface:
        try:
            return self._surfaces[index(token_id)]
        except KeyError as error:
            raise UnknownTokenError(f"id {error.args[0]!r} is not in the vocabulary") from None


def _no_user_defined(text: bytes, start: int) -> int:
    return 0


def _joined(bits: Iterator[tuple[int, bytes]]) -> bytes:
    return b"".join(content for _, content in bits)
