"""What reports call tokenizers and corpora that were given as paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

__all__ = ["distinct_names", "name_and_rest"]


def name_and_rest(given: str) -> tuple[str | None, str]:
    """`NAME=PATH` as its two parts; a path by itself, with or without a "=" in it, has no name.

    >>> name_and_rest("en=a=b.txt"), name_and_rest("a.txt")
    (('en', 'a=b.txt'), (None, 'a.txt'))
    """
    name, equals, rest = given.partition("=")
    return (name, rest) if equals and name and not Path(given).exists() else (None, given)


def distinct_names(paths: Sequence[str]) -> list[str]:
    """The last part of each path, with as many of the parts before it as it takes to tell them apart; equal paths are numbered.

    >>> distinct_names(["a/x.json", "b/x.json", "c/y.json"])
    ['a/x.json', 'b/x.json', 'y.json']
    >>> distinct_names(["x.json", "x.json"])
    ['x.json', 'x.json (2)']
    """
    parts = [Path(path).parts or (path,) for path in paths]
    taken = [1] * len(parts)
    while True:
        names = ["/".join(part[-count:]) for part, count in zip(parts, taken, strict=True)]
        often = Counter(names)
        longer = [n for n, name in enumerate(names) if often[name] > 1 and taken[n] < len(parts[n])]
        if not longer:
            break
        for number in longer:
            taken[number] += 1
    seen: Counter[str] = Counter()
    for number, name in enumerate(names):
        seen[name] += 1
        names[number] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return names
