"""Parts: what one task reads. A large file, or several small ones that follow each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hf_bpe.batching import batched
from hf_bpe.corpus.sources import Source
from hf_bpe.errors import ClusterError

__all__ = ["PART_BYTES", "parts_of"]

PART_BYTES = 256 << 20
"""Bytes on disk that make a part: seconds of work, so that starting a task, some milliseconds, is nothing beside it."""


def parts_of(sources: Sequence[Source], part_bytes: int) -> Iterator[list[Source]]:
    """The sources in their order; a part ends with the file with which it holds `part_bytes`. Raises `ClusterError` below 1."""
    if part_bytes < 1:
        raise ClusterError(f"part_bytes must be at least 1, not {part_bytes!r}")
    return batched(sources, lambda source: source.size, part_bytes)
