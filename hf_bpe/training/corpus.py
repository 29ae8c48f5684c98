"""From what a user calls a corpus to its texts, a block of them in memory at a time."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

import numpy as np

from hf_bpe.corpus.documents import BadDocuments, Batch, Place, offsets_of
from hf_bpe.corpus.parquet import check_column
from hf_bpe.corpus.reading import read_documents
from hf_bpe.corpus.sources import Source, find_sources
from hf_bpe.engine.reference import as_unicode
from hf_bpe.errors import CorpusError

__all__ = ["Corpus", "Cut", "Input", "inputs_of", "lines_of", "size_of", "text_size"]

Corpus: TypeAlias = Any
"""str | os.PathLike | Iterable[str | os.PathLike] | datasets.Dataset | datasets.IterableDataset"""

Cut: TypeAlias = Callable[[bytearray, int], int]

_BLOCK_BYTES = 1 << 18
"""Less than encoding reads at a time: what is read ahead, joined and counted is in memory several times, beside the counts. With 4 MiB
that was half of the memory for learning from 80 MB of English and code."""

_BAD = BadDocuments(skip=False, remedy="Mend it, or leave such files out with skip_bad_files=True, which names them")


class Input(Protocol):
    """One source of texts."""

    @property
    def name(self) -> str:
        """In messages and in what is recorded; distinct among the inputs of a corpus."""

    @property
    def size(self) -> int | None:
        """What the `consumed` of batches grows to; None where nobody knows."""

    @property
    def texts(self) -> int | None:
        """How many texts there are; None where nobody knows."""

    @property
    def is_file(self) -> bool:
        """Whether it can be read on from any place, and be left out if it is bad."""

    def describe(self) -> dict[str, Any]:
        """All that tells whether it is still the same."""

    def batches(self, start: Place) -> Iterator[Batch]:
        """Its texts. What is no file begins anew, whatever the `start`."""


@dataclass(frozen=True)
class FileInput:
    """A text, JSON lines or Parquet file. A text file is one text, given in parts where it may be cut."""

    source: Source
    field: str
    cut: Cut | None
    separator: bytes | None = None
    texts: int | None = None
    is_file: bool = True
    bad: BadDocuments = _BAD
    block_bytes: int | None = None

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.source.path)

    @property
    def size(self) -> int | None:
        """Bytes on disk."""
        return self.source.size

    def describe(self) -> dict[str, Any]:
        """Path, format, compression, size and time of change."""
        return self.source.describe()

    def batches(self, start: Place) -> Iterator[Batch]:
        """Raises `CorpusError` naming file, row and reason, also if the file is changed meanwhile."""
        yield from read_documents(
            self.source,
            start,
            field=self.field,
            separator=self.separator,
            cut=self.cut,
            bad=self.bad,
            block_bytes=self.block_bytes or _BLOCK_BYTES,
        )
        self.source.check_unchanged()


class _StandardInput(Source):
    """What comes through a pipe: read once, from its beginning, and of no known size."""

    def open(self) -> BinaryIO:
        return _Pipe(sys.stdin.buffer)  # type: ignore[return-value]  # all of it that a `Stream` uses

    def check_unchanged(self) -> None:
        """Nothing can be known."""


class _Pipe:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._done = 0

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self._done += len(content)
        return content

    def tell(self) -> int:
        return self._done

    def __enter__(self) -> _Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        """It stays open: it is not ours."""


@dataclass(frozen=True)
class StandardInput(FileInput):
    """UTF-8 text on standard input."""

    is_file: bool = False

    @property
    def name(self) -> str:
        """A name that is no path."""
        return "standard input"

    @property
    def size(self) -> int | None:
        """Unknown."""
        return None

    def describe(self) -> dict[str, Any]:
        """That it is standard input is all that is known."""
        return {"path": "-"}


def standard_input(field: str, cut: Cut | None, separator: bytes | None = None, **options: Any) -> StandardInput:
    """Standard input as one text, or as several with a separator between them. options: as of a `FileInput`."""
    return StandardInput(_StandardInput(Path("standard input"), "text", None, 0, 0), field, cut, separator, **options)


@dataclass(frozen=True)
class TextsInput:
    """An iterable of texts, or a column of a `datasets` table."""

    given: Iterable[object]
    name: str
    texts: int | None
    size: int | None = None
    is_file: bool = False

    def describe(self) -> dict[str, Any]:
        """Its name, which says little."""
        return {"texts of": self.name}

    def batches(self, start: Place) -> Iterator[Batch]:
        """Raises `CorpusError` naming what is no text."""
        waiting: list[bytes] = []
        size, row, offset = 0, 0, 0
        for text in self.given:
            if not isinstance(text, str):
                raise CorpusError(f"text {row + len(waiting)} of the corpus is a {type(text).__name__}, not a str{_hint(text)}")
            waiting.append(_utf8(text))
            del text  # a batch is all that is held
            size += len(waiting[-1])
            if size >= _BLOCK_BYTES:
                yield _batch(waiting, row, offset)
                row, offset = row + len(waiting), offset + size
                waiting, size = [], 0
        if waiting:
            yield _batch(waiting, row, offset)


def _batch(texts: Sequence[bytes], row: int, offset: int) -> Batch:
    offsets = offsets_of(np.fromiter(map(len, texts), np.int64, len(texts)))
    return Batch(b"".join(texts), offsets, offsets[1:] + offset, np.arange(row + 1, row + 1 + len(texts)))


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return as_unicode(text).encode()


def _hint(text: object) -> str:
    return "; pass the texts of the rows: (row['text'] for row in rows)" if isinstance(text, dict) else ""


def inputs_of(
    corpus: Corpus,
    *,
    field: str = "text",
    cut: Cut | None = None,
    separator: bytes | None = None,
    check: bool = True,
    bad: BadDocuments = _BAD,
    block_bytes: int | None = None,
) -> list[Input]:
    """The sources of a corpus.

    A single str or path is a file, a folder, a pattern such as "data/*.jsonl.zst", or "-" for standard input. A list or tuple
    is of these if its items are paths, or are str that all name existing files; a list in which some do and some do not is
    refused rather than guessed at. What has columns is a `datasets` table. Anything else is an iterable of texts.

    field: of JSON lines, Parquet and tables. separator: text files are split at it. check: open Parquet files at once.
    bad: what becomes of documents that cannot be read. block_bytes: how much of a file is read at a time.

    Raises `CorpusError` for what does not exist, cannot be read, is no text, or is named twice.
    """
    paths = _paths(corpus)
    if paths is None:
        return [_table(corpus, field) if hasattr(corpus, "column_names") else _texts(corpus)]
    inputs: list[Input] = []
    named = [path for path in paths if os.fspath(path) != "-"]
    if len(paths) - len(named) > 1:
        raise CorpusError("standard input is named twice, but can be read only once")
    sources = find_sources(named) if named or not paths else []
    for source in sources:
        if check and source.format == "parquet":
            check_column(source, field)
        inputs.append(FileInput(source, field, cut, separator, bad=bad, block_bytes=block_bytes))
    if len(paths) > len(named):
        inputs.append(standard_input(field, cut, separator, bad=bad, block_bytes=block_bytes))
    return inputs


def size_of(inputs: Sequence[Input]) -> int | None:
    """Bytes to read in all, or None where that is not known."""
    sizes = [each.size for each in inputs]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def text_size(inputs: Sequence[Input]) -> int | None:
    """Bytes of text in all, or None where that is not known before it is read."""
    plain = all(isinstance(each, FileInput) and each.source.is_plain_text for each in inputs)
    return size_of(inputs) if plain else None


def _paths(corpus: Corpus) -> list[str | os.PathLike[str]] | None:
    if isinstance(corpus, str | os.PathLike):
        return [corpus]
    if not isinstance(corpus, list | tuple):
        return None
    if any(isinstance(item, os.PathLike) for item in corpus):
        return list(corpus)
    named = [isinstance(item, str) and _names_file(item) for item in corpus]
    if corpus and all(named):
        return list(corpus)
    for item, is_file in zip(corpus, named, strict=True):
        if not is_file and isinstance(item, str) and (any(named) or _LIKE_A_FILE.fullmatch(item)):
            raise CorpusError(
                f"{item!r:.80} does not name a file, though {'other items do' if any(named) else 'it looks like one'}; pass paths as "
                "pathlib.Path, and texts through an iterator: iter(texts)"
            )
    return None


# One word with a suffix, such as "corpus.txt": as a text it would be trained on without a word, to nobody's joy.
_LIKE_A_FILE = re.compile(r"\S{1,255}\.[A-Za-z0-9]{1,8}")


def _names_file(text: str) -> bool:
    try:
        return "\0" not in text and Path(text).is_file()
    except OSError:  # "File name too long": a text
        return False


def _texts(corpus: Any) -> TextsInput:
    if not isinstance(corpus, Iterable):
        raise CorpusError(f"a corpus is paths or an iterable of texts, not {corpus!r:.80}")
    return TextsInput(corpus, "an iterable", len(corpus) if isinstance(corpus, Sized) else None)


def _table(table: Any, field: str) -> TextsInput:
    """A `datasets.Dataset` or `IterableDataset`; a dict of them has columns for each."""
    columns = table.column_names
    if isinstance(columns, dict):
        raise CorpusError(f"the corpus is a dict of datasets; choose one of {', '.join(map(repr, columns))}")
    if columns is not None and field not in columns:
        raise CorpusError(f"the dataset has no column {field!r}; name one of {', '.join(map(repr, columns))} as text_field")
    return TextsInput(_Column(table, field), f"column {field!r} of a dataset", getattr(table, "num_rows", None))


@dataclass(frozen=True)
class _Column:
    table: Any
    field: str

    def __iter__(self) -> Iterator[object]:
        for rows in self.table.iter(batch_size=_ROWS):
            if self.field not in rows:
                raise CorpusError(
                    f"the dataset has no column {self.field!r}; name one of {', '.join(map(repr, rows))} as text_field"
                )
            yield from rows[self.field]


_ROWS = 1000


def lines_of(inputs: Sequence[Input]) -> Iterator[bytes]:
    """The lines of inputs made with `separator=b"\\n"`, without their line feeds, and without the last where it is empty."""
    for each in inputs:
        begun: list[bytes] = []
        for batch in each.batches(Place()):
            for number, (start, end) in enumerate(zip(batch.offsets[:-1].tolist(), batch.offsets[1:].tolist(), strict=True)):
                *lines, rest = batch.data[start:end].split(b"\n")
                for line in lines:
                    yield b"".join([*begun, line])
                    begun = []
                begun.append(rest)
                if not (batch.unfinished and number == len(batch.rows) - 1):
                    yield b"".join(begun)
                    begun = []
