"""The texts of a comparison, one at a time: built-in, generated, given, and out of files of any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from hf_bpe.corpus.documents import BadDocuments, Batch, Place
from hf_bpe.corpus.reading import read_documents
from hf_bpe.corpus.sources import Paths, Source, find_sources

__all__ = ["DEFAULT_SEPARATOR", "Document", "Origin", "corpus_size", "read_corpus"]

Origin: TypeAlias = Literal["built-in", "generated", "given", "corpus"]

DEFAULT_SEPARATOR = "<|endoftext|>"

_BLOCK_BYTES = 1 << 20
"""Longer documents of text files are cut, so that a file without separators does not have to fit into memory."""


class Document(NamedTuple):
    """A text to compare, and where it stands."""

    where: str
    text: str
    origin: Origin


def corpus_size(paths: Paths) -> int:
    """Bytes in the files, as they are on disk."""
    return sum(source.size for source in find_sources(paths))


def read_corpus(
    paths: Paths,
    *,
    separator: str | None = DEFAULT_SEPARATOR,
    text_field: str = "text",
    report: Callable[[int], object] = lambda done: None,
) -> Iterator[Document]:
    """The documents of text, JSON lines and Parquet files, compressed or not. Empty ones are left out.

    separator: what ends a document in text files. text_field: where the text is in the others. report: is told the number of
    bytes read. Raises `CorpusError` naming the file and the place for what cannot be read.
    """
    before = 0
    for source in find_sources(paths):
        for batch in _batches(source, separator, text_field):
            yield from _documents(source, batch)
            report(before + batch.consumed)
        before += source.size
        report(before)


def _batches(source: Source, separator: str | None, text_field: str) -> Iterator[Batch]:
    bad = BadDocuments(skip=False, remedy="Mend it, or take it out of the corpus")
    ending = separator.encode() if separator else None
    return read_documents(
        source, Place(), field=text_field, separator=ending, cut=_last_character, bad=bad, block_bytes=_BLOCK_BYTES
    )


def _last_character(text: bytearray, end: int) -> int:
    """Where the last character before `end` begins. Both sides get the same parts, so any cut between characters will do."""
    start = end - 1
    while start > max(0, end - 4) and text[start] & 0xC0 == 0x80:
        start -= 1
    return start


def _documents(source: Source, batch: Batch) -> Iterator[Document]:
    unit = {"jsonl": "line", "parquet": "row"}.get(source.format, "document")
    for number, row in enumerate(batch.rows.tolist()):
        text = batch.data[int(batch.offsets[number]) : int(batch.offsets[number + 1])].decode()
        if text:
            yield Document(f"{source.path.name}, {unit} {row}", text, "corpus")
