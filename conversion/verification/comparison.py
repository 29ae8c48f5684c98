"""Encoding the same texts twice and keeping account of where the ids part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from conversion.shrinking import shrink
from conversion.verification.runners import Runner
from hf_bpe.batching import batched

__all__ = ["Comparison", "Difference", "Reading"]

Reading: TypeAlias = Literal["special tokens as plain text", "special tokens as special"]

_AS_TEXT: Reading = "special tokens as plain text"
_AS_SPECIAL: Reading = "special tokens as special"

_BATCH_CHARACTERS = 4 << 20
_CONTEXT = 40
_SHOWN_IDS = 12
_SHRINKING_EFFORT = 10_000_000
"""Characters encoded at most in search of a smaller difference."""


@dataclass(frozen=True)
class Difference:
    """A text that the two encode differently.

    text: the surroundings of the place where the ids part. a_ids, b_ids: the next ids of each, after `ids_in_common`.
    """

    where: str
    reading: Reading
    text: str
    ids_in_common: int
    a_ids: tuple[int, ...]
    b_ids: tuple[int, ...]

    def __str__(self) -> str:
        return (
            f"{self.where}, {self.reading}: {self.text!r}\n"
            f"  after {self.ids_in_common} ids in common, a: {list(self.a_ids)}, b: {list(self.b_ids)}"
        )


class Comparison:
    """A running comparison of two runners."""

    def __init__(self, a: Runner, b: Runner) -> None:
        self.a, self.b = a, b
        self.special_tokens = sorted({*a.spec.special_tokens, *b.spec.special_tokens})
        self.documents = self.differing = self.tokens = 0
        self.first: Difference | None = None
        self._finder = re.compile("|".join(map(re.escape, self.special_tokens)) or r"(?!)")
        self._shortest: tuple[str, Reading] | None = None

    def run(self, documents: Iterable[tuple[str, str]]) -> None:
        """Compare each (where, text); no more than a batch of them is in memory at a time."""
        for batch in batched(documents, lambda document: len(document[1]), _BATCH_CHARACTERS):
            found: dict[int, Difference] = {}
            for reading, chosen in self._readings([text for _, text in batch]):
                pairs = self._encode([batch[index][1] for index in chosen], reading)
                self.tokens += sum(len(ids) for ids, _ in pairs) if reading == _AS_TEXT else 0
                for index, (a_ids, b_ids) in zip(chosen, pairs, strict=True):
                    if a_ids != b_ids and index not in found:
                        found[index] = self._difference(*batch[index], reading, a_ids, b_ids)
            self.documents += len(batch)
            self.differing += len(found)
            for index in sorted(found):
                self._note(found[index], batch[index][1])

    def _readings(self, texts: Sequence[str]) -> Iterator[tuple[Reading, list[int]]]:
        """The ways to read special tokens, and which of the texts it matters for."""
        yield _AS_TEXT, list(range(len(texts)))
        yield _AS_SPECIAL, [index for index, text in enumerate(texts) if self._finder.search(text)]

    def _encode(self, texts: Sequence[str], reading: Reading) -> list[tuple[list[int], list[int]]]:
        if reading == _AS_TEXT:
            return list(zip(self.a.as_text(texts), self.b.as_text(texts), strict=True))
        return list(zip(self.a.as_special(texts), self.b.as_special(texts), strict=True))

    def _difference(self, where: str, text: str, reading: Reading, a_ids: list[int], b_ids: list[int]) -> Difference:
        parting = next((n for n, (x, y) in enumerate(zip(a_ids, b_ids, strict=False)) if x != y), min(len(a_ids), len(b_ids)))
        offset = len(self.a.decode_bytes(a_ids[:parting]).decode(errors="ignore"))
        return Difference(
            where=where,
            reading=reading,
            text=text[max(0, offset - _CONTEXT) : offset + _CONTEXT],
            ids_in_common=parting,
            a_ids=tuple(a_ids[parting : parting + _SHOWN_IDS]),
            b_ids=tuple(b_ids[parting : parting + _SHOWN_IDS]),
        )

    def _note(self, difference: Difference, text: str) -> None:
        self.first = self.first or difference
        if self._shortest is None or len(text) < len(self._shortest[0]):
            self._shortest = text, difference.reading

    def smallest_difference(self) -> Difference | None:
        """A text as short as leaving out parts of the shortest differing document makes it."""
        if self._shortest is None:
            return None
        text, reading = self._shortest

        def differs(rest: str) -> bool:
            [(a_ids, b_ids)] = self._encode([rest], reading)
            return a_ids != b_ids

        text = shrink(text, differs, _SHRINKING_EFFORT)
        [(a_ids, b_ids)] = self._encode([text], reading)
        return self._difference("made smaller", text, reading, a_ids, b_ids)
