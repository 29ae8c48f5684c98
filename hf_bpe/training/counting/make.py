"""Makes counts of a corpus: in memory, or into a file, where an interrupted count is gone on with."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from hf_bpe.cuts import can_cut, last_cut
from hf_bpe.engine.backends import EngineName
from hf_bpe.engine.threads import thread_count
from hf_bpe.errors import CorpusError, ResumeRefused, WordCountsMismatch, some
from hf_bpe.training.corpus import Corpus, Input, inputs_of
from hf_bpe.training.counting.bins import Bin
from hf_bpe.training.counting.count import count_inputs
from hf_bpe.training.counting.counters import make_counter
from hf_bpe.training.counting.dropping import Dropping
from hf_bpe.training.counting.memory import DEFAULT_MEMORY, bytes_of, for_tables
from hf_bpe.training.counting.merging import merge_streams
from hf_bpe.training.counting.parquet_file import need_pyarrow, read_metadata, read_words, write_words
from hf_bpe.training.counting.record import Counted, LeftOut
from hf_bpe.training.counting.rules import CountRules
from hf_bpe.training.counting.store import ADDS_TO, PartialStore, Saved, Store, TemporaryStore
from hf_bpe.training.counting.tally import Tally
from hf_bpe.training.words import Words

__all__ = ["CountOptions", "Made", "describe", "make_counts", "refuse_empty", "said_of_left_out", "what_is_there"]


class ReadingOptions(TypedDict, total=False):
    """The keywords of `WordCounts.count` that say how a corpus is read."""

    text_field: str
    memory_limit: int | str
    temporary_folder: str | os.PathLike[str] | None
    drop_words_below: int | None
    skip_bad_files: bool
    allow_empty: bool


class CountOptions(ReadingOptions, total=False):
    """All keywords of `WordCounts.count`, but for those that say how text is cut into words."""

    output: str | os.PathLike[str] | None
    add: bool
    overwrite: bool
    num_threads: int | None
    progress: bool
    engine: EngineName


@dataclass(frozen=True)
class Made:
    """Counts that are in no file."""

    blocks: Callable[[], Iterator[Words]]
    sources: list[Counted]
    left_out: list[LeftOut]
    dropped: list[dict[str, int]]


@dataclass(frozen=True)
class _Job:
    """What is to be counted, and how: in one way, or in several at once."""

    rules: Sequence[CountRules]
    inputs: Sequence[Input]
    cuttable: bool
    budget: int
    threads: int
    skip_bad_files: bool
    allow_empty: bool
    progress: bool
    engine: EngineName

    def run(
        self, stores: Sequence[Store], saved: Saved, save: Callable[[], None] | None, ready: frozenset[str] = frozenset()
    ) -> list[Bin]:
        """Count into stores, one for each way. ready: names of files that are not to be counted."""
        apart = save is not None or self.skip_bad_files
        bins = [
            Bin(partial(make_counter, rules, self.threads, self.engine), store, apart=apart)
            for rules, store in zip(self.rules, stores, strict=True)
        ]
        tally = Tally(bins, saved, memory_limit=self.budget, cuttable=self.cuttable, threads=self.threads)
        inputs = [each for each in self.inputs if each.name not in ready]
        count_inputs(inputs, tally, skip_bad_files=self.skip_bad_files, progress=self.progress, save=save)
        if saved.left_out:
            warnings.warn(said_of_left_out(saved.left_out, len(self.inputs)), stacklevel=6)
        return bins


def make_counts(
    rules: Sequence[CountRules],
    corpus: Corpus,
    *,
    text_field: str = "text",
    output: str | os.PathLike[str] | None = None,
    add: bool = False,
    overwrite: bool = False,
    memory_limit: int | str = DEFAULT_MEMORY,
    temporary_folder: str | os.PathLike[str] | None = None,
    drop_words_below: int | None = None,
    skip_bad_files: bool = False,
    allow_empty: bool = False,
    num_threads: int | None = None,
    progress: bool = True,
    engine: EngineName = "auto",
) -> list[Made] | Path:
    """Count a corpus in one way or several; see `WordCounts.count`. The path is that of the output, if there is to be one."""
    dropping = Dropping(drop_words_below)  # not after hours of counting
    # Where a pattern is not one of the published ones, no cut of a text is known to be harmless: it is counted whole.
    cuttable = all(
        can_cut(each.pattern, each.normalizer, each.add_prefix_space)
        and not any("\n" in token for token in each.special_tokens)
        for each in rules
    )
    job = _Job(
        rules,
        inputs_of(corpus, field=text_field, cut=last_cut if cuttable else None, check=not skip_bad_files),
        cuttable,
        for_tables(bytes_of(memory_limit)),
        thread_count(num_threads),
        skip_bad_files,
        allow_empty,
        progress,
        engine,
    )
    if output is None:
        return _without_file(job, temporary_folder, drop_words_below)
    settings = {"rules": rules[0].to_json(), "text_field": text_field, "drop_words_below": drop_words_below}
    return _into_file(job, Path(output), settings, dropping, add=add, overwrite=overwrite)


def _without_file(job: _Job, temporary_folder: str | os.PathLike[str] | None, least: int | None) -> list[Made]:
    stores = [TemporaryStore(None if temporary_folder is None else Path(temporary_folder)) for _ in job.rules]
    saved = Saved([], [])
    bins = job.run(stores, saved, None)
    if not job.allow_empty:
        refuse_empty(saved.finished, saved.left_out)
    return [_made(each, store, saved, Dropping(least)) for each, store in zip(bins, stores, strict=True)]


def _made(counted: Bin, store: TemporaryStore, saved: Saved, dropping: Dropping) -> Made:
    words = counted.take()
    if store.finished:
        store.put(words, store.finished)
        if dropping.below is not None:
            store.rewrite(dropping.kept(merge_streams(store.words())))
        return Made(lambda: merge_streams(store.words()), saved.finished, saved.left_out, dropping.to_json())
    kept = next(dropping.kept(iter([words])))
    return Made(lambda: iter([kept]), saved.finished, saved.left_out, dropping.to_json())


def _into_file(job: _Job, target: Path, settings: dict[str, Any], dropping: Dropping, *, add: bool, overwrite: bool) -> Path:
    need_pyarrow(target)  # not after hours of counting
    before = None
    if target.exists() and not overwrite:
        before, new = what_is_there(target, job.rules[0], job.inputs)
        if not add and new:
            raise FileExistsError(
                errno.EEXIST,
                f"exists, and does not hold {some(new)}; pass add=True (--add) to add it, overwrite=True (--force) to count anew",
                str(target),
            )
        if not add:
            return target
    store = PartialStore(target)
    with store.locked():
        settings |= {ADDS_TO: None if before is None else before["checksum"]}
        old = [] if before is None else list(map(Counted.from_json, before["sources"]))
        saved = (None if overwrite else store.load(settings, old)) or Saved([], [])
        _check_resumed(saved, store, job.inputs)
        try:
            job.run([store], saved, lambda: store.save(settings, saved), frozenset(each.name for each in old if _is_file(each)))
            if before is None and not job.allow_empty:
                refuse_empty(saved.finished, saved.left_out)
        except BaseException:
            if not store.runs:
                store.remove()  # nothing to go on from
            raise
        streams = store.words() + ([] if before is None else [read_words(target, before["checksum"])])

        def metadata() -> dict[str, Any]:
            earlier = ([], []) if before is None else (before["dropped"], before["weights"])
            sources = [*old, *saved.finished]
            return describe(job.rules[0], sources, saved.left_out, earlier[0] + dropping.to_json(), earlier[1])

        write_words(target, dropping.kept(merge_streams(streams)), metadata)
        store.remove()
    return target


def what_is_there(target: Path, rules: CountRules, inputs: Sequence[Input]) -> tuple[dict[str, Any], list[str]]:
    """The metadata of the output that is there already, and the names of the inputs that are not in it.

    Raises `WordCountsMismatch` if it was counted in another way, `ResumeRefused` if an input has changed since.
    """
    content = read_metadata(target)
    differences = CountRules.from_json(content["rules"]).differences(rules)
    if differences:
        raise WordCountsMismatch(
            f"{target}: was counted in another way:\n"
            + "\n".join(f"  - {line}" for line in differences)
            + "\nChoose another output, or pass overwrite=True (--force) to replace it"
        )
    known = {source["name"]: source["source"] for source in [*content["sources"], *content["left_out"]]}
    changed = [each.name for each in inputs if each.is_file and known.get(each.name, each.describe()) != each.describe()]
    if changed:
        raise ResumeRefused(
            f"{target}: {some(changed)} changed since it was counted; pass overwrite=True (--force) to count anew"
        )
    return content, [each.name for each in inputs if not each.is_file or each.name not in known]


def _check_resumed(saved: Saved, store: PartialStore, inputs: Sequence[Input]) -> None:
    """Raise `ResumeRefused` if what was counted is not what is named now. Forget what was only begun, or left out, and has changed."""
    now = {each.name: each.describe() for each in inputs}
    for counted in saved.finished:
        if now.get(counted.name) != counted.source:
            what = "has changed since" if counted.name in now else "is not named now"
            raise ResumeRefused(
                f"{store.folder} holds an interrupted count: {counted.name} was counted, and {what}; name the same files, or pass "
                "overwrite=True (--force) to count anew"
            )
    saved.left_out[:] = [left for left in saved.left_out if now.get(left.name) == left.source]
    if saved.open is not None and now.get(saved.open.name) != saved.open.source:
        saved.open = None
        store.forget_open()


def _is_file(counted: Counted) -> bool:
    return "mtime_ns" in counted.source


def refuse_empty(sources: Sequence[Counted], left_out: Sequence[LeftOut]) -> None:
    """Raise `CorpusError` if there was no text in what was read."""
    if not any(source.text_bytes for source in sources):
        why = f"; {len(left_out):,} files were left out, the first: {left_out[0].reason}" if left_out else ""
        raise CorpusError(f"the corpus is empty: no text to learn from{why}")


def said_of_left_out(left_out: Sequence[LeftOut], files: int) -> str:
    """The warning of files that could not be read."""
    return f"left out {len(left_out):,} of {files:,} files: {some([left.reason for left in left_out])}"


def describe(
    rules: CountRules,
    sources: Sequence[Counted],
    left_out: Sequence[LeftOut],
    dropped: Sequence[dict[str, int]],
    weights: Sequence[int],
) -> dict[str, Any]:
    """The metadata of a word-count file, but for what its rows say."""
    return {
        "rules": rules.to_json(),
        "sources": [source.to_json() for source in sources],
        "left_out": [left.to_json() for left in left_out],
        "dropped": list(dropped),
        "weights": list(weights),
    }
