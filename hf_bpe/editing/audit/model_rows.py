"""The rows of a checkpoint's embedding and head, as numbers, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def rows_of_model(
    folder: Path, ids: int, *, embedding: Sequence[str] = (), head: Sequence[str] = ()
) -> tuple[Rows, Rows | None]:
    """The embedding of a model, and its head where that is another matrix. Of several the first of the checkpoint.

    ids: how many the tokenizer has. embedding, head: names of the tensors, where they are not known. Raises `EditError` and
    `FormatError` for folders without such matrices, with damaged files, with fewer rows, and with numbers of a kind that is not read.

    >>> embedding, head = rows_of_model(Path("my-model"), 32_000)  # doctest: +SKIP
    """
    from hf_bpe.editing.checkpoint.matrices import matrices_of_model
    from hf_bpe.editing.checkpoint.numbers import FLOATS
    from hf_bpe.editing.checkpoint.shards import open_checkpoint

    checkpoint = open_checkpoint(folder)
    remedy = "take the tokenizer that the model was trained with"
    found = matrices_of_model(checkpoint, ids, embedding=embedding, head=head, remedy=remedy).found
    odd = next((matrix.tensor for matrix in found if matrix.role != "bias" and matrix.tensor.dtype not in FLOATS), None)
    if odd is not None:
        raise EditError(
            f"{odd.name} is of dtype {odd.dtype}, whose numbers are not read; take a checkpoint of {', '.join(FLOATS)}"
        )
    inputs, outputs = ([matrix for matrix in found if matrix.role == role] for role in ("embedding", "head"))
    if not inputs:  # one matrix was named as both
        return _rows(checkpoint, outputs[0]), None
    return _rows(checkpoint, inputs[0]), _rows(checkpoint, outputs[0]) if outputs else None


def _rows(checkpoint: Checkpoint, matrix: Matrix) -> Rows:
    return Rows(matrix.rows, partial(_windows, checkpoint, matrix), f"{matrix.tensor.name} in {matrix.file}")


def _windows(checkpoint: Checkpoint, matrix: Matrix) -> Iterator[NDArray[Any]]:
    from hf_bpe.editing.checkpoint.numbers import from_bytes
    from hf_bpe.editing.checkpoint.reading import RowReader

    with RowReader(checkpoint.folder, matrix, checkpoint.shards[matrix.file].data_start) as reader:
        for _, rows in reader.windows():
            yield from_bytes(rows, matrix.tensor.dtype)
