"""From the scores of a SentencePiece model to an explicit list of merges, and from such a list back to scores.

SentencePiece merges whichever neighbours spell the piece with the highest score, the leftmost of equals. Other formats list
pairs of pieces, best first. As with ranks (see `merges`), a piece that merging can make at all is always made by one and the
same last pair, so one pair for each piece is enough. What a list cannot say is "the leftmost" among pairs of equal score that
make different pieces: such pairs are put into an order in which none takes a piece away from one further left. Sometimes
there is none: with `ab` and `ba` of equal score `aba` is `ab` `a`, and `bab` is `ba` `b`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import chain, product
from typing import TypeAlias

from conversion.merges import last_pair, merged_parts
from hf_bpe.errors import ConversionRefused
from hf_bpe.pieces import Piece, PieceKind, SentencePieceRules

__all__ = ["Pair", "PieceMerges", "isolated_parts", "merges_of", "pieces_of_merges", "user_defined"]

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class PieceMerges:
    """The merges of a model.

    pairs: best first; one for each piece that merging can make. unreachable: the pieces of several characters that it never
        makes. conflict: why no order of the pairs does what the model does, or None if this one does.
    """

    pairs: tuple[Pair, ...]
    unreachable: frozenset[str]
    conflict: str | None


def user_defined(rules: SentencePieceRules) -> list[str]:
    """The pieces that are found in text before anything else, longest first."""
    return sorted((piece.content for piece in rules.pieces if piece.kind == "user_defined"), key=lambda u: (-len(u), u))


def isolated_parts(texts: Iterable[str], rules: SentencePieceRules) -> list[list[str]]:
    """What merging makes of each of some normalised texts that hold no user-defined piece."""
    rank_of = _ranks(rules)
    return [merged_parts(text, lambda left, right: rank_of.get(left + right)) for text in texts]


@lru_cache(maxsize=4)
def merges_of(rules: SentencePieceRules) -> PieceMerges:
    """The pair that makes each piece, in an order that gives what the scores give.

    >>> ab = [Piece("<unk>", kind="unknown"), Piece("a"), Piece("b"), Piece("ab", -2.0), Piece("abb", -1.0)]
    >>> merges_of(SentencePieceRules(tuple(ab))).pairs
    (('ab', 'b'), ('a', 'b'))
    """
    rank_of = _ranks(rules)
    frozen = user_defined(rules)
    holds_frozen = re.compile("|".join(map(re.escape, frozen)) or r"(?!)")
    made: dict[str, Pair] = {}
    unreachable: set[str] = set()
    for piece in rules.pieces:
        if len(piece.content) == 1 or piece.kind not in ("normal", "unused"):
            continue
        pair = last_pair(piece.content, lambda left, right: rank_of.get(left + right))
        if pair is None or holds_frozen.search(piece.content):
            unreachable.add(piece.content)
        else:
            made[piece.content] = pair
    order, conflict = _put_in_order(made, rank_of)
    return PieceMerges(tuple(made[content] for content in order), frozenset(unreachable), conflict)


def _ranks(rules: SentencePieceRules) -> dict[str, float]:
    return {piece.content: -piece.score for piece in rules.pieces if piece.kind in ("normal", "user_defined", "unused")}


# ---------------------------------------------------------------------------------------------------------------------
# Equal scores


def _put_in_order(made: Mapping[str, Pair], rank_of: Mapping[str, float]) -> tuple[list[str], str | None]:
    """The pieces, best first, equals so that none takes a part away from one further left; and why that is impossible."""
    groups: defaultdict[float, list[str]] = defaultdict(list)
    for content in made:
        groups[rank_of[content]].append(content)
    tied = {content for group in groups.values() if len(group) > 1 for content in group}
    later: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for first, second, text in _clashes(made, rank_of, tied):
        if len(text) < len(later[first].get(second, text + " ")):
            later[first][second] = text
    order: list[str] = []
    conflict: str | None = None
    for rank in sorted(groups):
        placed, cycle = _sorted_topologically(groups[rank], later)
        order += placed
        conflict = conflict or (_explain(cycle, later) if cycle else None)
    return order, conflict


def _clashes(made: Mapping[str, Pair], rank_of: Mapping[str, float], tied: set[str]) -> Iterator[tuple[str, str, str]]:
    """(piece, another of equal score, text): where the text comes up, the first, further left, has to be merged before the other.

    That is so where the last part of one pair, left + middle, is the first of another, middle + right: whichever of the two
    merges comes first leaves nothing for the other. What matters is also when the left and the right part are made, and the
    middle where making it sets off a merge of a higher score.
    """
    if not tied:
        return
    steps: dict[str, frozenset[str]] = {}  # the tied pieces made on the way to a piece, itself included

    def steps_to(content: str) -> frozenset[str]:
        if content not in steps:
            parts = made.get(content, ())
            steps[content] = frozenset(chain(*map(steps_to, parts), [content] if content in tied else []))
        return steps[content]

    def on_the_way(whole: str, middle: str, outer: str) -> frozenset[str]:
        set_off = {step for step in steps_to(middle) if rank_of[whole] <= rank_of[step]}
        return steps_to(outer) | ({whole} & tied) | set_off

    after: defaultdict[str, list[tuple[str, str, frozenset[str]]]] = defaultdict(list)
    for content, (left, right) in made.items():
        after[left].append((content, right, on_the_way(content, left, right)))
    for content, (left, right) in made.items():
        before = on_the_way(content, right, left)
        for other, end, then in after.get(right, ()) if before else ():
            # What making the middle takes as well is done further left before it is done there: a merge goes from left to right.
            settled = {*steps_to(right), other}
            for first, second in product(before, then):
                if first != second and rank_of[first] == rank_of[second] and not (first in steps[right] and second in settled):
                    yield first, second, content + end


def _sorted_topologically(group: Sequence[str], later: Mapping[str, Mapping[str, str]]) -> tuple[list[str], list[str]]:
    """The group in an order that `later` allows, in the given order where it allows several; and a cycle, if there is one."""
    place = {content: index for index, content in enumerate(group)}
    waits_for = dict.fromkeys(group, 0)
    for content in group:
        for second in later.get(content, ()):
            waits_for[second] += 1
    ready = [place[content] for content in group if not waits_for[content]]
    heapify(ready)
    order: list[str] = []
    cycle: list[str] = []
    while len(order) < len(group):
        if not ready:  # all that are left wait for each other: note it, and let the first one go
            cycle = cycle or _find_cycle([content for content in group if waits_for[content] > 0], later)
            stuck = next(content for content in group if waits_for[content] > 0)
            waits_for[stuck] = 0
            ready = [place[stuck]]
        content = group[heappop(ready)]
        waits_for[content] = -1
        order.append(content)
        for second in later.get(content, ()):
            if waits_for[second] > 0:
                waits_for[second] -= 1
                if not waits_for[second]:
                    heappush(ready, place[second])
    return order, cycle


def _find_cycle(stuck: Sequence[str], later: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Pieces each of which has to come before the next, and the last before the first."""
    before = {second: first for first in stuck for second in later.get(first, ())}
    path = [stuck[0]]
    while path[-1] not in path[:-1]:
        path.append(before[path[-1]])
    return path[path.index(path[-1]) + 1 :][::-1]


