"""Word-count files: Parquet with two columns, and what was counted in its metadata. docs/word_counts.md has the format."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hf_bpe.errors import FormatError
from hf_bpe.training.counting.merging import exact_sum, joined
from hf_bpe.training.words import Words

__all__ = ["Totals", "need_pyarrow", "read_metadata", "read_words", "sealed", "write_words"]

_KEY = b"hf_bpe.word_counts"
_SEAL = "metadata_checksum"
_VERSION = 1
_READ_WORDS = 1 << 17
_GROUP_WORDS = 1 << 20
"""Words in a row group: large enough to compress, and what a reader of the whole file holds at a time."""

_ADVICE = "restore it, or count again"


@dataclass
class Totals:
    """How many words went by, how often they occur together, and a checksum over them that no cut into blocks changes."""

    words: int = 0
    occurrences: int = 0
    text_bytes: int = 0
    _hashes: tuple[Any, Any, Any] = field(default_factory=lambda: (_hash(), _hash(), _hash()))

    def add(self, words: Words) -> None:
        """Note some words."""
        content = words.bytes[words.bounds[0] : words.bounds[-1]]
        for each, array in zip(self._hashes, (content, words.lengths.astype("<i8"), words.counts.astype("<i8")), strict=True):
            each.update(np.ascontiguousarray(array).data)
        self.words += words.size
        self.occurrences += exact_sum(words.counts)
        self.text_bytes += _exact_product(words.lengths, words.counts)

    @property
    def checksum(self) -> str:
        """Over the bytes of all words, their lengths, and their counts."""
        checksum: str = _hash(b"".join(each.digest() for each in self._hashes)).hexdigest()
        return checksum

    def to_json(self) -> dict[str, Any]:
        """As the metadata holds them."""
        return {
            "words": self.words,
            "occurrences": self.occurrences,
            "text_bytes": self.text_bytes,
            "checksum": f"blake2b-256:{self.checksum}",
        }


def _hash(content: bytes = b"") -> Any:
    return hashlib.blake2b(content, digest_size=32)


def _exact_product(lengths: Any, counts: Any) -> int:
    """The sum of products, which may be more than 64 bits hold."""
    if not len(counts) or int(lengths.max()) * int(counts.max()) < 2**62:
        return exact_sum(lengths * counts)
    return sum(length * count for length, count in zip(lengths.tolist(), counts.tolist(), strict=True))


def write_words(path: Path, blocks: Iterator[Words], metadata: Callable[[], dict[str, Any]]) -> None:
    """Write a word-count file. metadata: asked for when all words were given; it takes its name when it is complete. Raises `FormatError` without pyarrow, `OSError`."""
    arrow, parquet = need_pyarrow(path)
    schema = arrow.schema([arrow.field("word", arrow.large_binary(), False), arrow.field("count", arrow.int64(), False)])
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    totals = Totals()
    try:
        with parquet.ParquetWriter(
            temporary, schema, compression="zstd", use_dictionary=False, write_page_checksum=True, write_statistics=["count"]
        ) as writer:
            for words in _groups(blocks):
                totals.add(words)
                writer.write_table(arrow.Table.from_batches([_record_batch(arrow, schema, words)], schema))
            described = {"format": "hf-bpe word counts", "version": _VERSION, **metadata(), **totals.to_json()}
            writer.add_key_value_metadata({_KEY: json.dumps(sealed(described))})
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise type(error)(error.errno, error.strerror or str(error), str(path)) from error
        raise


def _groups(blocks: Iterator[Words]) -> Iterator[Words]:
    """The same words in row groups of one size: equal counts make equal files, in whatever blocks they come."""
    waiting: list[Words] = []
    for block in blocks:
        waiting.append(block)
        if sum(words.size for words in waiting) >= _GROUP_WORDS:
            words = joined(waiting)
            whole = words.size - words.size % _GROUP_WORDS
            for start in range(0, whole, _GROUP_WORDS):
                yield words.part(start, start + _GROUP_WORDS)
            waiting = [words.part(whole, words.size)]
    rest = joined(waiting)
    if rest.size:
        yield rest


def _record_batch(arrow: Any, schema: Any, words: Words) -> Any:
    """The arrays as Arrow's, without a copy."""
    buffers = [None, arrow.py_buffer(np.ascontiguousarray(words.bounds)), arrow.py_buffer(np.ascontiguousarray(words.bytes))]
    column = arrow.Array.from_buffers(arrow.large_binary(), words.size, buffers)
    return arrow.RecordBatch.from_arrays([column, arrow.array(words.counts)], schema=schema)


