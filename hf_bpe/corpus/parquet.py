"""Reads a column of strings out of Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from hf_bpe.corpus.documents import BLOCK_BYTES, BadDocuments, Batch, Offsets, Place, drop_invalid_utf8
from hf_bpe.corpus.sources import Source
from hf_bpe.errors import CorpusError

__all__ = ["check_column", "read_parquet"]

_MOST_ROWS = 1 << 16


def check_column(source: Source, field: str) -> None:
    """Raise `CorpusError` unless the file is Parquet with a column of strings named `field`. Reads only its end."""
    with _opened(source, field):
        pass


def read_parquet(
    source: Source, start: Place, *, field: str, bad: BadDocuments, block_bytes: int = BLOCK_BYTES
) -> Iterator[Batch]:
    """The strings in column `field`, in batches of about `block_bytes`. A null is bad."""
    with _opened(source, field) as file:
        rows = file.metadata.num_rows
        behind = 0  # the rows before the end of the current group
        for group in range(file.metadata.num_row_groups):
            before, behind = behind, behind + file.metadata.row_group(group).num_rows
            if behind <= start.row:
                continue
            for table in file.iter_batches(_rows_at_once(file, group, field, block_bytes), row_groups=[group], columns=[field]):
                first, before = before, before + table.num_rows
                if before <= start.row:
                    continue
                skipped = max(0, start.row - first)
                yield _batch(source, table.column(0).slice(skipped), first + skipped, bad, source.size * before // rows)


@contextmanager
def _opened(source: Source, field: str) -> Iterator[Any]:
    """The file, errors of pyarrow turned into ours."""
    try:
        parquet, arrow = import_module("pyarrow.parquet"), import_module("pyarrow")
    except ImportError:
        raise CorpusError(f"{source.path}: reading Parquet needs pyarrow: pip install 'hf-bpe[parquet]'") from None
    try:
        with parquet.ParquetFile(source.path, page_checksum_verification=True) as file:  # where there are checksums
            _check_type(source, file.schema_arrow, field, arrow.types)
            yield file
    except (arrow.ArrowException, OSError) as error:
        raise CorpusError(f"{source.path}: cannot be read as Parquet: {error}; fetch it again") from error


def _check_type(source: Source, schema: Any, field: str, types: Any) -> None:
    if schema.names.count(field) != 1:
        problem = "has no column" if field not in schema.names else "has more than one column"
        raise CorpusError(f"{source.path}: {problem} {field!r}; name one of {', '.join(map(repr, schema.names))} as text_field")
    kind = schema.field(field).type
    inner = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_string(inner) or types.is_large_string(inner) or types.is_string_view(inner)):
        raise CorpusError(
            f"{source.path}: column {field!r} holds {kind}, not strings; convert it, or name another as text_field"
        )


def _rows_at_once(file: Any, group: int, field: str, block_bytes: int) -> int:
    """How many rows make about one block of text."""
    row_group = file.metadata.row_group(group)
    chunks = (row_group.column(number) for number in range(row_group.num_columns))
    size: int = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema == field)
    rows: int = row_group.num_rows
    return max(1, min(_MOST_ROWS, block_bytes * rows // max(1, size)))


def _batch(source: Source, column: Any, first: int, bad: BadDocuments, consumed: int) -> Batch:
    """Strings that stand in rows `first`, ... (from 0) as a batch; rows are counted from 1 in messages."""
    rows = np.arange(first + 1, first + 1 + len(column))
    bad_rows = np.zeros(0, np.int64)
    if column.null_count:
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        bad_rows, rows = rows[~valid], rows[valid]
        for row in bad_rows.tolist():
            bad.add(source.path, f"row {row}", "null instead of a text")
        column = column.drop_null()
    data, offsets = _buffers(column)
    batch = Batch(data, offsets, np.zeros(len(rows), np.int64), rows, bad_rows, consumed)
    return drop_invalid_utf8(batch, lambda number, at: f"row {rows[number]}, byte {at} of the text", source.path, bad)


def _buffers(column: Any) -> tuple[bytes, Offsets]:
    """The bytes of an Arrow array of strings without nulls, and the offsets into them."""
    arrow = import_module("pyarrow")
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    column = column.cast(arrow.large_string())
    _, places, content = column.buffers()
    if not len(column):
        return b"", np.zeros(1, np.int64)
    offsets = np.frombuffer(places, np.int64, len(column) + 1, column.offset * 8)
    start, end = int(offsets[0]), int(offsets[-1])
    data = content.slice(start, end - start).to_pybytes() if end > start else b""
    return data, offsets - start