def _explain(cycle: Sequence[str], later: Mapping[str, Mapping[str, str]]) -> str:
    neighbours = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
    demands = [f"{first!r} before {second!r} for the text {later[first][second]!r}" for first, second in neighbours]
    return f"pieces of equal score would have to merge in a circle: {', '.join(demands)}"


# ---------------------------------------------------------------------------------------------------------------------
# From a list of merges to scores


def pieces_of_merges(
    contents: Sequence[str], merges: Iterable[Pair], reserved: Mapping[str, PieceKind], where: str
) -> tuple[Piece, ...]:
    """Pieces, in the order of ids, that merge as the list says. Of a pair that stands twice the last place counts.

    reserved: the kinds of those entries that are not normal. An entry that no merge of the list makes, though SentencePiece
    would because its two parts meet, becomes a control piece: that is never made.

    Every list has such pieces: no two pairs that make one piece can both come up, so each piece needs only one score.

    >>> [(p.content, p.score) for p in pieces_of_merges(["a", "b", "ab", "ba"], [("b", "a"), ("a", "b")], {}, "x")]
    [('a', 0.0), ('b', 0.0), ('ab', -2.0), ('ba', -1.0)]
    """
    rank_of = {pair: rank for rank, pair in enumerate(merges)}
    parts_of = {
        content: merged_parts(content, lambda *pair: rank_of.get(pair), fewest=2) for content in contents if len(content) > 1
    }
    ranks = {content: rank_of[parts[0], parts[1]] for content, parts in parts_of.items() if tuple(parts) in rank_of}
    score_of = {content: float(-place) for place, content in enumerate(sorted(ranks, key=ranks.__getitem__), 1)}
    pieces = []
    for content in contents:
        kind = reserved.get(content, "normal")
        if content in score_of and kind in ("byte", "unknown"):
            raise ConversionRefused(f"{where}: merging makes {content!r}, which SentencePiece keeps for the {kind} piece")
        if content in score_of or len(content) == 1:
            pieces.append(Piece(content, score_of.get(content, 0.0), "normal" if content in score_of else kind))
        else:
            would_be_made = len(parts_of[content]) == 2
            pieces.append(Piece(content, float(-1 - len(ranks)), "control" if kind == "normal" and would_be_made else kind))
    return tuple(pieces)