def sealed(described: dict[str, Any]) -> dict[str, Any]:
    """A description with a checksum over the rest of it."""
    rest = {name: value for name, value in described.items() if name != _SEAL}
    return rest | {_SEAL: f"blake2b-256:{_hash(json.dumps(rest, sort_keys=True).encode()).hexdigest()}"}


def read_metadata(path: Path) -> dict[str, Any]:
    """What a word-count file says of itself. Raises `FormatError` for another file or another version."""
    with _opened(path) as file:
        return _metadata(path, file)


def read_words(path: Path, checksum: str) -> Iterator[Words]:
    """The words of a file, block by block. Raises `FormatError` where it is damaged, at the end if its checksum is wrong.

    checksum: what its metadata said when it was opened.
    """
    totals = Totals()
    last = None
    with _opened(path) as file:
        described = _metadata(path, file)
        if described.get("checksum") != checksum:
            raise FormatError(f"{path}: holds other counts than when it was opened; load it again")
        for batch in file.iter_batches(_READ_WORDS, columns=["word", "count"]):
            words = _words_of(batch)
            if not words.size:
                continue
            _check(path, words, last)
            last = words.word(words.size - 1)
            totals.add(words)
            yield words
    wrong = [
        f"{name} is {described.get(name)!r}, its rows give {value!r}"
        for name, value in totals.to_json().items()
        if described.get(name) != value
    ]
    if wrong:
        raise FormatError(f"{path}: its rows are not those that were written: {'; '.join(wrong)}; {_ADVICE}")


def _check(path: Path, words: Words, last: bytes | None) -> None:
    """What merging relies on, and a checksum made for a forged file does not give."""
    if int(words.counts.min()) < 1:
        raise FormatError(f"{path}: a count is {int(words.counts.min())}; {_ADVICE}")
    unsorted = last is not None and words.word(0) <= last
    if unsorted or not _ascends(words):
        raise FormatError(f"{path}: its words are not sorted and distinct; {_ADVICE}")


def _ascends(words: Words) -> bool:
    from hf_bpe.engine.backends import load_native

    native = load_native()
    if native is not None:
        ascends: bool = native.words_ascend(words)
        return ascends
    return all(one < other for one, other in pairwise(word for word, _ in words.items()))


def _words_of(batch: Any) -> Words:
    arrow = import_module("pyarrow")
    column, counts = batch.column(0).cast(arrow.large_binary()), batch.column(1)
    if column.null_count or counts.null_count:
        raise ValueError("there are nulls in it")
    _, places, content = column.buffers()
    bounds = np.frombuffer(places, np.int64, len(column) + 1, column.offset * 8)
    data = np.frombuffer(content, np.uint8) if content is not None and content.size else np.zeros(0, np.uint8)
    return Words(data, bounds, counts.to_numpy())


def _metadata(path: Path, file: Any) -> dict[str, Any]:
    content = (file.metadata.metadata or {}).get(_KEY)
    if content is None:
        raise FormatError(f"{path}: is Parquet, but no word counts of ours; make such a file with `hf-bpe counts make`")
    described = json.loads(content)
    if not isinstance(described, dict):
        raise FormatError(f"{path}: its metadata are no object; {_ADVICE}")
    if described.get("version") != _VERSION:
        raise FormatError(
            f"{path}: word counts of version {described.get('version')!r}, and this hf-bpe reads version {_VERSION}; use the hf-bpe that "
            "wrote it, or count again"
        )
    if described != sealed(described):
        raise ValueError("the checksum of its metadata is wrong")
    schema = {field.name: str(field.type) for field in file.schema_arrow}
    if schema.keys() != {"word", "count"} or schema["word"] not in ("binary", "large_binary") or schema["count"] != "int64":
        raise ValueError(f"its columns are {schema}, not word (binary) and count (int64)")
    return described


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    arrow, parquet = need_pyarrow(path)
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except FormatError:
        raise
    except (arrow.ArrowException, OSError, ValueError, RecursionError) as error:
        raise FormatError(f"{path}: cannot be read as word counts: {error}; {_ADVICE}") from error


def need_pyarrow(path: Path) -> tuple[Any, Any]:
    """Its modules. Raises `FormatError` saying how to get it."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise FormatError(f"{path}: word-count files need pyarrow: pip install 'hf-bpe[parquet]'") from None
