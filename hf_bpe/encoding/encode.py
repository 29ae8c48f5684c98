"""`encode_files`: files in, ids out, a few blocks in memory at a time."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, overload

import numpy as np
import numpy.typing as npt

from hf_bpe.batching import batched
from hf_bpe.corpus.documents import BLOCK_BYTES, BadDocuments, Batch, Place
from hf_bpe.corpus.parquet import check_column
from hf_bpe.corpus.prefetch import Prefetched
from hf_bpe.corpus.reading import read_documents
from hf_bpe.corpus.sources import Paths, Source, find_sources
from hf_bpe.encoding.cutting import cut_of
from hf_bpe.encoding.encoded import EncodedCorpus, open_encoded
from hf_bpe.encoding.ids import IdMaker, choose_dtype, end_token, gathered
from hf_bpe.encoding.index import End, Settings
from hf_bpe.encoding.output import locked, prepare
from hf_bpe.encoding.progress import Progress, reporting
from hf_bpe.encoding.ragged import Ragged
from hf_bpe.encoding.shards import NO_DOCUMENTS, ShardWriter
from hf_bpe.engine import Encoder
from hf_bpe.engine.threads import thread_count
from hf_bpe.errors import CorpusError
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["SHARD_TOKENS", "OnBad", "encode_files", "settings_of"]

SHARD_TOKENS = 100_000_000
"""Ids in a shard: some minutes of work to lose at most, and files of 200 or 400 MB."""

OnBad: TypeAlias = Literal["raise", "skip"]
Numbered: TypeAlias = tuple[int, Batch]
"""The number of a source, and documents of it."""


class _Options(TypedDict, total=False):
    """The keywords of `encode_files`, for its overloads."""

    text_field: str
    separator: str | None
    eos: int | str | None
    dtype: npt.DTypeLike | None
    num_threads: int | None
    shard_tokens: int
    on_bad: OnBad
    allow_empty: bool
    progress: Progress
    resume: bool
    overwrite: bool


@overload
def encode_files(
    encoder: Encoder | TokenizerSpec,
    paths: Paths,
    output: None = None,
    **options: Unpack[_Options],
) -> Ragged: ...
@overload
def encode_files(
    encoder: Encoder | TokenizerSpec,
    paths: Paths,
    output: str | os.PathLike[str],
    **options: Unpack[_Options],
) -> EncodedCorpus: ...
def encode_files(
    encoder: Encoder | TokenizerSpec,
    paths: Paths,
    output: str | os.PathLike[str] | None = None,
    *,
    text_field: str = "text",
    separator: str | None = None,
    eos: int | str | None = None,
    dtype: npt.DTypeLike | None = None,
    num_threads: int | None = None,
    shard_tokens: int = SHARD_TOKENS,
    on_bad: OnBad = "raise",
    allow_empty: bool = False,
    progress: Progress = True,
    resume: bool = True,
    overwrite: bool = False,
) -> Ragged | EncodedCorpus:
    """Encode the documents in files. Special tokens spelled out in the text are encoded as the text they are.

    paths: a file, a folder (all files in it and below, but for names that begin with a dot or an underscore), a pattern
        such as "data/*.jsonl.zst", or a list of these. .jsonl, .ndjson and .json hold one object on each line, .parquet a
        table; every other file is UTF-8 text. All but Parquet may be compressed (.gz, .zst).
    output: None gives two arrays (`Ragged`); a folder gets shards and an index, and is opened (`EncodedCorpus`).
    text_field: the field or column that holds the text.
    separator: what ends a document in text files; None: each text file is one document.
    eos: an id, or the text of an added token, put behind each document.
    dtype: of the ids; default: uint16 if all ids of the tokenizer fit, else uint32.
    num_threads: threads that encode; default: all processors.
    shard_tokens: a shard ends with the document with which it holds so many ids.
    on_bad: "skip" leaves out documents that cannot be read, counts them in the index and warns; "raise" stops at the first.
    allow_empty: take files that hold no documents for what they are, instead of raising an error.
    progress: True for a bar on standard error, or a function of bytes done and bytes in all.
    resume: go on after the last complete shard where the folder holds the beginning of the same run; the result is the same,
        byte for byte, as without the interruption. False: refuse a folder in use.
    overwrite: replace encoded documents that the folder holds.

    Raises `CorpusError` naming file and line for bad input, `ResumeRefused` listing what differs from the run in the folder,
    `FileExistsError` for a folder with other things in it, `OSError` for what cannot be written.

    >>> encode_files(encoder, "docs.jsonl", eos="<|endoftext|>")  # doctest: +SKIP
    Ragged(ids=array([15496, 995, 50256], dtype=uint16), offsets=array([0, 3]))
    """
    encoder = encoder if isinstance(encoder, Encoder) else Encoder(encoder)
    threads = thread_count(num_threads)
    sources = find_sources(paths)
    settings = settings_of(
        encoder.spec,
        sources,
        text_field=text_field,
        separator=separator,
        eos=eos,
        dtype=dtype,
        shard_tokens=shard_tokens,
        on_bad=on_bad,
    )
    chosen = np.dtype(settings.dtype)
    for source in sources:
        if source.format == "parquet":
            check_column(source, text_field)
    bad = BadDocuments(skip=on_bad == "skip")
    run = _Run(sources, IdMaker(encoder, chosen, settings.eos, threads), _Readers(encoder.spec, text_field, separator, bad))
    if output is None:
        with reporting(progress, 0, run.size) as report, closing(run.encoded(0, Place(), report)) as encoded:
            result = gathered(((ragged, batch.unfinished) for _, batch, ragged in encoded), chosen)
        if not allow_empty and len(result.offsets) == 1:
            raise CorpusError(NO_DOCUMENTS)
        _warn(bad)
        return result
    folder = Path(output)
    with locked(folder):
        index = prepare(folder, settings, resume=resume, overwrite=overwrite)
        if not index.complete:
            end = index.shards[-1].end if index.shards else End(0, Place(), 0)
            with (
                ShardWriter(folder, index) as writer,
                reporting(progress, run.bytes_before(end), run.size) as report,
                closing(run.encoded(end.source, end.place, report)) as encoded,
            ):
                for number, batch, ragged in encoded:
                    writer.add(number, batch, ragged)
                writer.finish(allow_empty=allow_empty)
    _warn(bad)
    return open_encoded(folder)


def settings_of(
    spec: TokenizerSpec,
    sources: Sequence[Source],
    *,
    text_field: str,
    separator: str | None,
    eos: int | str | None,
    dtype: npt.DTypeLike | None,
    shard_tokens: int,
    on_bad: OnBad,
    part_bytes: int | None = None,
) -> Settings:
    """What `encode_files` was asked for, as the index holds it. Raises `ValueError` for what it cannot do."""
    _check_options(text_field, separator, shard_tokens, on_bad)
    return Settings(
        tokenizer=spec.fingerprint,
        n_vocab=spec.n_vocab,
        dtype=choose_dtype(spec, dtype).str,
        eos=end_token(spec, eos),
        text_field=text_field,
        separator=separator,
        on_bad=on_bad,
        shard_tokens=shard_tokens,
        part_bytes=part_bytes,
        sources=tuple(source.describe() for source in sources),
    )


def _check_options(text_field: str, separator: str | None, shard_tokens: int, on_bad: str) -> None:
    if on_bad not in ("raise", "skip"):
        raise ValueError(f"on_bad must be 'raise' or 'skip', not {on_bad!r}")
    if separator == "":
        raise ValueError("separator must not be empty; None makes each text file one document")
    for name, text in (("text_field", text_field), ("separator", separator)):
        if text is not None and not _is_unicode(text):
            raise ValueError(f"{name} {text!r} holds a lone surrogate, which no file of UTF-8 can hold")
    if shard_tokens < 1:
        raise ValueError(f"shard_tokens must be at least 1, not {shard_tokens}")


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _warn(bad: BadDocuments) -> None:
    if bad.count:
        documents = "document that" if bad.count == 1 else "documents that"
        warnings.warn(f"left out {bad.count:,} {documents} cannot be read; the first: {bad.first}", stacklevel=3)


class _Readers:
    """Opens each source in the way its format needs."""

    def __init__(self, spec: TokenizerSpec, text_field: str, separator: str | None, bad: BadDocuments) -> None:
        self._cut = cut_of(spec)
        self._field = text_field
        self._separator = None if separator is None else separator.encode()
        self._bad = bad

    def read(self, source: Source, start: Place) -> Iterator[Batch]:
        return read_documents(
            source,
            start,
            field=self._field,
            separator=self._separator,
            cut=self._cut,
            bad=self._bad,
            block_bytes=BLOCK_BYTES,
        )


class _Run:
    """One pass over the sources."""

    def __init__(self, sources: Sequence[Source], ids: IdMaker, readers: _Readers) -> None:
        self._sources = sources
        self._ids = ids
        self._readers = readers
        self.size = sum(source.size for source in sources)

    def bytes_before(self, end: End) -> int:
        """About how many bytes of files lie before a place."""
        source = self._sources[end.source]
        inside = end.place.offset if source.compression is None else 0
        return sum(source.size for source in self._sources[: end.source]) + min(inside, source.size)

    def encoded(self, first: int, start: Place, report: Callable[[int], object]) -> Generator[tuple[int, Batch, Ragged]]:
        """(number of the source, documents, their ids), from `start` in source `first` on."""
        before = [0]
        for source in self._sources:
            before.append(before[-1] + source.size)
        with Prefetched(self._batches(first, start)) as batches:
            for group in batched(batches, lambda numbered: len(numbered[1].data), BLOCK_BYTES):
                for (number, batch), ragged in zip(group, self._ids.encode([batch for _, batch in group]), strict=True):
                    yield number, batch, ragged
                number, batch = group[-1]
                report(before[number] + batch.consumed)
        report(self.size)

    def _batches(self, first: int, start: Place) -> Iterator[Numbered]:
        for number in range(first, len(self._sources)):
            source = self._sources[number]
            for batch in self._readers.read(source, start if number == first else Place()):
                yield number, batch
            source.check_unchanged()
