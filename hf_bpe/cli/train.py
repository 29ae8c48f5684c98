"""`hf-bpe train`."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import conversion
import hf_bpe
from hf_bpe.byte_level import bytes_to_token, token_to_bytes
from hf_bpe.cli import training_options as options
from hf_bpe.cli.console import err, print_json
from hf_bpe.cli.files import refuse_existing, target_format
from hf_bpe.cli.options import Force, Json
from hf_bpe.errors import ConversionRefused
from hf_bpe.pages import check_target
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.report.report import ENDINGS, TrainingReport
from hf_bpe.training.sentencepiece_settings import SETTING_NAMES, settings_for

__all__ = ["train"]


def train(
    output: Annotated[Path, typer.Option("--output", "-o", show_default=False, help="Where to write the tokenizer.")],
    files: options.Files = None,
    counts: options.Counts = None,
    source: options.Sources = None,
    weight: options.Weights = None,
    share: options.Shares = None,
    sample: options.Sample = None,
    seed: options.Seed = 0,
    text_field: options.TextField = None,
    memory_limit: options.MemoryLimit = None,
    skip_bad_files: options.SkipBadFiles = False,
    vocab_size: Annotated[int, typer.Option(help="Ids in all, special tokens included.")] = 32_000,
    dialect: Annotated[
        Literal["byte_level", "sentencepiece"],
        typer.Option(help="What merging starts from: bytes, or the characters of a SentencePiece model."),
    ] = "byte_level",
    pattern: options.Pattern = None,
    normalizer: options.Normalizer = None,
    digits: options.Digits = None,
    special_token: options.SpecialTokens = None,
    reserved_tokens: options.ReservedTokens = None,
    initial_alphabet: options.InitialAlphabet = None,
    space_runs: options.SpaceRuns = None,
    forced_token: options.ForcedTokens = None,
    shortfall: options.Shortfall = None,
    like: options.Like = None,
    min_frequency: options.MinFrequency = None,
    max_token_length: options.MaxTokenLength = None,
    tie_break: options.TieBreak = None,
    forbid_token: options.ForbiddenTokens = None,
    forbid_pattern: options.ForbiddenPatterns = None,
    forbid_merge: options.ForbiddenMerges = None,
    superwords: options.Superwords = None,
    superwords_from: options.SuperwordsFrom = None,
    superword_max_words: options.SuperwordMaxWords = None,
    preset: options.Preset = None,
    settings: options.Settings = None,
    report: options.Report = None,
    held_out: options.HeldOut = None,
    show_merges: options.ShowMerges = None,
    num_threads: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Threads; default: all processors.")
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option("--format", show_default=False, help="What to write; default: what OUTPUT's name says, else huggingface."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Train a tokenizer on text files and save it. Options that SentencePiece models do not have are refused for them."""
    chosen = target_format(output, file_format)
    refuse_existing(output, force)
    if report is not None:
        refuse_existing(report, force)
        check_target(report, ENDINGS)
    reports: list[TrainingReport] = []
    given = {
        "text_field": text_field,
        "memory_limit": memory_limit,
        "skip_bad_files": skip_bad_files or None,
        "pattern": pattern,
        "normalizer": normalizer,
        "digits": digits,
        "special_tokens": special_token,
        "reserved_tokens": reserved_tokens,
        "initial_alphabet": initial_alphabet,
        "space_runs": space_runs,
        "forced_tokens": forced_token,
        "shortfall": shortfall,
        "like": conversion.load(like) if like is not None else None,
        "min_frequency": min_frequency,
        "max_token_length": max_token_length,
        "tie_break": tie_break,
        "forbidden_tokens": forbid_token,
        "forbidden_patterns": forbid_pattern,
        "forbidden_merges": list(map(_pair, forbid_merge)) if forbid_merge else None,
        "superwords": superwords,
        "superwords_from": superwords_from,
        "superword_max_words": superword_max_words,
        "preset": preset,
        "report": reports.append if report is not None or show_merges is not None else None,
        "held_out": _by_name(held_out) if held_out else None,
    }
    given = {name: value for name, value in given.items() if value is not None} | dict(map(_name_and_value, settings or ()))
    if dialect == "sentencepiece":
        _refuse_what_cannot_be_saved(chosen, given)
    started = time.perf_counter()
    spec = hf_bpe.train(
        _corpus(files, counts, _mixture(source, weight, share, sample, seed)),
        vocab_size,
        dialect=dialect,
        num_threads=num_threads,
        progress=not quiet and err.is_terminal,
        **given,
    )
    written = conversion.save(spec, output, format=chosen)
    seconds = time.perf_counter() - started
    if report is not None:
        reports[0].write(report)
    if as_json:
        print_json(
            {
                "output": str(output),
                "format": chosen,
                "files": list(map(str, written)),
                "vocab_size": spec.vocab_size,
                "merges": _count_merged(spec),
                "special_tokens": dict(spec.special_tokens),
                "fingerprint": spec.fingerprint,
                "seconds": round(seconds, 3),
                **({"first_merges": reports[0].content["merges"]["first"][:show_merges]} if show_merges else {}),
            }
        )
        return
    if show_merges:
        _print_merges(spec, reports[0], show_merges)
    if not quiet:
        err.print(f"{output}: {spec.vocab_size:,} tokens, {_count_merged(spec):,} of them merged, in {seconds:.1f} s")


