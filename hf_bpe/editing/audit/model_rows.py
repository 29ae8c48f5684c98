"""The rows of a checkpoint's embedding and head, as numbers, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hf_bpe.editing.audit.undertrained import Rows
from hf_bpe.errors import EditError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hf_bpe.editing.checkpoint.matrices import Matrix
    from hf_bpe.editing.checkpoint.shards import Checkpoint

__all__ = ["rows_of_model"]


def rows_of_model(folder: Path, ids: int) -> tuple[Rows, Rows | None]:
    """The embedding of a model, and its head where that is another matrix.

    ids: how many the tokenizer has. Raises `EditError` and `FormatError` for folders without such matrices, with damaged files, with
    fewer rows, and with numbers of a kind that is not read.

    >>> embedding, head = rows_of_model(Path("my-model"), 32_000)  # doctest: +SKIP
    """
    from hf_bpe.editing.checkpoint.matrices import find_matrices
    from hf_bpe.editing.checkpoint.numbers import FLOATS
    from hf_bpe.editing.checkpoint.shards import open_checkpoint

    checkpoint = open_checkpoint(folder)
    found = find_matrices(checkpoint, ids).found
    odd = next((matrix.tensor for matrix in found if matrix.role != "bias" and matrix.tensor.dtype not in FLOATS), None)
    if odd is not None:
        raise EditError(
            f"{odd.name} is of dtype {odd.dtype}, whose numbers are not read; take a checkpoint of {', '.join(FLOATS)}"
        )
    embedding, head = (next((m for m in found if m.role == role), None) for role in ("embedding", "head"))
    if embedding is None:
        raise EditError(f"{folder}: no embedding is there, only a head")
    return _rows(checkpoint, embedding), None if head is None else _rows(checkpoint, head)


def _rows(checkpoint: Checkpoint, matrix: Matrix) -> Rows:
    return Rows(matrix.rows, partial(_windows, checkpoint, matrix), f"{matrix.tensor.name} in {matrix.file}")


def _windows(checkpoint: Checkpoint, matrix: Matrix) -> Iterator[NDArray[Any]]:
    from hf_bpe.editing.checkpoint.numbers import from_bytes
    from hf_bpe.editing.checkpoint.reading import RowReader

    with RowReader(checkpoint.folder, matrix, checkpoint.shards[matrix.file].data_start) as reader:
        for _, rows in reader.windows():
            yield from_bytes(rows, matrix.tensor.dtype)
