"""How much of a text is certain: up to where no further text can change its ids."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from hf_bpe.cuts import can_cut, last_cut, normalizes_parts
from hf_bpe.engine import Encoder
from hf_bpe.engine.reference import piece_spans
from hf_bpe.normalizers import describe
from hf_bpe.pattern_syntax.split_automaton import split_automaton
from hf_bpe.pieces import SPACE_SYMBOL, SentencePieceRules
from hf_bpe.spec import TokenizerSpec
from hf_bpe.streaming.added import AddedTokens
from hf_bpe.streaming.crossings import Crossings
from hf_bpe.streaming.piece_borders import PieceBorders

__all__ = ["Cut", "Cutter", "cutter_of", "obstacle_of"]


class Cut(NamedTuple):
    """The ids that begin in `text[:end]`, then those of `text[resume:]` encoded as a text of its own, are those of the whole.

    And so they are whatever follows the text. Where the two places differ, `resume` is behind a space that is put before every text
    anyway; or before a character that keeps such a space away from the rest, and whose ids are not to be given again. Encoded
    by itself, `text[:end]` could give others: white space that stands before a word is split another way than at the end.
    """

    end: int
    resume: int


Cutter: TypeAlias = Callable[[str], Cut]
"""Finds the last such place in a text; 0 if there is none."""


_KNOWN: WeakKeyDictionary[Encoder, dict[Hashable, Cutter | str]] = WeakKeyDictionary()
_CUTTERS_KEPT = 16


def cutter_of(
    encoder: Encoder, allowed: frozenset[str], forbidden: frozenset[str], *, rest_alone: bool = False
) -> Cutter | None:
    """What cuts texts that are encoded so; None where nothing can be proved. Made once: tables of 100,000 tokens take 0.3 s.

    rest_alone: no cut may have its `resume` before its `end`.

    Nothing is proved of patterns that look at what precedes a match, of tokens with `single_word`, and of normalizers that look
    at a whole text; and, of SentencePiece models, of those with charsmaps, with spaces as suffix, and with user-defined pieces
    that hold spaces and other characters.
    """
    found = _cutter_or_obstacle(encoder, allowed, forbidden, rest_alone)
    return None if isinstance(found, str) else found


def obstacle_of(encoder: Encoder, allowed: frozenset[str], forbidden: frozenset[str]) -> str | None:
    """Why nothing can be proved of texts that are encoded so; None where something can.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), pattern="a", normalizer=("Strip",))
    >>> obstacle_of(Encoder(spec), frozenset(), frozenset())
    'its normalizer looks at the whole text: Strip'
    """
    found = _cutter_or_obstacle(encoder, allowed, forbidden, rest_alone=True)
    return found if isinstance(found, str) else None


def _cutter_or_obstacle(encoder: Encoder, allowed: frozenset[str], forbidden: frozenset[str], rest_alone: bool) -> Cutter | str:
    known = _KNOWN.setdefault(encoder, {})
    key = allowed, forbidden, rest_alone
    if key not in known:
        while len(known) >= _CUTTERS_KEPT:
            known.pop(next(iter(known)))
        known[key] = _make_cutter(encoder, AddedTokens(encoder.spec, allowed, forbidden), rest_alone)
    return known[key]


def _make_cutter(encoder: Encoder, added: AddedTokens, rest_alone: bool) -> Cutter | str:
    """What cuts, or why nothing does."""
    spec = encoder.spec
    obstacle = added.obstacle()
    if obstacle is not None:
        return obstacle
    if spec.sentencepiece is not None:
        return _obstacle_at_spaces(spec.sentencepiece) or _BetweenWords(spec.sentencepiece, added, rest_alone)
    lines = _BetweenLines(added) if _may_be_cut_at_lines(spec, added) else None
    automaton = split_automaton(spec.pattern) if spec.pattern is not None else None
    borders = PieceBorders(automaton) if automaton is not None else None
    if spec.normalizer or spec.add_prefix_space:
        obstacle = _obstacle_of_normalizer(spec, added)
        if borders is not None and obstacle is None:
            return _BetweenNormalisedPieces(encoder, added, borders, lines)
        return lines or obstacle or _obstacle_of_pattern(spec)
    if borders is not None:
        return _BetweenPieces(encoder, added, borders, lines)
    if spec.pattern is not None or spec.stages or spec.ignore_merges:
        return lines or _obstacle_of_pattern(spec)
    return _BetweenCharacters(added, Crossings(spec.vocab))


def _obstacle_of_normalizer(spec: TokenizerSpec, added: AddedTokens) -> str | None:
    obstacles = {
        "it puts a space before a text (add_prefix_space)": spec.add_prefix_space,
        f"its normalizer looks at the whole text: {describe(spec.normalizer, False)}": not normalizes_parts(
            spec.normalizer, False
        ),
        "it normalises and its pattern leaves text out (unmatched='drop')": spec.unmatched != "keep",
        "it normalises and splits in stages": bool(spec.stages),
        "it looks for added tokens in normalised text": any(token.normalized for token in added.both),
    }
    return next((reason for reason, holds in obstacles.items() if holds), None)


def _obstacle_of_pattern(spec: TokenizerSpec) -> str:
    if spec.pattern is None:
        return "it has no pattern, and normalises or looks pieces up before merging (ignore_merges)"
    return f"its pattern looks back, or is too large for an automaton: {spec.pattern!r:.120}"


# -- at white space ---------------------------------------------------------------------------------------------------


def _may_be_cut_at_lines(spec: TokenizerSpec, added: AddedTokens) -> bool:
    """As long documents are when they are trained on or encoded; see `hf_bpe.cuts`."""
    return can_cut(spec.pattern, spec.normalizer, spec.add_prefix_space) and not any(
        "\n" in token.content or token.normalized or token.lstrip or token.rstrip for token in added.both
    )


class _BetweenLines:
    """Cuts where a line begins with a letter or digit, by the proof of `hf_bpe.cuts`."""

    def __init__(self, added: AddedTokens) -> None:
        self._added = added

    def __call__(self, text: str) -> Cut:
        cut = last_cut(text, self._added.certain_until(text))
        return Cut(cut, cut)


def _obstacle_at_spaces(rules: SentencePieceRules) -> str | None:
    user_defined = [piece.content for piece in rules.pieces if piece.kind == "user_defined"]
    spaces = {" ", SPACE_SYMBOL}
    mixed = [content for content in user_defined if spaces & set(content) and (set(content) - spaces or len(content) == 1)]
    symbol = next((piece for piece in rules.pieces if piece.content == SPACE_SYMBOL), None)
    obstacles = {
        "the model has a charsmap (precompiled_charsmap)": bool(rules.precompiled_charsmap),
        "its white space is a suffix (treat_whitespace_as_suffix)": rules.treat_whitespace_as_suffix,
        "it keeps spaces as they are (escape_whitespaces is False)": not rules.escape_whitespaces,
        "it removes spaces and puts none before a text": rules.prepend_scheme == "never" and rules.remove_extra_whitespaces,
        f"its user-defined piece {mixed[0]!r} holds a space" if mixed else "": bool(mixed),
        "U+2581 is no normal piece of it": symbol is None or symbol.kind != "normal",
    }
    return next((reason for reason, holds in obstacles.items() if holds), None)


class _BetweenWords:
    """Cuts a SentencePiece model's text at a single space between words, behind added tokens, and between characters.

    The space becomes U+2581, which no piece holds behind the character that stands before it; so nothing merges over the
    border, and the words before are encoded as if the text ended there. The rest is encoded as a text of its own: there the
    space is the one that is put before every text, or is kept where none is.

    Between characters that no piece holds side by side nothing merges either. But the rest begins with no space, so unless it
    must stand alone, it goes on with the character before the border.
    """

    def __init__(self, rules: SentencePieceRules, added: AddedTokens, rest_alone: bool) -> None:
        self._added = added
        self._scheme = rules.prepend_scheme
        self._rest_alone = rest_alone
        contents = [piece.content for piece in rules.pieces if piece.kind in ("normal", "unused")]
        self._joined = {" ", SPACE_SYMBOL}
        self._joined |= {before for content in contents for before, symbol in pairwise(content) if symbol == SPACE_SYMBOL}
        self._crossings = Crossings(piece.content.encode() for piece in rules.pieces)
        # Neighbours that are unknown become one unknown piece, so what stands before a border must be known.
        self._known = None if rules.byte_fallback else {piece.content for piece in rules.pieces if piece.kind == "normal"}

    def __call__(self, text: str) -> Cut:
        start, stop = self._added.open_text(text)
        space = self._last_space(text, start, stop)
        inner = 0 if self._rest_alone else self._last_inner(text, max(start, space), stop)
        if inner:
            return Cut(inner, inner - 1)
        if space:
            return Cut(space, space if self._scheme == "never" else space + 1)
        # By itself the rest would get a space that what follows a token does not get.
        return Cut(0, 0) if self._scheme == "first" else Cut(start, start)

    def _last_inner(self, text: str, start: int, stop: int) -> int:
        """The last border behind the first character of `text[start:stop]` where it may be cut, 0 if there is none."""
        places = range(min(stop, len(text) - 1), start, -1)
        return next((place for place in places if self._is_border(text[place - 1], text[place])), 0)

    def _is_border(self, left: str, right: str) -> bool:
        spaces = (" ", SPACE_SYMBOL)
        known = self._known is None or left in self._known
        return known and left not in spaces and right not in spaces and not self._crossings.cross(left, right)

    def _last_space(self, text: str, start: int, stop: int) -> int:
        """The last place of a single space between two characters of `text[start:stop]` where it may be cut; 0: none."""
        space = text.rfind(" ", start + 1, max(stop - 1, 0))
        while space > start:
            if text[space - 1] not in self._joined and text[space + 1] not in (" ", SPACE_SYMBOL):
                return space
            space = text.rfind(" ", start + 1, space)
        return 0


# -- at borders of pieces and characters ------------------------------------------------------------------------------

_LONG = 1 << 12


class _BetweenPieces:
    """Cuts between pieces that the pattern makes whatever follows, and behind added tokens."""

    def __init__(self, encoder: Encoder, added: AddedTokens, borders: PieceBorders, lines: _BetweenLines | None) -> None:
        self._encoder, self._added, self._borders, self._lines = encoder, added, borders, lines

    def __call__(self, text: str) -> Cut:
        # To prove a piece takes 1 us, so of long texts all but the last line is left to a cut that needs no such proof.
        skipped = self._lines(text).end if self._lines is not None and len(text) > _LONG else 0
        text = text[skipped:]
        open_text = self._added.open_text(text)
        cut = skipped + open_text.start + self._last_border(text[open_text.start : open_text.stop])
        return Cut(cut, cut)

    def _last_border(self, text: str) -> int:
        return last_certain_end(self._borders, text, self._spans(text))

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        spec = self._encoder.spec
        if spec.pattern is not None and (spec.unmatched == "drop" or spec.stages):
            return iter(piece_spans(text, spec.pattern, spec.unmatched))  # which the engine does not tell
        return pairwise(accumulate(map(len, self._encoder.pretokenize(text)), initial=0))


def last_certain_end(borders: PieceBorders, text: str, spans: Iterator[tuple[int, int]]) -> int:
    """Where the last piece ends that is one whatever follows, and so are all before it. `spans`: the pieces if nothing follows."""
    certain = done = 0
    for start, stop in spans:
        if start > done and not borders.is_gap(text, done, start):
            break
        if borders.is_piece(text, start, stop):
            certain = stop
        elif not borders.is_gap(text, start, stop):
            break
        done = stop
    return certain


class _BetweenNormalisedPieces(_BetweenPieces):
    """The same where text is normalised first, by steps that change nothing across the place before certain characters.

    ASCII and Chinese characters are such: they are no second half of any composition.
    """

    def _last_border(self, text: str) -> int:
        end = _last_inert(text, len(text))
        pieces = self._encoder.pretokenize(text[:end])
        normalised = "".join(pieces)
        spans = pairwise(accumulate(map(len, pieces), initial=0))
        certain = last_certain_end(self._borders, normalised, spans)
        ends = {*accumulate(map(len, pieces))}
        for _ in range(_PLACES_TRIED):
            length = end if normalised.startswith(text[:end]) else len("".join(self._encoder.pretokenize(text[:end])))
            if end <= 0 or (length <= certain and length in ends):
                return max(end, 0)
            end = _last_inert(text, end - 1)
        return 0


_PLACES_TRIED = 16


def _last_inert(text: str, end: int) -> int:
    """The last place before `end` where such a character stands; 0 or less if there is none."""
    return next((n for n in range(min(end, len(text) - 1), 0, -1) if text[n].isascii() or "一" <= text[n] <= "鿿"), 0)


class _BetweenCharacters:
    """Cuts text without a pattern between characters that no token holds side by side, and behind added tokens."""

    def __init__(self, added: AddedTokens, crossings: Crossings) -> None:
        self._added, self._crossings = added, crossings

    def __call__(self, text: str) -> Cut:
        start, stop = self._added.open_text(text)
        cut = self._crossings.last_uncrossed(text, start, stop + (stop < len(text)))
        return Cut(cut, cut)
