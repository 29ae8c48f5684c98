"""`IdMap`: which id of an old vocabulary is which of a new one, and how the rows of new ids are made. All edits speak in it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from conversion.json_shapes import quoted
from conversion.json_text import field as json_field
from conversion.json_text import read_json
from hf_bpe.errors import EditError, FormatError, some
from hf_bpe.files import write_atomically
from hf_bpe.spec import MAX_TOKEN_ID

__all__ = ["IdMap", "Made", "RowKind"]

_FORMAT = "hf_bpe id map"
_VERSION = 1

RowKind: TypeAlias = Literal["mean", "zeros", "normal"]


@dataclass(frozen=True)
class Made:
    """How the row of a new id is made.

    row: "mean" of the rows of the old ids `of` (an id that stands there twice counts twice; of one id it is a copy), or of all
    rows in use where `of` is empty; "zeros"; "normal": drawn with the mean and the covariance of the rows in use.
    """

    row: RowKind = "mean"
    of: tuple[int, ...] = ()


@dataclass(frozen=True)
class IdMap:
    """What becomes of the ids of a vocabulary. Checked when made: raises `EditError` naming every defect.

    old_size, new_size: the largest id + 1, before and after.
    kept: old id -> new id, of the tokens that are in both.
    gone: old ids whose tokens the new vocabulary lacks.
    made: new id -> how its row is made, of the tokens that the old vocabulary lacks; None: as the caller says.

    Old ids in neither `kept` nor `gone` have no token: padding, or holes.

    >>> id_map = IdMap(3, 3, kept={0: 0, 2: 1}, gone=[1], made={2: Made("mean", (0, 2))})
    >>> id_map.new_id(2), id_map.new_id(1)
    (1, None)
    """

    old_size: int
    new_size: int
    kept: Mapping[int, int]
    gone: frozenset[int] = frozenset()
    made: Mapping[int, Made | None] = field(default_factory=dict)

    def __init__(
        self,
        old_size: int,
        new_size: int,
        kept: Mapping[int, int],
        gone: Iterable[int] = (),
        made: Mapping[int, Made | None] | None = None,
    ) -> None:
        fields = {"old_size": old_size, "new_size": new_size, "kept": MappingProxyType(dict(kept))}
        for name, value in (fields | {"gone": frozenset(gone), "made": MappingProxyType(dict(made or {}))}).items():
            object.__setattr__(self, name, value)
        defects = list(_defects(self))
        if defects:
            raise EditError("the id map has defects:\n" + "\n".join(f"  - {defect}" for defect in defects))

    def new_id(self, old_id: int) -> int | None:
        """What an old id is called now; None if its token is gone, or if it never had one."""
        return self.kept.get(old_id)

    @cached_property
    def old_ids(self) -> frozenset[int]:
        """The old ids that have a token."""
        return self.gone.union(self.kept)

    @cached_property
    def moved(self) -> int:
        """How many tokens have another id now."""
        return sum(old != new for old, new in self.kept.items())

    # -- JSON ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it: stretches of ids that go side by side are one entry.

        >>> IdMap(4, 3, {0: 0, 1: 1, 3: 2}, gone=[2]).to_dict()["kept"]
        [[0, 0, 2], [3, 2, 1]]
        """
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "old_size": self.old_size,
            "new_size": self.new_size,
            "kept": [[old, new, count] for (old, new), count in _runs(sorted(self.kept.items()))],
            "gone": [[old, count] for (old,), count in _runs(sorted((old,) for old in self.gone))],
            "made": [_made_entry(new, made) for new, made in sorted(self.made.items())],
        }

    @classmethod
    def from_dict(cls, data: Any, where: str = "the id map") -> IdMap:
        """The reverse. Raises `FormatError` for what is no id map, `EditError` for one that contradicts itself."""
        if not isinstance(data, dict) or data.get("format") != _FORMAT or data.get("version") != _VERSION:
            raise FormatError(
                f'{where}: must be an object with "format": "{_FORMAT}" and "version": {_VERSION}; is it the right file?'
            )
        sizes = json_field(data, "old_size", int, where), json_field(data, "new_size", int, where)
        kept: list[tuple[int, int]] = []
        for old, new, count in _run_entries(data, "kept", 3, where):
            kept += ((old + number, new + number) for number in range(count))
        gone: list[int] = []
        for old, count in _run_entries(data, "gone", 2, where):
            gone += range(old, old + count)
        made = [_made_of(entry, f"{where}: $.made[{n}]") for n, entry in enumerate(json_field(data, "made", list, where))]
        twice = [*_twice(old for old, _ in kept), *_twice(gone), *_twice(new for new, _ in made)]
        if twice:
            raise EditError(f"{where}: ids stand twice: {some(list(map(str, twice)))}; an id has one fate")
        return cls(*sizes, kept=dict(kept), gone=gone, made=dict(made))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file."""
        write_atomically(Path(path).parent, {Path(path).name: self.to_bytes()})

    def to_bytes(self) -> bytes:
        """The content of that file."""
        data = self.to_dict()
        lists = {
            name: "[\n    " + ",\n    ".join(map(json.dumps, data[name])) + "\n  ]"
            for name in ("kept", "gone", "made")
            if data[name]
        }
        lines = [f"{json.dumps(name)}: {lists.get(name) or json.dumps(value)}" for name, value in data.items()]
        return ("{\n  " + ",\n  ".join(lines) + "\n}\n").encode()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IdMap:
        """Read it from a JSON file."""
        return cls.from_dict(read_json(Path(path)), os.fspath(path))


def _runs(rows: Iterable[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Rows of which each number is one more than in the row before are one run: its first row, and how many."""
    first: tuple[int, ...] = ()
    count = 0
    for row in rows:
        if count and all(number == begin + count for number, begin in zip(row, first, strict=True)):
            count += 1
            continue
        if count:
            yield first, count
        first, count = row, 1
    if count:
        yield first, count


