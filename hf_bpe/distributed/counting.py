"""`count`: the words of a corpus, counted by the workers of a Ray cluster."""

from __future__ import annotations

import errno
import os
import shutil
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hf_bpe.corpus.sources import Source
from hf_bpe.distributed.cluster import Cluster, connected, need_ray
from hf_bpe.distributed.parts import PART_BYTES, parts_of
from hf_bpe.distributed.ray_data import count_blocks, is_ray_dataset
from hf_bpe.distributed.reading import Reading
from hf_bpe.distributed.runs import Run, merged_by_fan_in, run_of_sources
from hf_bpe.encoding.output import locked
from hf_bpe.errors import CorpusError, some
from hf_bpe.progress import byte_bar
from hf_bpe.training.corpus import Corpus, FileInput, inputs_of
from hf_bpe.training.counting import CountRules, WordCounts
from hf_bpe.training.counting.dropping import Dropping
from hf_bpe.training.counting.make import describe, refuse_empty, said_of_left_out, what_is_there
from hf_bpe.training.counting.memory import DEFAULT_MEMORY
from hf_bpe.training.counting.parquet_file import need_pyarrow, write_words

__all__ = ["count"]


def count(
    corpus: Corpus,
    output: str | os.PathLike[str],
    *,
    address: str | None = None,
    text_field: str = "text",
    overwrite: bool = False,
    memory_limit: int | str = DEFAULT_MEMORY,
    temporary_folder: str | os.PathLike[str] | None = None,
    drop_words_below: int | None = None,
    skip_bad_files: bool = False,
    cpus_per_task: int = 1,
    part_bytes: int = PART_BYTES,
    progress: bool = True,
    **rules: Any,
) -> WordCounts:
    """Count a corpus on a Ray cluster: the file that `WordCounts.count` makes of the same files, byte for byte.

    corpus: files as `WordCounts.count` takes them, which each machine finds under the same path; or a `ray.data.Dataset`.
    output: the word-count file, on a file system that all machines share. Counts of parts are kept beside it, in `output` + ".parts",
        until they are merged: run again after an interruption, only the parts that are missing there are counted. (The blocks of
        a dataset have no names that last: they are all counted again.)
    address: of the cluster; "auto" finds the one that this machine is part of, "local" or None starts one on this machine alone. One
        that the process has joined is used.
    memory_limit, cpus_per_task: what each task reserves, and keeps to.
    temporary_folder: where a worker puts aside what does not fit, on its own machine; default: the system's.
    part_bytes: small files are taken together for one task until they have so many bytes. A file is never divided.
    text_field, overwrite, drop_words_below, skip_bad_files, rules (pattern, normalizer, ...): as for `WordCounts.count`.

    A task whose worker dies runs again, and what it had counted until then is forgotten with it: nothing counts twice.

    Raises what `WordCounts.count` raises, and `ClusterError` without a cluster, or for a part that takes down every worker.

    >>> count("data/*.parquet", "counts.parquet", address="auto", pattern="o200k")  # doctest: +SKIP
    WordCounts(/shared/counts.parquet)
    """
    target = Path(output).absolute()
    need_ray()
    need_pyarrow(target)  # not after hours of counting
    how = CountRules.of(**rules)
    Dropping(drop_words_below)
    aside = None if temporary_folder is None else str(temporary_folder)
    reading = Reading(how, text_field, memory_limit, aside, skip_bad_files, cpus_per_task)
    files = None if is_ray_dataset(corpus) else _files(corpus, text_field)
    folder = target.with_name(f"{target.name}.parts")
    with locked(folder):
        try:
            if not overwrite and target.exists():
                _refuse_other(target, how, files)
            else:
                with connected(address, cpus_per_task=cpus_per_task, memory_limit=memory_limit) as cluster:
                    if files is None:
                        runs = count_blocks(cluster, corpus, reading, folder)
                    else:
                        sources = [file.source for file in files]
                        runs = [run_of_sources(part, reading.settings()) for part in parts_of(sources, part_bytes)]
                    _Tree(cluster, reading, folder).make(runs, target, drop_words_below, progress=progress)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            with suppress(OSError):
                folder.rmdir()  # if nothing is in it
    made = WordCounts.load(target, check=False)
    if made.left_out:
        warnings.warn(said_of_left_out(made.left_out, len(made.left_out) + len(made.sources)), stacklevel=2)
    return made


