"""Letters: sets of code points that no class of a pattern tells apart."""

from __future__ import annotations

from itertools import pairwise

from hf_bpe.pattern_syntax.code_points import LAST, categories_of, category_runs, property_members, union
from hf_bpe.pattern_syntax.tree import Node, Property, Span, classes_in

__all__ = ["Alphabet"]


class Alphabet:
    """The letters of a pattern. A set of letters is an int, one bit for each."""

    def __init__(self, tree: Node) -> None:
        classes = {node: 1 << index for index, node in enumerate(classes_in(tree))}
        negated = sum(bit for node, bit in classes.items() if node.negated)
        of_category = dict.fromkeys(categories_of("any"), 0)
        begins: dict[int, int] = {0: 0}
        ends: dict[int, int] = {}
        for node, bit in classes.items():
            for name in {name for item in node.items for name in _as_categories(item)}:
                of_category[name] |= bit
            for span in union(span for item in node.items for span in _as_spans(item)):
                begins[span.first] = begins.get(span.first, 0) | bit
                ends[span.last + 1] = ends.get(span.last + 1, 0) | bit

        # Within an interval no listed span begins or ends, so characters of one category are in the same classes.
        letter_of: dict[int, int] = {}
        self._runs: list[int] = []
        self._letters: list[int] = []
        starts = sorted((begins | ends).keys() - {LAST + 1})
        listed = 0
        for start, following in pairwise([*starts, LAST + 1]):
            listed = listed & ~ends.get(start, 0) | begins.get(start, 0)
            run_starts, names = category_runs(start, following - 1)
            letter_here = {
                name: letter_of.setdefault((of_category[name] | listed) ^ negated, len(letter_of)) for name in set(names)
            }
            self._runs += run_starts
            self._letters += [letter_here[name] for name in names]

        self.size = len(letter_of)
        self.every = (1 << self.size) - 1
        self.letters_of = {
            node: sum(1 << letter for members, letter in letter_of.items() if members & bit) for node, bit in classes.items()
        }

    def order(self, class_of: list[int]) -> list[int]:
        """The classes of letters as they first come in the order of code points."""
        return list(dict.fromkeys(class_of[letter] for letter in dict.fromkeys(self._letters)))

    def runs(self, number: dict[int, int]) -> tuple[tuple[int, int], ...]:
        """(first code point, number) of each run of code points whose letters have one number."""
        numbers = [number[letter] for letter in self._letters]
        return tuple(
            (start, here) for start, here, before in zip(self._runs, numbers, [-1, *numbers], strict=False) if here != before
        )


def _as_categories(item: Span | Property) -> list[str]:
    if isinstance(item, Span) or not (inside := categories_of(item.name)):
        return []
    return [name for name in categories_of("any") if name not in inside] if item.negated else inside


def _as_spans(item: Span | Property) -> list[Span]:
    if isinstance(item, Span):
        return [item]
    return [] if categories_of(item.name) else property_members(item)
