"""`encode_files`: files in, ids out, by the workers of a Ray cluster."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy.typing as npt

from hf_bpe.corpus.sources import Paths, Source, find_sources
from hf_bpe.distributed.cluster import connected, need_ray
from hf_bpe.distributed.parts import PART_BYTES, parts_of
from hf_bpe.encoding import EncodedCorpus, open_encoded
from hf_bpe.encoding import encode_files as encode_here
from hf_bpe.encoding.encode import SHARD_TOKENS, OnBad, settings_of
from hf_bpe.encoding.index import INDEX, End, Index, Settings, Shard
from hf_bpe.encoding.output import locked, prepare
from hf_bpe.encoding.shards import NO_DOCUMENTS
from hf_bpe.engine import Encoder
from hf_bpe.errors import CorpusError
from hf_bpe.files import sync_folder
from hf_bpe.progress import byte_bar
from hf_bpe.spec import TokenizerSpec

__all__ = ["encode_files"]

MEMORY = "1GB"

_PATIENCE_SECONDS = 120.0
_POLL_SECONDS = 0.5


def encode_files(
    encoder: Encoder | TokenizerSpec,
    paths: Paths,
    output: str | os.PathLike[str],
    *,
    address: str | None = None,
    text_field: str = "text",
    separator: str | None = None,
    eos: int | str | None = None,
    dtype: npt.DTypeLike | None = None,
    shard_tokens: int = SHARD_TOKENS,
    on_bad: OnBad = "raise",
    memory_limit: int | str = MEMORY,
    cpus_per_task: int = 1,
    part_bytes: int = PART_BYTES,
    progress: bool = True,
    resume: bool = True,
    overwrite: bool = False,
) -> EncodedCorpus:
    """Encode the documents in files on a Ray cluster: the ids and documents of `hf_bpe.encode_files`, in the same order.

    paths: as there; each machine finds the files under the same path.
    output: a folder on a file system that all machines share. Each part of the files gets a folder in it, byte for byte the one
        that `hf_bpe.encode_files` makes of them. At the end, one index names the shards of all, in the order of the files.
    address: of the cluster; "auto" finds the one that this machine is part of, "local" or None starts one on this machine alone. One
        that the process has joined is used.
    memory_limit, cpus_per_task: what each task reserves. A document that is encoded whole may need more.
    part_bytes: small files are taken together for one task until they have so many bytes. A file is never divided.

    A task whose worker dies runs again, and goes on after the last shard that is complete; so does the whole when it is run again.
    No shard is written twice, and none is named before it is complete.

    Raises what `hf_bpe.encode_files` raises, and `ClusterError` without a cluster, or for a part that takes down every worker.

    >>> encode_files(encoder, "data/*.parquet", "encoded", address="auto")  # doctest: +SKIP
    EncodedCorpus('/shared/encoded', documents=1,000,000, tokens=1,234,567,890, dtype=uint32)
    """
    need_ray()
    spec = encoder.spec if isinstance(encoder, Encoder) else encoder
    sources = find_sources(paths)
    settings = settings_of(
        spec,
        sources,
        text_field=text_field,
        separator=separator,
        eos=eos,
        dtype=dtype,
        shard_tokens=shard_tokens,
        on_bad=on_bad,
        part_bytes=part_bytes,
    )
    folder = Path(output).absolute()
    parts = [_Part(folder / f"part-{number:05d}", tuple(part)) for number, part in enumerate(parts_of(sources, part_bytes))]
    with locked(folder):
        if overwrite:
            for begun in folder.glob("part-[0-9]*"):
                _wait_for(begun)
        index = prepare(folder, settings, resume=resume, overwrite=overwrite)
        if not index.complete:
            missing = [part for part in parts if not part.is_complete()]
            total = sum(part.size for part in parts)
            with (
                connected(address, cpus_per_task=cpus_per_task, memory_limit=memory_limit) as cluster,
                byte_bar("encoding", total, shown=progress, before=total - sum(part.size for part in missing)) as bar,
            ):
                shared, task = cluster.share(spec), cluster.task(_encode_part)
                tasks = {task(shared, part, settings, cpus_per_task): part for part in missing}
                cluster.run(tasks, lambda part: bar.update(part.size))
            _complete(folder, index, parts)
    corpus = open_encoded(folder)
    if corpus.skipped:
        warnings.warn(f"left out {corpus.skipped:,} documents that cannot be read", stacklevel=2)
    return corpus


@dataclass(frozen=True)
class _Part:
    """Some sources, and the folder for their ids."""

    folder: Path
    sources: tuple[Source, ...]

    def __str__(self) -> str:
        return f"{self.folder.name}, from {self.sources[0].path} on"

    @property
    def size(self) -> int:
        return sum(source.size for source in self.sources)

    def is_complete(self) -> bool:
        return (self.folder / INDEX).exists() and Index.load(self.folder).complete


def _encode_part(spec: TokenizerSpec, part: _Part, settings: Settings, num_threads: int) -> None:
    """A task: encodes some files."""
    _wait_for(part.folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of documents left out, which the index counts: the driver warns of all at once
        encode_here(
            spec,
            [source.path for source in part.sources],
            part.folder,
            text_field=settings.text_field,
            separator=settings.separator,
            eos=settings.eos,
            dtype=settings.dtype,
            num_threads=num_threads,
            shard_tokens=settings.shard_tokens,
            on_bad=cast(OnBad, settings.on_bad),  # checked where the settings were made
            allow_empty=True,
            progress=False,
        )
    for source, seen in zip(part.sources, Index.load(part.folder).settings.sources, strict=True):
        if seen != source.describe():
            raise CorpusError(
                f"{source.path}: is not, on the machine that encodes it, the file that was found where the run was started; it was changed "
                "since, or is another file there"
            )


def _wait_for(folder: Path) -> None:
    """Wait until nobody writes to a folder. A task of a driver that was stopped may still do so: Ray ends it within seconds."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            with locked(folder):
                return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_POLL_SECONDS)


def _complete(folder: Path, index: Index, parts: Sequence[_Part]) -> None:
    """Write the index of all parts."""
    shards = tuple(_shards(parts))
    skipped = sum(Index.load(part.folder).skipped for part in parts)
    if not shards:
        raise CorpusError(NO_DOCUMENTS + (f"; {skipped} bad ones were skipped" if skipped else ""))
    sync_folder(folder)
    replace(index, shards=shards, skipped=skipped, complete=True).save(folder)
    sync_folder(folder)


def _shards(parts: Sequence[_Part]) -> Iterator[Shard]:
    """The shards of all parts as the whole sees them."""
    sources, skipped = 0, 0
    for part in parts:
        index = Index.load(part.folder)
        for shard in index.shards:
            end = End(sources + shard.end.source, shard.end.place, skipped + shard.end.skipped)
            name = part.folder.name
            yield replace(shard, ids=f"{name}/{shard.ids}", offsets=f"{name}/{shard.offsets}", end=end)
        sources += len(part.sources)
        skipped += index.skipped
