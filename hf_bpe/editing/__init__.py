"""Editing a tokenizer and its model together. Every edit says which id became which by an `IdMap`.

>>> from hf_bpe.editing import IdMap, plan_resize
>>> print(plan_resize("my-model", "my-new-tokenizer", init="pieces").summary())  # doctest: +SKIP
"""

from __future__ import annotations

from hf_bpe.editing.audit import Audit, AuditedToken, Rows, audit
from hf_bpe.editing.blocks import with_block
from hf_bpe.editing.effect import Effect, effect_on
from hf_bpe.editing.extend import Extended, extend
from hf_bpe.editing.id_map import IdMap, Made
from hf_bpe.editing.matching import id_map_between
from hf_bpe.editing.new_pieces import Habits
from hf_bpe.editing.prune import Pruned, prune
from hf_bpe.editing.replace import Replaced, replace_tokens
from hf_bpe.editing.resize import ResizePlan, plan_resize

__all__ = [
    "Audit",
    "AuditedToken",
    "Effect",
    "Extended",
    "Habits",
    "IdMap",
    "Made",
    "Pruned",
    "Replaced",
    "ResizePlan",
    "Rows",
    "audit",
    "effect_on",
    "extend",
    "id_map_between",
    "plan_resize",
    "prune",
    "replace_tokens",
    "with_block",
]
