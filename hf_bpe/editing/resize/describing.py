"""A plan in words, and as data for programs."""

from __future__ import annotations

import math
from typing import Any

from hf_bpe.editing.model_folder import FREEZE_LIST, ID_MAP, RECORD
from hf_bpe.editing.model_ids import CONFIG
from hf_bpe.editing.resize.decisions import Decisions
from hf_bpe.editing.starting_rows import describe
from hf_bpe.errors import some

__all__ = ["as_dict", "as_text"]


def as_dict(plan: Decisions) -> dict[str, Any]:
    """The plan for programs."""
    after = len(plan.rows.sources)
    return {
        "model": str(plan.model),
        "output": str(plan.target),
        "tokens": {
            "kept": len(plan.id_map.kept),
            "moved": plan.id_map.moved,
            "gone": len(plan.id_map.gone),
            "new": len(plan.id_map.made),
        },
        "rows": {"before": plan.matrices.rows, "after": after, "made": describe(plan.rows.made.values())},
        "init": plan.init,
        "seed": plan.seed,
        "tied": plan.matrices.tied,
        "tensors": [
            {
                "name": matrix.tensor.name,
                "file": matrix.file,
                "role": matrix.role,
                "dtype": matrix.tensor.dtype,
                "shape_before": list(matrix.tensor.shape),
                "shape_after": list(matrix.shape_with(after)),
            }
            for matrix in plan.matrices.found
        ],
        "configuration": [vars(change) for change in plan.renumbering.changes],
        "files": {"weights": plan.shards, "unchanged": plan.unchanged, "left_out": list(plan.left_out)},
        "bytes_to_write": plan.bytes_to_write,
        "notes": _notes(plan),
    }


def as_text(plan: Decisions) -> str:
    """The plan for people."""
    data = as_dict(plan)
    tokens, rows = data["tokens"], data["rows"]
    lines = [
        f"{plan.model} -> {'itself' if plan.target == plan.model else plan.target}",
        f"tokens: {tokens['kept']:,} kept ({tokens['moved']:,} with another id), {tokens['gone']:,} gone, {tokens['new']:,} new",
        f"rows: {rows['before']:,} -> {rows['after']:,}",
        *(f"  made: {count:,} {way}" for way, count in rows["made"].items()),
        *(
            f"{'changed' if plan.edited else 'as it is'}: {tensor['name']} ({tensor['role']}, {tensor['dtype']}) "
            f"{tensor['shape_before']} -> {tensor['shape_after']} in {tensor['file']}"
            for tensor in data["tensors"]
        ),
        *(["the head is the embedding (tied)"] if plan.matrices.tied else []),
        *(f"{change.file}: {change.key} {change.before!r} -> {change.after!r}" for change in plan.renumbering.changes),
        f"files: {len(plan.shards)} of {len(plan.checkpoint.shards)} files of weights written anew, {plan.bytes_to_write:,} bytes; "
        f"{len(plan.unchanged)} files {'linked' if plan.link else 'copied'}; the tokenizer's written; {RECORD}, {ID_MAP}, {FREEZE_LIST}",
        *(f"note: {note}" for note in data["notes"]),
    ]
    return "\n".join(lines)


def _notes(plan: Decisions) -> list[str]:
    """What to know before it is done."""
    notes = list(plan.renumbering.notes)
    if not plan.has_settings:
        notes.append(
            f"{plan.tokenizer} is a tokenizer without settings: roles of special tokens and a chat template are not taken over from "
            "the old one"
        )
    if plan.left_out:
        notes.append(f"{some(plan.left_out)} would hold the old rows, and is left out")
    if plan.matrices.alike:
        notes.append(
            f"{some(plan.matrices.alike)} has {plan.matrices.rows} rows, too, and is left as it is; name what goes by ids with "
            "embedding= or head="
        )
    if not plan.configurations:
        notes.append(f"there is no {CONFIG} whose vocab_size could be set")
    before, after = plan.matrices.rows, len(plan.rows.sources)
    multiple = math.gcd(before, 128)
    if after > before > plan.id_map.old_size and multiple >= 8 and after % multiple:
        notes.append(
            f"{before} rows were a multiple of {multiple}, and {after} are not; pad_to_multiple_of={multiple} keeps it so"
        )
    return notes
