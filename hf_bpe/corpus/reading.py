"""Reads the documents of a file in the way its format needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hf_bpe.corpus.documents import BLOCK_BYTES, BadDocuments, Batch, Place
from hf_bpe.corpus.jsonl import read_jsonl
from hf_bpe.corpus.parquet import read_parquet
from hf_bpe.corpus.sources import Source
from hf_bpe.corpus.text import read_text

__all__ = ["read_documents"]


def read_documents(
    source: Source,
    start: Place,
    *,
    field: str,
    separator: bytes | None,
    cut: Callable[[bytearray, int], int] | None,
    bad: BadDocuments,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Batch]:
    """The documents of one file, from `start` on. Raises `CorpusError` naming file and place.

    field: of JSON lines and Parquet. separator, cut: of text files; see `read_text`.
    """
    if source.format == "jsonl":
        return read_jsonl(source, start, field=field, bad=bad, block_bytes=block_bytes)
    if source.format == "parquet":
        return read_parquet(source, start, field=field, bad=bad, block_bytes=block_bytes)
    return read_text(source, start, separator=separator, cut=cut, bad=bad, block_bytes=block_bytes)
