"""From a tokenizer to files: the verdict first, then the files, read back before they take their place."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversion.callers import caller_must_normalise
from conversion.equality import first_difference
from conversion.format import AsRun, Format, Given
from conversion.huggingface import FORMAT as HUGGING_FACE
from conversion.huggingface import TOKENIZER_FILE, as_loaded, deciding_file, write_folder
from conversion.left_out import left_out
from conversion.registry import FORMATS, find_format, format_for_writing
from conversion.report import report_file, report_of
from conversion.sidecar import file_sidecar
from conversion.tokenizer_json import FORMAT as TOKENIZER_JSON
from conversion.tokenizer_json import from_dict
from conversion.verdict import Checks, Verdict
from hf_bpe.corpus.sources import find_sources
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import path_of, write_atomically
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    from hf_bpe.corpus.sources import Paths as Corpus

__all__ = ["Converted", "check", "convert", "refuse_others_in_charge", "remove_what_is_stale", "save"]


@dataclass(frozen=True)
class Converted:
    """What became of a conversion. paths: the files written; none after a dry run."""

    verdict: Verdict
    paths: tuple[Path, ...]


def check(spec: TokenizerSpec, format: str) -> Verdict:  # noqa: A002
    """Whether a format holds a tokenizer, with the reasons. Writes nothing, and measures no loss (`convert` does).

    >>> spec = TokenizerSpec({bytes([byte]): byte for byte in range(256)}, ())
    >>> check(spec, "tokenizer.json").kind, check(spec, "gguf").kind
    ('exact', 'impossible')
    """
    chosen = find_format(format)
    return _plan(spec, chosen, f"tokenizer{chosen.ending}").verdict


def convert(
    spec: TokenizerSpec,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    allow_lossy: bool = False,
    dry_run: bool = False,
    corpus: Corpus | None = None,
    source: str | os.PathLike[str] | None = None,
) -> Converted:
    """`save`, with the verdict. Where something is lost, that is measured, and stands in a report beside the result.

    dry_run: give the verdict and leave it at that: nothing is written, nothing refused.
    corpus: text files to measure a loss on, beside the built-in strings.
    source: where the spec was read. Into a Hugging Face folder goes, from another one, what it says beyond the ids: which tokens
        begin and end a text, the chat template, settings. What a target does not say of that, the verdict lists as left out.
    """
    return _convert(spec, path_of(path), format, allow_lossy, dry_run, corpus, source)


def _convert(
    spec: TokenizerSpec,
    target: Path,
    format_name: str | None,
    allow_lossy: bool,
    dry_run: bool = False,
    corpus: Corpus | None = None,
    source: str | os.PathLike[str] | None = None,
) -> Converted:
    chosen = format_for_writing(target) if format_name is None else find_format(format_name)
    if target.exists() and target.is_dir() != chosen.is_folder:
        wanted = "a folder" if chosen.is_folder else "a file"
        raise FormatError(f"{target}: {chosen.name} is written as {wanted}, and this is not one; give another path")
    if corpus is not None:
        find_sources(corpus)  # a wrong name is told at once, and where nothing is lost too
    loaded = None
    if chosen is HUGGING_FACE and source is not None and deciding_file(Path(source)) is not None:
        loaded = as_loaded(Path(source))
    plan = _plan(spec if loaded is None else loaded.spec, chosen, target.name)
    if loaded is not None and plan.verdict.losses:  # the nearest is another tokenizer, which has nothing of the folder's
        loaded, plan = None, _plan(spec, chosen, target.name)
    if not dry_run:
        plan.verdict.refuse(allow_lossy)
        refuse_others_in_charge(target, chosen, plan.contents)
        _warn_who_must_normalise(spec, target, plan.verdict)
    plan = _measured(plan, chosen, target.name, corpus)
    return Converted(plan.verdict, () if dry_run else tuple(_write(target, chosen, plan, loaded)))


def save(
    spec: TokenizerSpec,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    allow_lossy: bool = False,
) -> list[Path]:
    """Write a tokenizer, and return the paths written. What was written is read back and compared before it takes its place.

    format: one of `formats()`; taken from the name if that ends in .tiktoken, .gguf, .model, .vocab or tokenizer.json, or is
        tekken.json. For "gpt2", "vocab-merges" and "tiktoken-plugin" the path is a folder, whose name names the plugin.
    allow_lossy: write the nearest file where the format cannot hold the tokenizer exactly, instead of raising
        `ConversionRefused`, with a report of what is lost beside it, and its text as a warning.
    """
    converted = _convert(spec, path_of(path), format, allow_lossy)
    if converted.verdict.kind == "lossy":
        warnings.warn(f"{os.fspath(path)} is not exact\n{converted.verdict.summary()}", stacklevel=2)
    return list(converted.paths)


# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """What would be written. spec: in the dialect of the format."""

    source: TokenizerSpec
    spec: TokenizerSpec
    checks: Checks
    verdict: Verdict
    contents: Mapping[str, bytes]


def _plan(spec: TokenizerSpec, chosen: Format, name: str, *, reads_back: bool = True) -> _Plan:
    if not isinstance(spec, TokenizerSpec):
        raise TypeError(f"a TokenizerSpec is converted, not {spec!r:.60}; conversion.load(path) gives the one of a file")
    if chosen is HUGGING_FACE:  # written by the plugin; its tokenizer.json decides the ids
        plan = _plan(spec, TOKENIZER_JSON, TOKENIZER_FILE, reads_back=False)  # the plugin does
        return replace(plan, verdict=replace(plan.verdict, format=chosen.name))
    checks = Checks()
    converted, contents = spec, {}
    try:
        if chosen.converted is not None:
            converted = chosen.converted(spec, checks)
        if chosen.write is not None:
            contents = chosen.write(converted, name, checks)
    except ConversionRefused as refusal:
        return _Plan(spec, converted, checks, Verdict(chosen.name, impossible=str(refusal)), {})
    # What a file loses that has no sidecar is lost for our reader too.
    if reads_back and (not checks.losses or len(contents) > 1):
        if not checks.read_back:
            _check_by_reading_back(converted, chosen, contents, name)
        checks.hold("reading back what is written gives the same tokenizer")
    verdict = replace(checks.verdict(chosen.name), left_out=tuple(left_out(spec, chosen.name)))
    return _Plan(spec, converted, checks, verdict, contents)


def _check_by_reading_back(spec: TokenizerSpec, chosen: Format, contents: Mapping[str, bytes], name: str) -> None:
    with tempfile.TemporaryDirectory(prefix="hf-bpe-") as folder:
        for file, content in contents.items():  # not `write_atomically`, which waits for the disk
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        found = chosen.read(Path(folder) if chosen.is_folder else Path(folder, name), Given())
    difference = first_difference(spec, found)
    if difference is not None:
        raise ConversionRefused(
            f"{chosen.name}: reading back what was written gives another tokenizer, so nothing was saved; this is a defect of the "
            f"writer or the reader: please report it. {difference}"
        )


def _warn_who_must_normalise(spec: TokenizerSpec, target: Path, verdict: Verdict) -> None:
    """A condition that is easily overlooked: pattern and special tokens are asked for, a normaliser is not."""
    condition = caller_must_normalise(spec)
    if condition in verdict.conditions:
        warnings.warn(f"{target} gives the same ids only if {condition}: {verdict.format} has no normaliser", stacklevel=4)


def _measured(plan: _Plan, chosen: Format, name: str, corpus: Corpus | None) -> _Plan:
    """The plan with what it loses, and with the report of that."""
    library = TOKENIZER_JSON if chosen is HUGGING_FACE else chosen
    if not plan.verdict.losses or library.as_run is None:
        return plan
    from conversion.loss import measure  # brings in the engine, which an exact conversion does not need

    main = TOKENIZER_FILE if chosen is HUGGING_FACE else name
    loss = measure(plan.source, _as_run(plan, library.as_run(plan.spec, plan.contents, main)), plan.checks.suspects(), corpus)
    verdict = replace(plan.verdict, loss=loss)
    report = {report_file(name, chosen.is_folder): report_of(verdict, plan.contents)}
    return replace(plan, verdict=verdict, contents={**plan.contents, **report})


def _as_run(plan: _Plan, run: AsRun) -> AsRun:
    """The library, handed texts as the conditions want them."""
    if caller_must_normalise(plan.source) not in plan.verdict.conditions or not isinstance(run.tokenizer, TokenizerSpec):
        return run
    source = plan.source
    return replace(run, tokenizer=run.tokenizer.replace(normalizer=source.normalizer, add_prefix_space=source.add_prefix_space))


def refuse_others_in_charge(target: Path, chosen: Format, contents: Collection[str]) -> None:
    """Raise `FormatError` where files in a folder would be read in place of those that are to be written into it."""
    for candidate in FORMATS.values() if chosen.is_folder and target.is_dir() else ():
        for name in candidate.in_folder if candidate.is_folder else ():
            others = sorted(path.relative_to(target).as_posix() for path in target.glob(name))
            others = [other for other in others if other not in contents]
            if others:
                raise FormatError(
                    f"{target}: {', '.join(others)} in it would be read in place of what is written as {chosen.name}; remove that, or "
                    "choose another folder"
                )
            if candidate is chosen and any(fnmatch(written, name) for written in contents):
                return


def _write(target: Path, chosen: Format, plan: _Plan, loaded: Any) -> list[Path]:
    report = report_file(target.name, chosen.is_folder)
    if chosen is HUGGING_FACE:
        held = plan.spec if loaded is None else loaded
        paths = write_folder(_nearest(plan) if plan.verdict.losses else held, target)
        if report in plan.contents:
            paths += write_atomically(target, {report: plan.contents[report]})
    else:
        paths = write_atomically(target if chosen.is_folder else target.parent, plan.contents)
    remove_what_is_stale(target, chosen, plan.contents)
    return paths


def remove_what_is_stale(target: Path, chosen: Format, contents: Collection[str]) -> None:
    """Remove a sidecar and a report that stood at the target and were not written anew: they speak of another file."""
    beside = {report_file(target.name, chosen.is_folder)} | (set() if chosen.is_folder else {file_sidecar(target.name)})
    for name in beside.difference(contents):
        (target if chosen.is_folder else target.parent).joinpath(name).unlink(missing_ok=True)


def _nearest(plan: _Plan) -> TokenizerSpec:
    """What the nearest tokenizer.json is read as, which a folder can then hold."""
    try:
        return from_dict(json.loads(plan.contents[TOKENIZER_FILE]), TOKENIZER_FILE)
    except ConversionRefused as refusal:
        reason = str(refusal).removeprefix(f"{TOKENIZER_FILE}: ")
        raise ConversionRefused(
            f"the nearest {TOKENIZER_FILE} is one that no folder of this package can hold: {reason}. Convert to a file of that name "
            "to get it by itself"
        ) from None
