"""A plan in words, and as data for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hf_bpe.editing.model_folder import FREEZE_LIST, ID_MAP, RECORD, weights_below
from hf_bpe.editing.model_ids import CONFIG
from hf_bpe.editing.resize.decisions import Decisions
from hf_bpe.editing.starting_rows import describe
from hf_bpe.errors import some

__all__ = ["as_dict", "as_text"]


def as_dict(plan: Decisions) -> dict[str, Any]:
    """The plan for programs, which is the record when it was carried out."""
    after = len(plan.rows.sources)
    copied = sum(len(plan.checkpoint.shards[name].tensors) for name in plan.shards) - len(plan.edited)
    return {
        "format": "hf_bpe resize record",
        "version": 1,
        "tokenizers": {"old": None if plan.old is None else plan.old.fingerprint, "new": plan.new.fingerprint},
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
        "files": {
            "weights": plan.shards,
            "unchanged": plan.unchanged,
            "left_out": list(plan.left_out),
            "old_tokenizer": plan.tokenizer_files,
        },
        "bytes_to_write": plan.bytes_to_write,
        "tensors_copied_and_compared": copied,
        "id_map": ID_MAP,
        "freeze_list": FREEZE_LIST,
        "notes": list(_notes(plan)),
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
        *(
            []
            if plan.matrices.tied or plan.matrices.heads
            else [f"no head is there, and {CONFIG} says that it is not the embedding"]
        ),
        *(
            f"{change.file}: {change.key} {json.dumps(change.before)} -> {json.dumps(change.after)}"
            for change in plan.renumbering.changes
        ),
        f"files: {len(plan.shards)} of {len(plan.checkpoint.shards)} files of weights written anew, {plan.bytes_to_write:,} bytes; "
        f"{len(plan.unchanged)} files {'linked' if plan.link else 'copied'}; {RECORD}, {ID_MAP}, {FREEZE_LIST}",
        f"tokenizer: written, in place of {', '.join(plan.tokenizer_files) or 'none'}",
        *(f"note: {note}" for note in data["notes"]),
    ]
    return "\n".join(lines)


def _notes(plan: Decisions) -> Iterator[str]:
    """What to know before it is done."""
    yield from plan.renumbering.notes
    yield from _of_rows(plan)
    if plan.matrices.heads and plan.matrices.said_to_be_tied:
        yield (
            f"{CONFIG} says that the head is the embedding, and {some(plan.matrices.heads)} is there, too: it gets rows in the same way, "
            "and what loads the model may not read it"
        )
    if not plan.has_settings:
        yield (
            f"{plan.tokenizer} is a tokenizer without settings: roles of special tokens and a chat template are not taken over from "
            "the old one"
        )
    if plan.left_out:
        yield f"{some(plan.left_out)} would hold the old rows, and is left out"
    below = weights_below(plan.model)
    if below:
        yield f"{some(below)} may hold old rows, too, and stays as it is"
    if plan.matrices.alike:
        yield (
            f"{some(plan.matrices.alike)} has {plan.matrices.rows} rows, too, and is left as it is; name what goes by ids with "
            "embedding= or head="
        )
    if not plan.configurations:
        yield f"there is no {CONFIG} whose vocab_size could be set"


def _of_rows(plan: Decisions) -> Iterator[str]:
    before, after, needed = plan.matrices.rows, len(plan.rows.sources), plan.id_map.new_size
    renamed = _other_names(plan)
    if renamed:
        yield (
            f"added tokens have other texts than before, and get new rows: {some(renamed)}. If they were renamed, and their rows are to "
            "stay, pass the id map that says so (id_map=), which `hf-bpe rename` writes"
        )
    if after > before and after > needed:
        yield f"{before:,} rows were padded for {plan.id_map.old_size:,} ids, and {after:,} are again; pad_to_multiple_of=1 adds none"
    if needed < plan.id_map.old_size and after > needed:
        yield f"the new tokenizer needs {needed:,} of {after:,} rows; shrink=True leaves out the others"


def _other_names(plan: Decisions) -> list[str]:
    """Added tokens that are gone, where an added token of the same id is new: they may be the same ones, renamed."""
    if plan.old is None:
        return []
    now = {token.id: token.content for token in plan.new.added_tokens if token.id in plan.id_map.made}
    return [
        f"{token.id} is {now[token.id]!r} instead of {token.content!r}"
        for token in plan.old.added_tokens
        if token.id in now and token.id in plan.id_map.gone
    ]
