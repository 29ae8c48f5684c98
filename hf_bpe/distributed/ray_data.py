"""Counting a `ray.data.Dataset`: Ray Data reads, from wherever it can, and hands its blocks to our counter."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hf_bpe.distributed.cluster import Cluster
from hf_bpe.distributed.reading import Reading
from hf_bpe.distributed.runs import Run
from hf_bpe.errors import CorpusError, some

__all__ = ["count_blocks", "is_ray_dataset"]

_NAME = "a block of a Ray dataset"


def is_ray_dataset(corpus: Any) -> bool:
    """Whether it is a `ray.data.Dataset`; without importing Ray Data, which takes seconds."""
    module = sys.modules.get("ray.data")
    return module is not None and isinstance(corpus, module.Dataset)


def count_blocks(cluster: Cluster, dataset: Any, reading: Reading, folder: Path) -> list[Run]:
    """Counts of each block, as files in a folder.

    A block that is read again, for its worker died, is counted into another file; what counts is the files that are named in the
    results, and no others.
    """
    columns = dataset.columns(fetch_if_missing=False)  # without reading anything
    if columns is not None:
        _check_column(columns, reading)
        dataset = dataset.select_columns([reading.text_field])  # Parquet: the others are not even read
    counted = dataset.map_batches(
        _count_block,
        fn_args=(reading, folder),
        batch_format="pyarrow",
        batch_size=None,
        num_cpus=cluster.cpus,
    )
    rows = []
    with cluster.translated("counting a Ray dataset"):
        for row in counted.iter_rows():
            if row["wrong"]:
                raise CorpusError(f"{row['wrong']} (in a block of the Ray dataset)")
            rows.append(row)
    # Sorted by what they hold: the record of sources shall not depend on who was first.
    return [Run(row["run"]) for row in sorted(rows, key=lambda row: (row["crc32"], row["text_bytes"]))]


def _check_column(columns: Sequence[str], reading: Reading) -> None:
    if reading.text_field not in columns:
        raise CorpusError(f"the dataset has no column {reading.text_field!r}; name one of {some(columns)} as text_field")


def _count_block(table: Any, reading: Reading, folder: Path) -> dict[str, list[Any]]:
    try:
        _check_column(table.column_names, reading)
        counts = reading.count(iter(table.column(reading.text_field).to_pylist()))
    except CorpusError as error:  # raised here, it would come back as one of Ray Data's, with a page of its frames
        return {"run": [""], "text_bytes": [0], "crc32": [0], "wrong": [str(error)]}
    counts.sources = tuple(replace(source, name=_NAME, source={"texts of": _NAME}) for source in counts.sources)
    name = f"block-{secrets.token_hex(16)}.parquet"
    counts.save(folder / name)
    return {
        "run": [name],
        "text_bytes": [sum(source.text_bytes for source in counts.sources)],
        "crc32": [sum(source.crc32 for source in counts.sources)],
        "wrong": [""],
    }
