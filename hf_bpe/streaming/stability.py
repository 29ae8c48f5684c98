"""How much of a text is certain: which of its first ids no further text can change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from hf_bpe.cuts import can_cut, last_cut
from hf_bpe.engine import Encoder
from hf_bpe.pieces import SPACE_SYMBOL, SentencePieceRules
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.streaming.added import AddedTokens, Stretch
from hf_bpe.streaming.borders import PieceBorders, piece_borders
from hf_bpe.streaming.crossings import Crossings

__all__ = ["Stability", "Stable", "stability_of"]

SpecialTokens: TypeAlias = Literal["all"] | Collection[str]


class Stable(NamedTuple):
    """Ids, and how much of the text, in characters, they stand for. What follows may be encoded as a text of its own."""

    ids: list[int]
    stop: int


Stability: TypeAlias = Callable[[str], Stable]

_NOTHING = Stable([], 0)


def stability_of(encoder: Encoder, allowed_special: SpecialTokens, disallowed_special: SpecialTokens) -> Stability | None:
    """What finds the certain beginning of a text, encoded with these options; None where nothing can be proved.

    Nothing is proved of patterns that look at what precedes a match, of tokens with `single_word`, and of normalizers that look
    at a whole text; and, of SentencePiece models, of those with charsmaps, with spaces as suffix, and with user-defined pieces
    that hold spaces and other characters.
    """
    spec = encoder.spec
    chosen = _Chosen(spec, allowed_special, disallowed_special)
    if any(token.single_word for token in chosen.both):
        return None
    options = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
    if spec.sentencepiece is not None:
        return _BetweenWords(encoder, chosen, options) if _may_be_cut_at_spaces(spec.sentencepiece) else None
    lines = _BetweenLines(encoder, chosen, options) if _may_be_cut_at_lines(spec, chosen) else None
    if spec.normalizer or spec.add_prefix_space:
        return lines
    if spec.pattern is not None:
        borders = piece_borders(spec.pattern)
        return lines if borders is None else _BetweenPieces(encoder, chosen, options, borders, lines)
    if spec.stages or spec.ignore_merges:
        return None
    return _BetweenCharacters(encoder, chosen, options)


class _Chosen:
    """The added tokens that matter."""

    def __init__(self, spec: TokenizerSpec, allowed: SpecialTokens, disallowed: SpecialTokens) -> None:
        def is_named(token: AddedToken, names: SpecialTokens) -> bool:
            return token.special and (names == "all" or token.content in names)

        matched = [token for token in spec.added_tokens if not token.special or is_named(token, allowed)]
        forbidden = [t for t in spec.added_tokens if is_named(t, disallowed) and not is_named(t, allowed)]
        if disallowed != "all":
            forbidden = [token for token in spec.added_tokens if is_named(token, disallowed)]
        self.both = [*matched, *forbidden]
        self.finder = AddedTokens(matched, forbidden)


# -- at white space ---------------------------------------------------------------------------------------------------


def _may_be_cut_at_lines(spec: TokenizerSpec, chosen: _Chosen) -> bool:
    """As long documents are when they are trained on or encoded; see `hf_bpe.cuts`."""
    return can_cut(spec.pattern, spec.normalizer, spec.add_prefix_space) and not any(
        "\n" in token.content or token.normalized or token.lstrip or token.rstrip for token in chosen.both
    )


class _BetweenLines:
    """Cuts where a line begins with a letter or digit, by the proof of `hf_bpe.cuts`."""

    def __init__(self, encoder: Encoder, chosen: _Chosen, options: dict[str, Any]) -> None:
        self._encoder, self._chosen, self._options = encoder, chosen, options

    def __call__(self, text: str) -> Stable:
        cut = last_cut(text, self._chosen.finder.certain_until(text))
        return Stable(self._encoder.encode(text[:cut], **self._options), cut) if cut else _NOTHING


def _may_be_cut_at_spaces(rules: SentencePieceRules) -> bool:
    if rules.precompiled_charsmap or rules.treat_whitespace_as_suffix or not rules.escape_whitespaces:
        return False
    if rules.prepend_scheme == "never" and rules.remove_extra_whitespaces:
        return False
    user_defined = [piece.content for piece in rules.pieces if piece.kind == "user_defined"]
    spaces = {" ", SPACE_SYMBOL}
    mixed = any(spaces & set(content) and (set(content) - spaces or len(content) == 1) for content in user_defined)
    symbol = next((piece for piece in rules.pieces if piece.content == SPACE_SYMBOL), None)
    return not mixed and symbol is not None and symbol.kind == "normal"


class _BetweenWords:
    """Cuts a SentencePiece model's text at a single space between words.

    The space becomes U+2581, which no piece holds behind the character that stands before it; so nothing merges over the
    border, and the words before are encoded as if the text ended there. The rest is encoded as a text of its own: there the
    space is the one that is put before every text, or is kept where none is.
    """

    def __init__(self, encoder: Encoder, chosen: _Chosen, options: dict[str, Any]) -> None:
        self._encoder, self._chosen, self._options = encoder, chosen, options
        rules = encoder.spec.sentencepiece
        if rules is None:
            raise ValueError("a byte-level spec has no words")
        self._keeps_space = rules.prepend_scheme == "never"
        contents = [piece.content for piece in rules.pieces if piece.kind in ("normal", "unused")]
        self._joined = {
            content[place - 1] for content in contents for place in range(1, len(content)) if content[place] == SPACE_SYMBOL
        } | {" ", SPACE_SYMBOL}

    def __call__(self, text: str) -> Stable:
        end = self._chosen.finder.certain_until(text) - 1
        stretches = [*self._chosen.finder.stretches(text)]
        for stretch in reversed(stretches):
            if stretch.token is not None:
                continue
            # Not the last character of a stretch: spaces there may have to go, or belong to what follows.
            space = self._last_space(text, stretch.start, min(end, stretch.stop - 1))
            if space:
                cut = space if self._keeps_space else space + 1
                return Stable(self._encoder.encode(text[:space], **self._options), cut)
        return _NOTHING

    def _last_space(self, text: str, start: int, end: int) -> int:
        """The last place, from `start + 1` on, of a space before `end` where the text may be cut; 0 if there is none."""
        space = text.rfind(" ", start + 1, end)
        while space > start:
            if text[space - 1] not in self._joined and text[space + 1] not in (" ", SPACE_SYMBOL):
                return space
            space = text.rfind(" ", start + 1, space)
        return 0


# -- at borders of pieces and characters ------------------------------------------------------------------------------


class _BetweenPieces:
    """Cuts between pieces that the pattern makes whatever follows, and behind added tokens."""

    def __init__(
        self, encoder: Encoder, chosen: _Chosen, options: dict[str, Any], borders: PieceBorders, lines: _BetweenLines | None
    ) -> None:
        self._encoder, self._chosen, self._options = encoder, chosen, options
        self._borders = borders
        self._lines = lines
        self._has_gaps = encoder.spec.unmatched == "drop"

    def __call__(self, text: str) -> Stable:
        sure = self._lines(text) if self._lines is not None and len(text) > _LONG else _NOTHING
        ids, stop = sure.ids, sure.stop
        text = text[stop:]
        aligned = self._encoder.align(text, **self._options)
        firsts, last_piece = [], -1
        numbers = aligned.pieces.tolist()
        for place, number in enumerate(numbers):
            if number != last_piece:
                firsts.append(place)
                last_piece = number
        firsts.append(len(numbers))
        starts, stops = aligned.starts.tolist(), aligned.stops.tolist()
        pieces = [(starts[first], stops[following - 1], following) for first, following in pairwise(firsts)]
        certain, count = self._certain(text, pieces)
        return Stable(ids + aligned.ids[:count].tolist(), stop + certain)

    def _certain(self, text: str, pieces: list[tuple[int, int, int]]) -> tuple[int, int]:
        """How far the certain pieces reach, and how many ids they have. A piece: start, stop, number of ids up to its end."""
        limit = self._chosen.finder.certain_until(text)
        stretches = [*self._chosen.finder.stretches(text)]
        place = count = number = 0
        for stretch, following in zip(stretches, [*stretches[1:], None], strict=True):
            if stretch.token is not None:
                if not stretch.is_certain:
                    break
                place, count, number = stretch.stop, pieces[number][2], number + 1
                continue
            at_end = following is not None and following.is_certain
            end = stretch.stop if at_end else min(stretch.stop, limit)
            done, gap = stretch.start, False
            while number < len(pieces) and pieces[number][0] < stretch.stop:
                start, stop, ids = pieces[number]
                if start > done and not self._borders.is_gap(text, done, start, end, at_end=at_end):
                    return place, count
                if stop <= end and self._borders.is_piece(text, start, stop, end, at_end=at_end):
                    place, count = stop, ids
                elif self._has_gaps or not self._borders.is_gap(text, start, stop, end, at_end=at_end):
                    return place, count
                done, number = stop, number + 1
            if not at_end:
                break
            place = stretch.stop if number == len(pieces) or pieces[number][0] >= stretch.stop else place
            count = pieces[number - 1][2] if number else 0
        return place, count


_LONG = 1 << 12


class _BetweenCharacters:
    """Cuts text without a pattern between characters that no token holds side by side, and behind added tokens."""

    def __init__(self, encoder: Encoder, chosen: _Chosen, options: dict[str, Any]) -> None:
        self._encoder, self._chosen, self._options = encoder, chosen, options
        self._crossings = Crossings(encoder.spec.vocab)

    def __call__(self, text: str) -> Stable:
        cut = self._last_cut(text)
        return Stable(self._encoder.encode(text[:cut], **self._options), cut) if cut else _NOTHING

    def _last_cut(self, text: str) -> int:
        limit = self._chosen.finder.certain_until(text)
        certain: Iterator[Stretch] = iter([*self._chosen.finder.stretches(text)][::-1])
        for stretch in certain:
            if stretch.token is not None and stretch.is_certain:
                return stretch.stop
            if stretch.token is None:
                end = min(stretch.stop, limit)
                cut = self._crossings.last_uncrossed(text, stretch.start, end + (end < len(text)))
                if cut > stretch.start:
                    return cut
        return 0