def _run_entries(data: dict[str, Any], key: str, length: int, where: str) -> Iterator[list[int]]:
    entries = json_field(data, key, list, where)
    for number, entry in enumerate(entries):
        if not (
            isinstance(entry, list) and len(entry) == length and all(type(n) is int and 0 <= n <= MAX_TOKEN_ID for n in entry)
        ):
            shape = "[old, new, count]" if length == 3 else "[old, count]"
            raise FormatError(f"{where}: $.{key}[{number}] must be {shape}, of numbers from 0, not {quoted(entry)}")
        # Before a count of two thousand million becomes a list.
        if entry[0] + entry[-1] > data["old_size"]:
            raise FormatError(f"{where}: $.{key}[{number}] reaches beyond old_size, {data['old_size']}")
        yield entry


def _made_entry(new: int, made: Made | None) -> dict[str, Any]:
    if made is None:
        return {"id": new}
    return {"id": new, "row": made.row} | ({"of": list(made.of)} if made.of else {})


def _made_of(entry: Any, where: str) -> tuple[int, Made | None]:
    if not isinstance(entry, dict):
        raise FormatError(f"{where} must be an object, not {quoted(entry)}")
    new = json_field(entry, "id", int, where)
    of = entry.get("of", [])
    if not isinstance(of, list):
        raise FormatError(f"{where}.of must be a list of old ids, not {quoted(of)}")
    return new, Made(entry["row"], tuple(of)) if "row" in entry else None


def _twice(ids: Iterable[int]) -> list[int]:
    seen: set[int] = set()
    return [number for number in ids if number in seen or seen.add(number)]  # type: ignore[func-returns-value]


def _defects(id_map: IdMap) -> Iterator[str]:
    sizes = {"old_size": id_map.old_size, "new_size": id_map.new_size}
    odd = [
        f"{name} {quoted(size)}" for name, size in sizes.items() if type(size) is not int or not 0 <= size <= MAX_TOKEN_ID + 1
    ]
    if odd:
        yield f"sizes must be integers from 0 to {MAX_TOKEN_ID + 1}: {some(odd)}"
        return
    yield from _outside("old ids", [*id_map.kept, *id_map.gone], id_map.old_size)
    yield from _outside("new ids", [*id_map.kept.values(), *id_map.made], id_map.new_size)
    yield from _shared("old ids are both kept and gone", id_map.gone.intersection(id_map.kept))
    yield from _shared("several old ids become one new id", _twice(id_map.kept.values()))
    yield from _shared("new ids are both kept and made", set(id_map.kept.values()).intersection(id_map.made))
    for new, made in id_map.made.items():
        if made is None:
            continue
        if not isinstance(made, Made) or made.row not in get_args(RowKind):
            yield f"the row of new id {new} must be one of {', '.join(get_args(RowKind))}, not {quoted(getattr(made, 'row', made))}"
            continue
        strangers = [quoted(old) for old in made.of if type(old) is not int or old not in id_map.old_ids]
        if strangers:
            yield f"the row of new id {new} is to be made of {some(strangers)}, which are no ids of old tokens"
        if made.of and made.row != "mean":
            yield f"the row of new id {new} is {made.row}, which is made of no other rows"


def _outside(what: str, ids: Iterable[Any], size: int) -> Iterator[str]:
    found = [quoted(number) for number in ids if type(number) is not int or not 0 <= number < size]
    if found:
        yield f"{what} must be integers from 0 to {size - 1}: {some(found)}"


def _shared(what: str, ids: Iterable[int]) -> Iterator[str]:
    found = sorted(ids)
    if found:
        yield f"{what}: {some(list(map(str, found)))}"