def _print_merges(spec: TokenizerSpec, report: TrainingReport, wanted: int) -> None:
    """Rank, id, pair and count of the first merges, as the lecture on BPE prints them."""
    first = report.content["merges"]["first"][:wanted]
    for rank, (merge, (left, right)) in enumerate(zip(first, spec.merges, strict=False), 1):
        pair = f"{bytes_to_token(left)} + {bytes_to_token(right)} -> {bytes_to_token(left + right)}"
        typer.echo(f"{rank:6}  id {spec.vocab[left + right]}: {pair}  {merge['times']:,} times")


def _refuse_what_cannot_be_saved(chosen: str, given: dict[str, Any]) -> None:
    """Raise `ConversionRefused` before training, for hours maybe, where only a .model file could hold the result."""
    known = {name: value for name, value in given.items() if name in SETTING_NAMES}
    rule = settings_for(given.get("preset"), known).normalization_rule_name
    if rule != "identity" and chosen in ("huggingface", "tokenizer.json"):
        raise ConversionRefused(
            f"a model with the normaliser {rule} cannot be saved as {chosen}, which cannot say it exactly: give OUTPUT a name that ends "
            "in .model, or train with --preset llama2 or --set normalization_rule_name=identity"
        )


def _name_and_value(given: str) -> tuple[str, Any]:
    """A setting, its value as JSON reads it, or else the text itself.

    >>> _name_and_value("split_digits=true"), _name_and_value("normalization_rule_name=identity")
    (('split_digits', True), ('normalization_rule_name', 'identity'))
    """
    name, equals, value = given.partition("=")
    if not name or not equals:
        raise typer.BadParameter(f"{given!r} is not NAME=VALUE, such as byte_fallback=true", param_hint="--set")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def _count_merged(spec: TokenizerSpec) -> int:
    """How many tokens merging makes."""
    if spec.sentencepiece is None:
        return len(spec.merges)
    return sum(piece.kind == "normal" and len(piece.content) > 1 for piece in spec.sentencepiece.pieces)


def _pair(given: str) -> tuple[str, str]:
    """A pair as merges.txt writes it.

    >>> _pair("Ġ the")
    (' ', 'the')
    """
    left, space, right = given.partition(" ")
    try:
        pair = token_to_bytes(left).decode(), token_to_bytes(right).decode()
    except ValueError:
        pair = ("", "")
    if not space or "" in pair:
        raise typer.BadParameter(
            f"{given!r} is not a pair of tokens as in merges.txt, such as 'Ġ the'", param_hint="--forbid-merge"
        )
    return pair


def _by_name(given: Sequence[str]) -> dict[str, list[Path]]:
    """Files by the name before the first =, or by their own."""
    named: dict[str, list[Path]] = {}
    for each in given:
        name, equals, path = each.partition("=")
        named.setdefault(name if equals else Path(each).name, []).append(Path(path if equals else each))
    return named


def _mixture(
    sources: Sequence[str] | None,
    weights: Sequence[str] | None,
    shares: Sequence[str] | None,
    sample: Sequence[str] | None,
    seed: int,
) -> hf_bpe.Mixture | None:
    if not sources:
        if weights or shares or sample:
            raise typer.BadParameter("--weight, --share and --sample need sources with names", param_hint="--source")
        return None
    for each in sources:
        if not each.partition("=")[2]:
            raise typer.BadParameter(f"{each!r} is not NAME=FILE, such as en=english.txt", param_hint="--source")
    numbers = [dict(each.partition("=")[::2] for each in given or ()) for given in (weights, shares, sample)]
    try:
        kept = {name: float(number) for name, number in numbers[2].items()}
    except ValueError:
        raise typer.BadParameter("write NAME=NUMBER, such as en=0.1", param_hint="--sample") from None
    return hf_bpe.Mixture(_by_name(sources), weights=numbers[0], shares=numbers[1], sample=kept, seed=seed)


def _corpus(files: Sequence[str] | None, counts: Sequence[Path] | None, mixture: hf_bpe.Mixture | None) -> Any:
    """What `train` takes: paths, the counts in files, one for each stage, or a mixture."""
    if sum(map(bool, (files, counts, mixture))) != 1:
        raise typer.BadParameter(
            "name files to train on, or word counts with --counts, or sources with --source: one of the three",
            param_hint="FILES",
        )
    return mixture or (list(map(hf_bpe.WordCounts.load, counts)) if counts else list(map(Path, files or ())))
