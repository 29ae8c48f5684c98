"""Added tokens that can overlap in a text, where one of them is looked for before the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from hf_bpe.spec import AddedToken

__all__ = ["first_overlap", "texts_of_overlaps", "two_passes"]


def two_passes(tokens: Iterable[AddedToken]) -> tuple[str, str] | None:
    """A token that is not `normalized` and one that is, which can overlap: the first is then found wherever either begins.

    None where a single look for all of them, leftmost first, finds the same.

    >>> two_passes([AddedToken("ab", 1, normalized=True), AddedToken("bc", 2)])
    ('bc', 'ab')
    """
    tokens = list(tokens)
    exact = [token.content for token in tokens if not token.normalized]
    others = [token.content for token in tokens if token.normalized]
    found = first_overlap(exact, others)
    if found is None:
        swapped = first_overlap(others, exact)
        found = swapped and (swapped[1], swapped[0])
    return found


def first_overlap(firsts: Sequence[str], seconds: Sequence[str]) -> tuple[str, str] | None:
    """Two texts of which the second can begin inside the first. By looking up beginnings: 100,000 texts take a second, pairs days.

    >>> first_overlap(["<ab>", "<c>"], ["b", "c>d"])
    ('<ab>', 'b')
    """
    if not seconds:
        return None
    beginnings = {second[:length]: second for second in seconds for length in range(1, len(second) + 1)}
    lengths = sorted({len(second) for second in seconds})
    whole = set(seconds)
    for first in firsts:
        for start in range(len(first)):
            if first[start : start + 1] not in beginnings:
                continue
            inside = next((first[start : start + n] for n in lengths if first[start : start + n] in whole), None)
            if inside is not None:
                return first, inside
            if start and first[start:] in beginnings:
                return first, beginnings[first[start:]]
    return None


def texts_of_overlaps(tokens: Iterable[AddedToken]) -> Iterator[str]:
    """The tokens' own texts, and those in which one of them begins inside another.

    >>> list(texts_of_overlaps([AddedToken("ab", 1), AddedToken("bc", 2)]))
    ['ab', 'abc', 'bc']
    """
    contents = [token.content for token in tokens]
    beginning: defaultdict[str, list[str]] = defaultdict(list)
    for content in contents:
        for length in range(1, len(content)):
            beginning[content[:length]].append(content[length:])
    for content in contents:
        yield content
        for start in range(1, len(content)):
            yield from (content + rest for rest in beginning.get(content[start:], ()))
