"""A plan carried out: everything is written beside the target, and takes its place at the end."""

from __future__ import annotations

import math
import shutil
import threading
from collections.abc import Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import conversion
from conversion.json_shapes import object_at
from conversion.json_text import indented
from hf_bpe.editing.checkpoint.checked_file import Disk
from hf_bpe.editing.checkpoint.shards import INDEX
from hf_bpe.editing.checkpoint.writing import resized, write_shard
from hf_bpe.editing.folders import carry_over, new_folder
from hf_bpe.editing.id_map import runs
from hf_bpe.editing.model_folder import FREEZE_LIST, ID_MAP, RECORD
from hf_bpe.editing.resize.decisions import Decisions
from hf_bpe.editing.resize.describing import as_dict
from hf_bpe.errors import EditError
from hf_bpe.files import write_atomically
from hf_bpe.progress import byte_bar

__all__ = ["do"]

_AT_A_TIME = 2
_ROOM = 1 << 24
"""For the files that are not weights."""


def do(plan: Decisions, *, progress: bool) -> dict[str, Any]:
    """As `ResizePlan.apply` says."""
    _check_room(plan)
    with new_folder(plan.target, replaces=plan.target == plan.model) as staging, Disk() as disk:
        # The largest first: while the disk takes them in, the rest is worked out, 4 s of processor time for 100,000 tokens.
        _write_shards(plan, staging, disk, progress=progress)
        conversion.convert(plan.new, staging, format="huggingface", source=plan.tokenizer)
        for name in plan.unchanged:
            (staging / name).parent.mkdir(parents=True, exist_ok=True)
            carry_over(plan.model / name, staging / name, disk, link=plan.link)
        record = as_dict(plan)
        write_atomically(staging, _small_files(plan, record))
        disk.wait()
        shutil.copymode(plan.model, staging)
    return record


def _check_room(plan: Decisions) -> None:
    place = next(folder for folder in (plan.target, *plan.target.parents) if folder.is_dir())
    free, needed = shutil.disk_usage(place).free, plan.bytes_to_write + _ROOM
    if free < needed:
        raise EditError(
            f"{place} has {free:,} bytes left, and {needed:,} are to be written; make room, or choose another place with output="
        )


def _write_shards(plan: Decisions, staging: Path, disk: Disk, *, progress: bool) -> None:
    """Write the files of weights that change, two at a time: one processor copies 1.6 GB in a second, and disks take more.

    At an error, and at Ctrl-C, the other one stops at its next block.
    """
    total = sum(resized(matrix, len(plan.rows.sources)).nbytes - matrix.tensor.nbytes for matrix in plan.edited)
    total += sum(tensor.nbytes for name in plan.shards for tensor in plan.checkpoint.shards[name].tensors)
    stopped, lock = threading.Event(), threading.Lock()

    with byte_bar("writing", total, shown=progress) as bar:

        def told(done: int) -> None:
            if stopped.is_set():
                raise CancelledError
            with lock:
                bar.update(done)

        def write(name: str) -> None:
            matrices = {matrix.tensor.name: matrix for matrix in plan.edited if matrix.file == name}
            header = plan.checkpoint.shards[name]
            write_shard(plan.model / name, header, matrices, plan.rows, plan.seed, staging / name, told, disk)
            shutil.copymode(plan.model / name, staging / name)  # who may not read the weights may not read these

        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            try:
                for done in as_completed([pool.submit(write, name) for name in plan.shards]):
                    done.result()
            except BaseException:
                stopped.set()
                pool.shutdown(cancel_futures=True)
                raise


def _small_files(plan: Decisions, record: dict[str, Any]) -> dict[str, bytes]:
    files = {**plan.configurations, RECORD: record, FREEZE_LIST: _freeze_list(plan)}
    if plan.checkpoint.index is not None and plan.edited:
        files[INDEX] = _index(plan, plan.checkpoint.index)
    as_made = plan.id_map.with_made({new: plan.rows.made[new] for new in plan.rows.new_ids})
    return {name: _json(data) for name, data in files.items()} | {ID_MAP: as_made.to_bytes()}


def _freeze_list(plan: Decisions) -> dict[str, Any]:
    """Which rows belong to new tokens, for a training of those alone: [first, how many], as in the id map."""
    stretches = [[first, count] for (first,), count in runs((row,) for row in plan.rows.new_ids)]
    tensors = [{"tensor": matrix.tensor.name, "axis": matrix.axis, "rows": stretches} for matrix in plan.matrices.found]
    return {"train": tensors if stretches else [], "freeze": "everything else"}


def _index(plan: Decisions, index: Mapping[str, Any]) -> dict[str, Any]:
    metadata = dict(object_at(dict(index), "metadata"))
    numbers = sum(math.prod(m.shape_with(len(plan.rows.sources))) - math.prod(m.tensor.shape) for m in plan.edited)
    for key, more in (("total_size", plan.bytes_added), ("total_parameters", numbers)):
        if isinstance(metadata.get(key), int | float):
            metadata[key] += more
    return {**index, **({"metadata": metadata} if metadata else {})}


def _json(data: Any) -> bytes:
    return (indented(data) + "\n").encode()
