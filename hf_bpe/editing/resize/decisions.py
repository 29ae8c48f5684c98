"""What is decided about a model before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hf_bpe.editing.checkpoint.matrices import Matrices, Matrix
from hf_bpe.editing.checkpoint.shards import INDEX, Checkpoint
from hf_bpe.editing.checkpoint.writing import resized
from hf_bpe.editing.id_map import IdMap
from hf_bpe.editing.model_folder import tokenizer_files, unchanged_files
from hf_bpe.editing.model_ids import Renumbering
from hf_bpe.editing.rows import Rows
from hf_bpe.spec import TokenizerSpec

__all__ = ["Decisions"]


@dataclass(frozen=True, repr=False)
class Decisions:
    """All that will be done."""

    model: Path
    target: Path
    tokenizer: Path
    old: TokenizerSpec | None
    new: TokenizerSpec
    id_map: IdMap
    checkpoint: Checkpoint
    matrices: Matrices
    rows: Rows
    configurations: Mapping[str, Any]
    renumbering: Renumbering
    init: str
    seed: int
    link: bool
    left_out: tuple[str, ...]
    has_settings: bool

    @cached_property
    def edited(self) -> tuple[Matrix, ...]:
        """The tensors that get other rows; none where every row stays where it is."""
        return () if self.rows.stay else self.matrices.found

    @cached_property
    def shards(self) -> list[str]:
        """The files of weights that are written anew."""
        return sorted({matrix.file for matrix in self.edited})

    @cached_property
    def unchanged(self) -> list[str]:
        """The files that are taken over as they are."""
        return list(unchanged_files(self.model, {*self.shards, *self.left_out, *([INDEX] if self.edited else [])}))

    @cached_property
    def tokenizer_files(self) -> list[str]:
        """The files of the old tokenizer. They do not stay."""
        return tokenizer_files(self.model)

    @property
    def bytes_added(self) -> int:
        """By how much the weights grow; below 0 if they shrink."""
        return sum(resized(matrix, len(self.rows.sources)).nbytes - matrix.tensor.nbytes for matrix in self.edited)

    @property
    def bytes_to_write(self) -> int:
        """Of weights, and of other files where none can be linked."""
        rewritten = sum((self.model / name).stat().st_size for name in self.shards) + self.bytes_added
        return rewritten + (0 if self.link else sum((self.model / name).stat().st_size for name in self.unchanged))
