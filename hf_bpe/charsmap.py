"""The replacements of a SentencePiece normaliser (`precompiled_charsmap`): looking them up, and making them.

    4 bytes: the length of the trie, little-endian
    the trie: a double array of 32-bit units, as the library Darts-clone lays it out
    the replacements: strings that end with NUL; the trie holds where each begins

The unit at place 0 is the root. From a unit at `place`, the byte `b` leads to `place ^ offset ^ b`, if the unit there bears
that label. A unit that ends a key has its value at `place ^ offset`. The array is a graph, not a tree: ends of keys are
shared, so a damaged one may hold endless keys, and is only ever walked along a text.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping

__all__ = ["Charsmap", "build_charsmap", "charsmap_defect"]

_BLOCK = 256
_LEAF = 1 << 31
_HAS_VALUE = 1 << 8
_OFFSET_LIMIT = 1 << 21
_MOST_KEYS_AT_ONE_PLACE = 32


class Charsmap:
    """Replacements by longest prefix. Raises `ValueError` saying what is wrong with the bytes.

    >>> Charsmap(build_charsmap({b"a": b"A", b"ab": b"x"})).longest(b"cab", 1)
    (3, b'x')
    """

    def __init__(self, blob: bytes) -> None:
        defect = charsmap_defect(blob)
        if defect is not None:
            raise ValueError(defect)
        self._units, self._strings = _parts(blob)

    def longest(self, text: bytes, start: int) -> tuple[int, bytes] | None:
        """Where the longest key that stands in the text at `start` ends, and what replaces it; None if there is none.

        Of more than 32 keys that begin one another SentencePiece looks at the shortest 32, and so does this.
        """
        units = self._units
        place, stop, value, found = _offset(units[0]), start, 0, 0
        for position in range(start, len(text)):
            byte = text[position]
            place ^= byte
            unit = units[place]
            if unit & (_LEAF | 0xFF) != byte:
                break
            place ^= _offset(unit)
            if unit & _HAS_VALUE:
                stop, value, found = position + 1, units[place] & ~_LEAF, found + 1
                if found == _MOST_KEYS_AT_ONE_PLACE:
                    break
        if not found:
            return None
        return stop, self._strings[value : self._strings.index(b"\0", value)]

    def characters_written(self) -> frozenset[str] | None:
        """The characters of all replacements; None if one of them is not UTF-8.

        >>> sorted(Charsmap(build_charsmap({b"q": b"ku", b"x": b"ks"})).characters_written())
        ['k', 's', 'u']
        """
        begins = {unit & ~_LEAF for unit in self._units if unit & _LEAF}
        try:
            return frozenset("".join(self._strings[at : self._strings.index(b"\0", at)].decode() for at in begins))
        except UnicodeDecodeError:
            return None

    def may_go_on(self, text: bytes, start: int) -> bool:
        """Whether more text could make a longer key of what stands at `start`: all of it begins one.

        >>> charsmap = Charsmap(build_charsmap({b"ab": b"x"}))
        >>> charsmap.may_go_on(b"ca", 1), charsmap.may_go_on(b"cb", 1)
        (True, False)
        """
        units = self._units
        place = _offset(units[0])
        for position in range(start, len(text)):
            byte = text[position]
            place ^= byte
            unit = units[place]
            if unit & (_LEAF | 0xFF) != byte:
                return False
            place ^= _offset(unit)
        return True


def charsmap_defect(blob: bytes) -> str | None:
    """What SentencePiece would not load, or could read beyond the end of; None for a sound one."""
    if len(blob) <= 4:
        return f"it has {len(blob)} bytes, too few to hold anything"
    size = int.from_bytes(blob[:4], "little")
    if size >= len(blob) - 4:
        return f"its trie is said to take {size} bytes, and {len(blob) - 4} are left"
    if size == 0 or size % (4 * _BLOCK):
        return f"its trie takes {size} bytes, which is no multiple of {4 * _BLOCK}"
    if blob[-1] != 0:
        return "its last replacement does not end with NUL"
    units, strings = _parts(blob)
    for place, unit in enumerate(units):
        if unit & _LEAF:
            if unit & ~_LEAF >= len(strings):
                return f"unit {place} of its trie points at byte {unit & ~_LEAF} of the replacements, which have {len(strings)}"
        elif (place ^ _offset(unit)) >= len(units):
            return f"unit {place} of its trie points beyond the {len(units)} units"
        elif unit & _HAS_VALUE and not units[place ^ _offset(unit)] & _LEAF:
            return f"unit {place} of its trie ends a key that has no replacement"
    return None


def _parts(blob: bytes) -> tuple[array[int], bytes]:
    end = 4 + int.from_bytes(blob[:4], "little")
    units = array("I", blob[4:end])
    if sys.byteorder == "big":
        units.byteswap()
    return units, blob[end:]


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & (1 << 9)) >> 6)


def build_charsmap(replacements: Mapping[bytes, bytes]) -> bytes:
    """The bytes for keys and what replaces them. Keys may be any bytes, parts of characters too.

    Raises `ValueError` for an empty key and for a NUL anywhere: it would end the string.

    >>> Charsmap(build_charsmap({b"\\xe4": b"ae"})).longest(b"\\xe4", 0)
    (1, b'ae')
    """
    for key, value in replacements.items():
        if not key:
            raise ValueError("an empty key would be found everywhere")
        if b"\0" in key[1:] or b"\0" in value:  # at the root no key ends, whose value would stand where NUL leads
            raise ValueError(f"a NUL ends a string, so {key!r} cannot become {value!r}")
    strings = bytearray()
    begins: dict[bytes, int] = {}
    for value in replacements.values():
        if value not in begins:
            begins[value] = len(strings)
            strings += value + b"\0"
    trie = _lay_out({key: begins[value] for key, value in replacements.items()})
    return len(trie).to_bytes(4, "little") + trie + bytes(strings or b"\0")


def _lay_out(values: Mapping[bytes, int]) -> bytes:
    """The double array of a trie without shared ends. The children of a node are all in the block of its base."""
    children: dict[bytes, list[int]] = {b"": []}
    for key in sorted(values):
        for length in range(len(key)):
            labels = children.setdefault(key[:length], [])
            if not labels or labels[-1] != key[length]:
                labels.append(key[length])
    units: list[int | None] = [None] * _BLOCK
    units[0] = 0  # the root; a place that is taken
    bases: set[int] = set()
    waiting, lowest = [(b"", 0)], 1
    for prefix, place in waiting:
        labels = [0] * (prefix in values) + children.get(prefix, [])
        base = lowest
        while base in bases or not _fits(units, base, labels):
            base += 1
        bases.add(base)
        lowest = max(lowest, base - 2 * _BLOCK)  # what did not fit far below will hardly fit now
        units += [None] * (base - base % _BLOCK + _BLOCK - len(units))
        offset = base ^ place
        if offset >= _OFFSET_LIMIT:
            raise ValueError(f"{len(values)} replacements are too many")
        units[place] = offset << 10 | (_HAS_VALUE if prefix in values else 0) | (prefix[-1] if prefix else 0)
        for label in labels:
            units[base ^ label] = 0
        if prefix in values:
            units[base] = _LEAF | values[prefix]
        waiting += [(prefix + bytes([label]), base ^ label) for label in children.get(prefix, [])]
    # What is not in use must bear no label, and SentencePiece wants room behind the last unit.
    laid_out = array("I", [_LEAF if unit is None else unit for unit in units] + [_LEAF] * _BLOCK)
    if sys.byteorder == "big":
        laid_out.byteswap()
    return laid_out.tobytes()


def _fits(units: list[int | None], base: int, labels: list[int]) -> bool:
    return all((base ^ label) >= len(units) or units[base ^ label] is None for label in labels)
