"""What is known of the sources of some counts: which were read to the end, which were left out, and where one was left."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hf_bpe.corpus.documents import Batch, Place
from hf_bpe.training.corpus import Input

__all__ = ["Counted", "LeftOut"]


@dataclass(frozen=True)
class Counted:
    """A source, and how much of it was counted.

    source: as `Input.describe` says. crc32: of its texts, laid end to end. place: behind the last text, while it is being read.
    """

    name: str
    source: dict[str, Any]
    texts: int = 0
    text_bytes: int = 0
    crc32: int = 0
    place: Place = field(default=Place(), compare=False)

    @classmethod
    def none_of(cls, given: Input) -> Counted:
        """A source of which nothing was counted yet."""
        return cls(given.name, given.describe())

    def and_then(self, batch: Batch) -> Counted:
        """With the texts of one more batch."""
        rows = len(batch.rows)
        place = self.place
        if rows:
            place = Place(int(batch.ends[-1]), int(batch.rows[-1]) - batch.unfinished)
        return replace(
            self,
            texts=self.texts + rows - batch.unfinished,
            text_bytes=self.text_bytes + len(batch.data),
            crc32=zlib.crc32(batch.data, self.crc32),
            place=place,
        )

    def is_part_of(self, others: Iterable[Counted]) -> bool:
        """Whether one of them is of the same source, and of as much of it or more."""
        return any(self.name == each.name and self.source == each.source and self.texts <= each.texts for each in others)

    def to_json(self) -> dict[str, Any]:
        """As files hold it."""
        counted = {"texts": self.texts, "text_bytes": self.text_bytes, "crc32": f"{self.crc32:08x}"}
        return {"name": self.name, "source": self.source, **counted}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Counted:
        """The inverse."""
        return cls(**{**content, "crc32": int(content["crc32"], 16)})


@dataclass(frozen=True)
class LeftOut:
    """A source that was not counted, and why."""

    name: str
    source: dict[str, Any]
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As files hold it."""
        return asdict(self)
