"""How a corpus is read."""

from __future__ import annotations

from pathlib import Path

from hf_bpe.corpus.documents import Place
from hf_bpe.training.corpus import Cut, inputs_of


def parts_of(path: Path, *, cut: Cut | None) -> list[str]:
    """The parts in which a file is counted."""
    (given,) = inputs_of([path], cut=cut)
    return [batch.data.decode() for batch in given.batches(Place())]
