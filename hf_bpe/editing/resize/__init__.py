"""A model made to fit another tokenizer: planned first, which reads headers only, then done beside the original."""

from __future__ import annotations

from hf_bpe.editing.resize.plan import ResizePlan
from hf_bpe.editing.resize.planning import plan_resize

__all__ = ["ResizePlan", "plan_resize"]
