"""`Traced`: a str that knows of each of its characters who wrote it, through all that a chat template does with strings.

A template sees an ordinary str: it compares, trims, splits, searches and joins it. Results of operations that are not followed
here have unknown origin, so that what is forgotten here can lead to a refusal and never to trust.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

__all__ = ["GENERATED", "TAG", "TEMPLATE", "UNKNOWN", "USER", "Traced", "join", "origins_of", "trusted"]

UNKNOWN, USER, TEMPLATE, TAG = range(4)
"""Who wrote a character. TAG is the mark that shows where a message that is to be continued ends."""
GENERATED = 4
"""Added to the origin of what stands in a generation block."""
_AS_GENERATED = bytes(origin | GENERATED for origin in range(256))


class Traced(str):
    """A str with the origins of its characters, one byte each."""

    __slots__ = ("_origins",)
    _origins: bytes

    def __new__(cls, text: object = "", origins: bytes | int = UNKNOWN) -> Traced:
        """`origins`: one byte for each character, or one for all."""
        made = super().__new__(cls, text)
        made._origins = bytes([origins]) * len(made) if isinstance(origins, int) else origins
        return made

    def __str__(self) -> str:
        return self  # what str() gives: it must not forget

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self[:].encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass"), self._origins)

    # -- parts of it --------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Traced:
        if isinstance(key, slice):
            return Traced(super().__getitem__(key), self._origins[key])
        return Traced(super().__getitem__(key), self._origins[key])

    def __iter__(self) -> Iterator[str]:
        return (Traced(character, origin) for character, origin in zip(super().__iter__(), self._origins, strict=True))

    def strip(self, characters: str | None = None, /) -> Traced:
        """As of every str."""
        return self.lstrip(characters).rstrip(characters)

    def lstrip(self, characters: str | None = None, /) -> Traced:
        """As of every str."""
        return self[len(self) - len(super().lstrip(characters)) :]

    def rstrip(self, characters: str | None = None, /) -> Traced:
        """As of every str."""
        return self[: len(super().rstrip(characters))]

    def removeprefix(self, prefix: str, /) -> Traced:
        """As of every str."""
        return self[len(prefix) :] if self.startswith(prefix) else self

    def removesuffix(self, suffix: str, /) -> Traced:
        """As of every str."""
        return self[: len(self) - len(suffix)] if self.endswith(suffix) else self

    def _in_order(self, found: Iterable[str], skipped: int | None) -> list[Traced]:
        """The parts of a split. They follow one another, with `skipped` characters between, or with white space."""
        parts, done = [], 0
        for content in found:
            start = done if skipped is not None else str.find(self, content, done)
            done = start + len(content)
            parts.append(self[start:done])
            done += skipped or 0
        return parts

    def split(self, sep: str | None = None, maxsplit: Any = -1) -> list[Traced]:  # type: ignore[override]
        """As of every str."""
        return self._in_order(super().split(sep, maxsplit), None if sep is None else len(sep))

    def rsplit(self, sep: str | None = None, maxsplit: Any = -1) -> list[Traced]:  # type: ignore[override]
        """As of every str."""
        return self._in_order(super().rsplit(sep, maxsplit), None if sep is None else len(sep))

    def splitlines(self, keepends: bool = False) -> list[Traced]:  # type: ignore[override]
        """As of every str."""
        lines = self._in_order(super().splitlines(keepends=True), 0)
        return lines if keepends else [line[: len(str.splitlines(line)[0])] for line in lines]

    def partition(self, sep: str, /) -> tuple[str, str, str]:
        """As of every str."""
        at = self.find(sep)
        return (self, Traced(), Traced()) if at < 0 else (self[:at], self[at : at + len(sep)], self[at + len(sep) :])

    def rpartition(self, sep: str, /) -> tuple[str, str, str]:
        """As of every str."""
        at = self.rfind(sep)
        return (Traced(), Traced(), self) if at < 0 else (self[:at], self[at : at + len(sep)], self[at + len(sep) :])

    # -- joined with others -------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Traced:
        return join((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Traced:
        return join((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, times: Any) -> Traced:
        return Traced(super().__mul__(times), self._origins * times)

    __rmul__ = __mul__

    def join(self, parts: Iterable[str], /) -> Traced:
        """As of every str."""
        listed = list(parts)
        return join(piece for n, part in enumerate(listed) for piece in ((self, part) if n else (part,)))

    def replace(self, old: str, new: str, count: Any = -1, /) -> Traced:
        """As of every str."""
        if not old:  # between all characters: nobody needs that followed
            return Traced(super().replace(old, new, count))
        return Traced(new, origins_of(new)).join(self.split(old, count))

    # -- the same characters, changed ---------------------------------------------------------------------------------

    def _changed(self, text: str) -> Traced:
        if len(text) == len(self):  # a change of case never makes two characters one
            return Traced(text, self._origins)
        return Traced(text, self._origins[0] if len(set(self._origins)) == 1 else UNKNOWN)

    def lower(self) -> Traced:
        """As of every str."""
        return self._changed(super().lower())

    def upper(self) -> Traced:
        """As of every str."""
        return self._changed(super().upper())

    def casefold(self) -> Traced:
        """As of every str."""
        return self._changed(super().casefold())

    def capitalize(self) -> Traced:
        """As of every str."""
        return self._changed(super().capitalize())

    def title(self) -> Traced:
        """As of every str."""
        return self._changed(super().title())

    def swapcase(self) -> Traced:
        """As of every str."""
        return self._changed(super().swapcase())

    def generated(self) -> Traced:
        """The same, marked as what stands in a generation block."""
        return Traced(self, self._origins.translate(_AS_GENERATED))


def origins_of(text: str) -> bytes:
    """The origins of the characters of any str: unknown where it is not traced."""
    return text._origins if isinstance(text, Traced) else bytes([UNKNOWN]) * len(text)


def join(parts: Iterable[object]) -> Traced:
    """The parts as one.

    >>> join([trusted("<s>"), "hi"])
    '<s>hi'
    """
    texts = [part if isinstance(part, str) else written(part) for part in parts]
    return Traced("".join(texts), b"".join(map(origins_of, texts)))


def written(value: object, write: Callable[[Any], str] = str) -> str:
    """What `str`, or another, writes a value as. Lists and mappings that hold only what a user wrote are what a user wrote.

    In others the strings keep their origins, and nobody knows who wrote the numbers, brackets and quotes around them.
    """
    text = write(value)
    if isinstance(text, Traced) or not isinstance(value, (str, Mapping, list, tuple)):
        return text
    strings = list(_strings(value))
    if all(origin & 3 == USER for string in strings for origin in origins_of(string)):
        return Traced(text, USER)
    return _assembled(value, strings, text, write)


def _assembled(value: object, strings: list[str], text: str, write: Callable[[Any], str]) -> Traced:
    """A value as written, put together of its strings written one by one. Of unknown origin where that gives another text.

    Names in the places of the strings show where they stand. Python quotes some strings otherwise than such a name, and keys
    may get sorted: the texts differ then.
    """
    stem = next(stem for stem in (f"zq{n}qz" for n in count()) if stem not in text)
    between = re.split(rf"{stem}(\d+)z", write(_replaced(value, (f"{stem}{n}z" for n in count()))))
    pieces = [between[0]]
    for number, after in zip(between[1::2], between[2::2], strict=True):
        pieces += [_inside(strings[int(number)], write), after]
    assembled = join(pieces)
    return assembled if assembled == text else Traced(text, UNKNOWN)


def _inside(string: str, write: Callable[[Any], str]) -> Traced:
    """A string as written, without its quotes: each character by itself, as any may be escaped."""
    characters = zip(str.__iter__(string), origins_of(string), strict=True)
    return join(Traced(write(character)[1:-1], origin) for character, origin in characters)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _strings(key)
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)


def _replaced(value: Any, names: Iterator[str]) -> Any:
    """The same value with a name in the place of each string, in the order of `_strings`."""
    if isinstance(value, str):
        return next(names)
    if isinstance(value, Mapping):
        return {_replaced(key, names): _replaced(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_replaced(item, names) for item in value)
    return value


def trusted(text: str) -> str:
    """A str for messages in which special tokens are to be special, as in what the template writes. Never for what users wrote.

    >>> trusted("<|image|>") == "<|image|>"
    True
    """
    if not isinstance(text, str):
        raise TypeError(f"trusted text must be a str, not a {type(text).__name__}")
    return Traced(text, TEMPLATE)
