"""Encoding the same texts twice and keeping account of where, and why, the ids part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from conversion.shrinking import shrink
from conversion.verification.causes import Cause, find_cause
from conversion.verification.corpus import Document, Origin
from conversion.verification.difference import Difference, difference_of
from conversion.verification.side import AS_SPECIAL, AS_TEXT, WITH_TEMPLATE, Ids, Reading, Side
from conversion.verification.window import around
from hf_bpe.batching import batched

__all__ = ["Comparison", "Example"]

_BATCH_CHARACTERS = 1 << 20
_BATCH_DOCUMENTS = 1 << 13
_SHRINKING_EFFORT = 2_000_000
"""Characters encoded at most in search of a smaller difference, for each cause."""
_MOST_EXPLAINED = 2000
"""Differing documents whose cause is looked for; tokenizers that have nothing in common differ in every one."""

_GIVEN = ("given", "corpus")


@dataclass
class Example:
    """A cause, how many documents showed it first, and the shortest text that did."""

    documents: int
    text: str
    reading: Reading


class Comparison:
    """A running comparison of two sides."""

    def __init__(self, a: Side, b: Side) -> None:
        self.a, self.b = a, b
        self.special_tokens = sorted({token.content for side in (a, b) for token in side.added_tokens})
        self.documents: Counter[Origin] = Counter()
        self.differing: Counter[Origin] = Counter()
        self.a_tokens = self.b_tokens = 0
        self.first: Difference | None = None
        self.examples: dict[Cause, Example] = {}
        self.explained = 0
        self._first_origin: Origin = "built-in"
        self._spelled = re.compile("|".join(map(re.escape, self.special_tokens)) or r"(?!)")

    def run(self, documents: Iterable[Document]) -> None:
        """Compare each; no more than a batch of them is in memory at a time."""
        weight = _BATCH_CHARACTERS // _BATCH_DOCUMENTS
        for batch in batched(documents, lambda document: max(weight, len(document.text)), _BATCH_CHARACTERS):
            found: dict[int, tuple[Reading, list[int], list[int]]] = {}
            for reading, chosen in self._readings(batch):
                a_rows, b_rows = self._encode([batch[index].text for index in chosen], reading)
                for index, a_ids, b_ids in zip(chosen, a_rows, b_rows, strict=True):
                    if a_ids != b_ids:
                        found.setdefault(index, (reading, a_ids, b_ids))
                if reading == AS_TEXT:
                    self.a_tokens += sum(map(len, a_rows))
                    self.b_tokens += sum(map(len, b_rows))
                    for index in self._decoded_apart(a_rows, found.keys()):
                        found[index] = reading, a_rows[index], b_rows[index]
            self.documents.update(document.origin for document in batch)
            self.differing.update(batch[index].origin for index in found)
            for index in sorted(found):
                self._note(batch[index], *found[index])

    def _readings(self, batch: Sequence[Document]) -> Iterator[tuple[Reading, list[int]]]:
        """The ways to read special tokens that both sides have, and which of the texts each matters for."""
        everything = list(range(len(batch)))
        chosen: dict[Reading, list[int]] = {
            AS_TEXT: everything,
            AS_SPECIAL: [index for index, document in enumerate(batch) if self._spelled.search(document.text)],
            WITH_TEMPLATE: [index for index, document in enumerate(batch) if document.origin == "built-in"],
        }
        for reading, indices in chosen.items():
            if indices and reading in self.a.readings and reading in self.b.readings:
                yield reading, indices

    def _encode(self, texts: list[str], reading: Reading) -> tuple[Ids, Ids]:
        return self.a.readings[reading](texts), self.b.readings[reading](texts)

    def _decoded_apart(self, rows: Ids, differing: Collection[int]) -> list[int]:
        """Which rows, whose ids both sides gave, they decode to different texts."""
        equal = [index for index in range(len(rows)) if index not in differing]
        chosen = [rows[index] for index in equal]
        pairs = zip(equal, self.a.decode(chosen), self.b.decode(chosen), strict=True)
        return [index for index, a_text, b_text in pairs if a_text != b_text]

    def _note(self, document: Document, reading: Reading, a_ids: list[int], b_ids: list[int]) -> None:
        # A document of the user's says more than a string of ours.
        is_first = self.first is None or (document.origin in _GIVEN and self._first_origin not in _GIVEN)
        if not is_first and self.explained >= _MOST_EXPLAINED:
            return
        self.explained += 1
        text = self._near(document.text, reading, a_ids, b_ids)
        near_ids = self._pair(text, reading) if text != document.text else (a_ids, b_ids)
        cause = find_cause(self.a, self.b, text, reading, *near_ids)
        if is_first:
            self._first_origin = document.origin
            self.first = difference_of(self.a, self.b, document.where, document.text, reading, cause, a_ids, b_ids)
        example = self.examples.setdefault(cause, Example(0, text, reading))
        example.documents += 1
        if len(text) < len(example.text):
            example.text, example.reading = text, reading

    def _near(self, text: str, reading: Reading, a_ids: list[int], b_ids: list[int]) -> str:
        """The surroundings of the difference, if they differ by themselves, else the whole text."""
        for near in around(self.a, text, a_ids, b_ids):
            if self._differs(near, reading):
                return near
        return text

    def _pair(self, text: str, reading: Reading) -> tuple[list[int], list[int]]:
        a_rows, b_rows = self._encode([text], reading)
        return a_rows[0], b_rows[0]

    def _differs(self, text: str, reading: Reading, cause: Cause | None = None) -> bool:
        a_ids, b_ids = self._pair(text, reading)
        if a_ids == b_ids and (reading != AS_TEXT or not self._decoded_apart([a_ids], ())):
            return False
        return cause is None or find_cause(self.a, self.b, text, reading, a_ids, b_ids) == cause

    def smallest(self, cause: Cause) -> Difference:
        """A text with a difference of this cause, as short as leaving out parts of the shortest one found makes it."""
        example = self.examples[cause]
        text = shrink(example.text, lambda rest: self._differs(rest, example.reading, cause), _SHRINKING_EFFORT)
        a_ids, b_ids = self._pair(text, example.reading)
        return difference_of(self.a, self.b, "made smaller", text, example.reading, cause, a_ids, b_ids)
