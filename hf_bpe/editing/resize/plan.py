"""`ResizePlan`: everything decided, and nothing written yet."""

from __future__ import annotations

from typing import Any

from hf_bpe.editing.resize.decisions import Decisions
from hf_bpe.editing.resize.describing import as_dict, as_text
from hf_bpe.editing.resize.doing import do

__all__ = ["ResizePlan"]


class ResizePlan(Decisions):
    """All that will be done, decided. Made by `plan_resize`."""

    def to_dict(self) -> dict[str, Any]:
        """The plan for programs."""
        return as_dict(self)

    def summary(self) -> str:
        """The plan for people."""
        return as_text(self)

    def apply(self, *, progress: bool = False) -> dict[str, Any]:
        """Do it, and return the record of it, which the new folder holds as resize_record.json.

        All is written beside the target and takes its place in one step. On an error, a full disk or Ctrl-C what was there stays,
        and nothing else. Tensors that are not edited are byte for byte the same, which is checked on what was written.
        """
        return do(self, progress=progress)
