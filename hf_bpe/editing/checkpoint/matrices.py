"""Which tensors of a checkpoint have a row for each id."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from conversion.json_text import read_json
from hf_bpe.editing.checkpoint.shards import Checkpoint
from hf_bpe.editing.model_ids import CONFIG
from hf_bpe.errors import EditError, FormatError, some
from hf_bpe.model_files.configuration import text_part
from hf_bpe.model_files.safetensors_header import Tensor
from hf_bpe.model_files.tensor_names import BIAS, EMBEDDING, HEAD

__all__ = ["Matrices", "Matrix", "Role", "find_matrices", "matrices_of_model"]

Role: TypeAlias = Literal["embedding", "head", "bias"]

_CANDIDATES = 12


@dataclass(frozen=True)
class Matrix:
    """A tensor with a row for each id. axis: the one that ids count along; those before it have the size 1."""

    file: str
    tensor: Tensor
    role: Role
    axis: int = 0

    @property
    def rows(self) -> int:
        """How many rows."""
        return self.tensor.shape[self.axis]

    @property
    def row_bytes(self) -> int:
        """How long a row is."""
        return self.tensor.nbytes // self.rows

    def shape_with(self, rows: int) -> tuple[int, ...]:
        """The shape with another number of rows."""
        shape = self.tensor.shape
        return (*shape[: self.axis], rows, *shape[self.axis + 1 :])


@dataclass(frozen=True)
class Matrices:
    """The tensors with a row for each id, all with as many rows.

    alike: others with as many rows, which are left as they are. said_to_be_tied: what the configuration says of the head, if it does.
    """

    found: tuple[Matrix, ...]
    rows: int
    alike: tuple[str, ...]
    said_to_be_tied: bool | None = None

    @property
    def heads(self) -> list[str]:
        """The heads that are tensors of their own, by name."""
        return [matrix.tensor.name for matrix in self.found if matrix.role == "head"]

    @property
    def tied(self) -> bool:
        """Whether the head is the embedding itself: there is none of its own, and the configuration does not speak against it."""
        return not self.heads and self.said_to_be_tied is not False


def matrices_of_model(
    checkpoint: Checkpoint, needed: int, *, embedding: Sequence[str] = (), head: Sequence[str] = (), remedy: str
) -> Matrices:
    """As `find_matrices`, with what config.json says of rows and of tying, if there is one."""
    path = checkpoint.folder / CONFIG
    config = read_json(path) if path.is_file() else {}
    if not isinstance(config, dict):
        raise FormatError(f"{path}: must be a JSON object")
    text = text_part(config)
    stated = text.get("vocab_size")
    tied = config.get("tie_word_embeddings", text.get("tie_word_embeddings"))
    return find_matrices(
        checkpoint,
        needed,
        embedding=embedding,
        head=head,
        stated_rows=stated if type(stated) is int else None,
        tied=tied if isinstance(tied, bool) else None,
        remedy=remedy,
    )


def find_matrices(
    checkpoint: Checkpoint,
    needed: int,
    *,
    embedding: Sequence[str] = (),
    head: Sequence[str] = (),
    stated_rows: int | None = None,
    tied: bool | None = None,
    remedy: str,
) -> Matrices:
    """The tensors with a row for each id: those named, else those whose names are known.

    needed: ids of the model's vocabulary, which is the fewest rows that there can be. stated_rows: what the configuration says, which
    decides between embeddings of different sizes. tied: what it says of the head. remedy: what to do if there are too few rows.

    Raises `EditError` listing candidates where the names are not known, and for rows that do not belong together.
    """
    inputs = _named(checkpoint, embedding, "embedding", needed) or list(_known(checkpoint, "embedding"))
    rows = _rows_of(checkpoint, inputs, needed, stated_rows, remedy, chosen=bool(embedding))
    outputs = _named(checkpoint, head, "head", needed) or list(_known(checkpoint, "head"))
    others = [f"{matrix.tensor.name} with {matrix.rows} rows" for matrix in outputs if matrix.rows != rows]
    if others and (head or (not tied and len(others) == len(outputs))):
        raise EditError(
            f"the embedding has {rows} rows, and the head not as many: {some(others)}; name the one that goes with it as head="
        )
    matrices = [matrix for matrix in (*inputs, *outputs) if matrix.rows == rows]
    matrices = list({matrix.tensor.name: matrix for matrix in matrices}.values())
    matrices += _biases(checkpoint, matrices, rows)
    _refuse_scales(checkpoint, matrices)
    chosen = {matrix.tensor.name for matrix in matrices}
    alike = [
        name for name, (_, t) in checkpoint.tensors.items() if name not in chosen and len(t.shape) == 2 and t.shape[0] == rows
    ]
    result = Matrices(tuple(matrices), rows, tuple(alike), tied)
    if tied is False and alike and not result.heads:
        raise EditError(
            f"the configuration says that the head is not tied to the embedding, and no head of a known name is there; name it with "
            f"head=NAME: {some(alike)} has {rows} rows"
        )
    return result


def _known(checkpoint: Checkpoint, role: Role) -> Iterator[Matrix]:
    pattern = EMBEDDING if role == "embedding" else HEAD
    for name, (file, tensor) in checkpoint.tensors.items():
        if pattern.search(name) and len(tensor.shape) == 2 and tensor.nbytes:
            yield Matrix(file, tensor, role)


def _named(checkpoint: Checkpoint, names: Sequence[str], role: Role, needed: int) -> list[Matrix]:
    found = []
    for name in names:
        if name not in checkpoint.tensors:
            raise EditError(f"the checkpoint has no tensor {name!r}, which {role}= names. {_candidates(checkpoint, needed)}")
        file, tensor = checkpoint.tensors[name]
        if not tensor.shape or not tensor.nbytes:
            raise EditError(f"{name}, which {role}= names, has the shape {list(tensor.shape)}, and so no rows")
        found.append(Matrix(file, tensor, role))
    return found


def _rows_of(
    checkpoint: Checkpoint, inputs: Sequence[Matrix], needed: int, stated: int | None, remedy: str, *, chosen: bool
) -> int:
    """How many rows the embedding has."""
    if not inputs:
        raise EditError(f"no tensor has a name that is known for embeddings. {_candidates(checkpoint, needed)}")
    sizes = {matrix.rows for matrix in inputs}
    if stated in sizes and not chosen:
        sizes = {stated}
    if len(sizes) > 1:
        listed = some([f"{matrix.tensor.name} with {matrix.rows} rows" for matrix in inputs])
        raise EditError(f"there are embeddings of different sizes: {listed}. Name those of the text with embedding=NAME")
    rows = sizes.pop()
    if rows < needed:
        name = next(matrix.tensor.name for matrix in inputs if matrix.rows == rows)
        raise EditError(
            f"{name} has {rows} rows, and the tokenizer gives ids up to {needed - 1}: they do not belong together; {remedy}. "
            f"{_candidates(checkpoint, needed)}"
        )
    if stated is not None and stated != rows and not chosen:
        raise EditError(
            f"config.json says vocab_size {stated}, and the embedding has {rows} rows, so nothing loads it; write {rows} there"
        )
    return rows


def _candidates(checkpoint: Checkpoint, needed: int) -> str:
    """The matrices with rows enough, those nearest to the vocabulary first."""
    matrices = [tensor for _, tensor in checkpoint.tensors.values() if len(tensor.shape) == 2 and tensor.shape[0] >= needed]
    if not matrices:
        return f"No matrix has {needed} rows or more, so this is not the model of that tokenizer"
    matrices.sort(key=lambda tensor: (tensor.shape[0], tensor.name))
    listed = ", ".join(f"{tensor.name} ({tensor.shape[0]} rows)" for tensor in matrices[:_CANDIDATES])
    more = f" and {len(matrices) - _CANDIDATES} more" if len(matrices) > _CANDIDATES else ""
    return f"Name the embedding with embedding=NAME, and the head, if it is not tied, with head=NAME; rows enough have {listed}{more}"


def _biases(checkpoint: Checkpoint, matrices: Iterable[Matrix], rows: int) -> Iterator[Matrix]:
    beside = {_base(matrix) + ".bias" for matrix in matrices if matrix.role == "head"}
    for name, (file, tensor) in checkpoint.tensors.items():
        if (name in beside or BIAS.search(name)) and tensor.shape and math.prod(tensor.shape) == rows == tensor.shape[-1]:
            yield Matrix(file, tensor, "bias", axis=len(tensor.shape) - 1)


def _base(matrix: Matrix) -> str:
    return matrix.tensor.name.removesuffix(".weight")


def _refuse_scales(checkpoint: Checkpoint, matrices: Sequence[Matrix]) -> None:
    """Raise `EditError` for a quantised matrix, the scales of which go by rows in ways of their own. One scale for all is fine."""
    chosen = {matrix.tensor.name for matrix in matrices}
    for matrix in matrices:
        for name, (_, tensor) in checkpoint.tensors.items():
            if name not in chosen and name.startswith(f"{_base(matrix)}.") and math.prod(tensor.shape) > 1:
                raise EditError(
                    f"{name}, of the shape {list(tensor.shape)}, belongs to {matrix.tensor.name}, which seems to be quantised in blocks; "
                    "take the model as it was before that"
                )
