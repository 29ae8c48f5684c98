"""`pretokens`: the pieces that a text is cut into before merging, and which alternative of the pattern took each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import count, groupby
from typing import Any, NamedTuple

import regex

from hf_bpe.analysis.tokens import View
from hf_bpe.pattern_syntax import Property, Span, alternatives, render
from hf_bpe.pattern_syntax.code_points import property_members
from hf_bpe.spec import TokenizerSpec

__all__ = ["Alternative", "Pretoken", "pretokens"]

_LONG = 10_000
"""From so many characters on it pays to make a pattern for a text."""


class Alternative(NamedTuple):
    """A branch of a pattern. stage: of which pattern, 0 the first. number: which branch, counted from 1. source: as it is written."""

    stage: int
    number: int
    source: str


class Pretoken(NamedTuple):
    """A piece, whose borders merging never crosses.

    text: as it is merged, that is normalised. tokens: the numbers of the tokens it became. is_added: it is an added token, which no pattern
    splits. matched: for each stage the alternative that took it, or the piece of the stage before that it was cut from; None for text
    between matches, which is a piece of its own. Empty where there is no pattern.
    """

    number: int
    text: str
    in_bytes: tuple[int, int]
    in_characters: tuple[int, int]
    tokens: range
    is_added: bool
    matched: tuple[Alternative | None, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return self._asdict() | {
            "tokens": [self.tokens.start, self.tokens.stop],
            "matched": [None if each is None else each._asdict() for each in self.matched],
        }


class _Cut(NamedTuple):
    """Where a piece stands in a stretch of text, and what took it."""

    start: int
    stop: int
    matched: tuple[Alternative | None, ...]


def pretokens(view: View) -> list[Pretoken]:
    r"""The pieces of a text. Of a SentencePiece model: what user-defined pieces and added tokens leave between them.

    >>> import hf_bpe
    >>> from hf_bpe.analysis import view
    >>> spec = hf_bpe.TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), pattern=r"\s+(?!\S)|\s+|\w+")
    >>> for piece in pretokens(view(spec, "a  b")):
    ...     print(repr(piece.text), piece.in_characters, piece.matched[0].number, piece.matched[0].source)
    'a' (0, 1) 3 \w+
    ' ' (1, 2) 1 \s+(?!\S)
    ' ' (2, 3) 2 \s+
    'b' (3, 4) 3 \w+
    """
    found = list(_pieces(view))
    spec = view.vocabulary.encoder.spec
    if spec.pattern is None or spec.sentencepiece is not None:
        return found
    explained: list[Pretoken] = []
    for is_added, pieces in groupby(found, lambda piece: piece.is_added):
        run = list(pieces)
        explained += run if is_added else _explained(run, view, found)
    return explained


def _pieces(view: View) -> Iterator[Pretoken]:
    """The pieces as the engine cut them."""
    import numpy as np

    if not len(view):
        return
    firsts = np.flatnonzero(np.diff(view.pieces, prepend=view.pieces[:1] + 1))
    lasts = np.append(firsts[1:], len(view)) - 1
    begins = zip(view.in_bytes[firsts, 0].tolist(), view.in_characters[firsts, 0].tolist(), strict=True)
    ends = zip(view.in_bytes[lasts, 1].tolist(), view.in_characters[lasts, 1].tolist(), strict=True)
    tokens = zip(firsts.tolist(), lasts.tolist(), view.added[firsts].tolist(), strict=True)
    spec = view.vocabulary.encoder.spec
    is_changed = spec.sentencepiece is None and _changes(spec)
    for number, (begin, end, (first, last, is_added)) in enumerate(zip(begins, ends, tokens, strict=True)):
        in_bytes, in_characters = zip(begin, end, strict=True)
        if is_changed and not is_added:
            contents = (view.vocabulary.entry(token_id, False).content for token_id in view.ids[first : last + 1].tolist())
            text = b"".join(contents).decode()
        else:
            text = view.text[slice(*in_characters)]
        yield Pretoken(number, text, in_bytes, in_characters, range(first, last + 1), is_added)


def _explained(run: list[Pretoken], view: View, every: list[Pretoken]) -> list[Pretoken]:
    """The pieces of a stretch between added tokens, with what took each. A match may depend on all of the stretch.

    Where text is normalised the stretch is what the pieces hold; if the pattern also drops text, which only a hand-made tokenizer has
    together, the cuts may be others: then nothing is said rather than something wrong.
    """
    spec = view.vocabulary.encoder.spec
    if _changes(spec):
        stretch = "".join(piece.text for piece in run)
    else:
        before, after = run[0].number - 1, run[-1].number + 1
        start = every[before].in_characters[1] if before >= 0 else 0
        stretch = view.text[start : every[after].in_characters[0] if after < len(every) else len(view.text)]
    cuts = _cuts(stretch, spec)
    if [stretch[cut.start : cut.stop] for cut in cuts] != [piece.text for piece in run]:
        return run
    return [piece._replace(matched=cut.matched) for piece, cut in zip(run, cuts, strict=True)]


def _changes(spec: TokenizerSpec) -> bool:
    """Whether text is changed before it is split."""
    return bool(spec.normalizer) or spec.add_prefix_space


def _cuts(text: str, spec: TokenizerSpec) -> list[_Cut]:
    """Where the pattern and the stages cut a text."""
    patterns = [pattern for pattern in (spec.pattern, *spec.stages) if pattern is not None]
    members = _members_among(sorted(map(ord, set(text)))) if len(text) > _LONG else None
    cuts = [_Cut(0, len(text), ())]
    for stage, pattern in enumerate(patterns):
        numbered = _numbered(pattern, stage) if members is None else _compiled(pattern, stage, members)
        keeps = stage > 0 or spec.unmatched == "keep"
        cuts = [inner for outer in cuts for inner in _cut_further(text, outer, numbered, keeps)]
    return cuts


def _cut_further(text: str, outer: _Cut, numbered: _Numbered, keeps_unmatched: bool) -> Iterator[_Cut]:
    """A piece, cut by one more pattern, which sees it as if it were a whole text."""
    done = outer.start
    for match in numbered.pattern.finditer(text[outer.start : outer.stop]):
        start, stop = outer.start + match.start(), outer.start + match.end()
        if start == stop:
            continue
        if start > done and keeps_unmatched:
            yield _Cut(done, start, (*outer.matched, None))
        yield _Cut(start, stop, (*outer.matched, numbered.branches[(match.lastindex or 1) - 1]))
        done = stop
    if done < outer.stop and keeps_unmatched:
        yield _Cut(done, outer.stop, (*outer.matched, None))


class _Numbered(NamedTuple):
    """The branches of a pattern, and the pattern with a group for each. It has no other groups that capture."""

    branches: tuple[Alternative, ...]
    pattern: regex.Pattern[str]


@lru_cache(maxsize=32)
def _numbered(pattern: str, stage: int) -> _Numbered:
    return _compiled(pattern, stage, property_members)


def _compiled(pattern: str, stage: int, members: Callable[[Property], list[Span]]) -> _Numbered:
    branches = alternatives(pattern)
    groups = "|".join(f"({render(branch, 'regex', members)})" for _, branch in branches)
    named = (Alternative(stage, number, source) for number, (source, _) in enumerate(branches, 1))
    return _Numbered(tuple(named), regex.compile(groups))


def _members_among(characters: Sequence[int]) -> Callable[[Property], list[Span]]:
    """The members of properties as far as a text can tell, of whose characters they are: spans over those that are members side by side.

    Spelled out in full, `\\p{L}` is 650 spans, and a megabyte takes 5 s. The `regex` module's own `\\p{L}` is as quick as this, but of
    another version of Unicode.
    """
    absent = next(code_point for code_point in count() if code_point not in characters)

    @cache
    def members(item: Property) -> list[Span]:
        spans = property_members(item)
        firsts = [span.first for span in spans]

        def is_member(code_point: int) -> bool:
            place = bisect_right(firsts, code_point)
            return place > 0 and code_point <= spans[place - 1].last

        runs = [list(run) for belongs, run in groupby(characters, is_member) if belongs]
        return [Span(run[0], run[-1]) for run in runs] or [Span(absent, absent)]

    return members