def _files(corpus: Corpus, field: str) -> list[FileInput]:
    inputs = inputs_of(corpus, field=field, check=False)  # each worker looks into its own
    files = [each for each in inputs if isinstance(each, FileInput) and each.is_file]
    if len(files) != len(inputs):
        raise CorpusError(
            "a cluster reads files or a ray.data.Dataset, and not standard input or texts of this process; write these to files, or use "
            "ray.data.from_huggingface"
        )
    return files


def _refuse_other(target: Path, rules: CountRules, files: Sequence[FileInput] | None) -> None:
    """Raise unless the output holds what is to be counted."""
    new = ["this dataset"] if files is None else what_is_there(target, rules, files)[1]
    if new:
        raise FileExistsError(
            errno.EEXIST,
            f"exists, and does not hold {some(new)}; choose another output and merge the two, or pass overwrite=True (--force)",
            str(target),
        )


@dataclass(frozen=True)
class _Tree:
    """Starts the tasks that make runs, and those that merge them as soon as they are there."""

    cluster: Cluster
    reading: Reading
    folder: Path

    def make(self, runs: Sequence[Run], target: Path, least: int | None, *, progress: bool) -> None:
        """Make runs and merge them into the target."""
        tasks: dict[Any, Run] = {}
        shared = self.cluster.share(self.reading)
        top = merged_by_fan_in(runs)
        before = [reference for run in top for reference in self._started(run, shared, tasks)]
        last = self.cluster.task(_finish)([self.folder / run.name for run in top], target, least, *before)
        tasks[last] = Run(target.name, parts=tuple(top))
        total = sum(run.size for run in runs)
        counted = sum(run.size for run in tasks.values())
        with byte_bar("counting", total, shown=progress, before=total - counted) as bar:
            self.cluster.run(tasks, lambda run: bar.update(run.size))

    def _started(self, run: Run, reading: Any, tasks: dict[Any, Run]) -> list[Any]:
        """What to wait for, for a run to be there: nothing if it is."""
        path = self.folder / run.name
        if path.exists():
            return []
        if run.parts:
            before = [reference for part in run.parts for reference in self._started(part, reading, tasks)]
            reference = self.cluster.task(_merge)([self.folder / part.name for part in run.parts], path, *before)
        else:
            reference = self.cluster.task(_count_part)(reading, run.sources, path)
        tasks[reference] = run
        return [reference]


def _count_part(reading: Reading, sources: Sequence[Source], path: Path) -> None:
    """A task: counts files."""
    if path.exists():  # it ran before, and its worker died when it was done
        return
    counts = reading.count([source.path for source in sources])
    seen = {each.name: each.source for each in counts.sources} | {each.name: each.source for each in counts.left_out}
    for source in sources:
        if seen.get(str(source.path)) != source.describe():
            raise CorpusError(
                f"{source.path}: is not, on the machine that counts it, the file that was found where the run was started; it was changed "
                "since, or is another file there"
            )
    counts.save(path, overwrite=True)


def _merge(paths: Sequence[Path], path: Path, *_: object) -> None:
    """A task: merges counts, and removes what it merged. It has waited for the results that stand for `_`."""
    if not path.exists():
        _write_sum(paths, path, None)
    for part in paths:
        part.unlink(missing_ok=True)


def _finish(paths: Sequence[Path], target: Path, least: int | None, *_: object) -> None:
    """A task: merges counts into the output. What it merges stays until the output is there: it may have to run again."""
    _write_sum(paths, target, least, refuse=True)


def _write_sum(paths: Sequence[Path], path: Path, least: int | None, *, refuse: bool = False) -> None:
    dropping = Dropping(least)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of blocks that are alike
        merged = WordCounts.merge(*(WordCounts.load(part, check=False) for part in paths))
    if refuse:
        refuse_empty(merged.sources, merged.left_out)

    def metadata() -> dict[str, Any]:
        return describe(merged.rules, merged.sources, merged.left_out, dropping.to_json(), ())

    write_words(path, dropping.kept(merged.blocks()), metadata)
