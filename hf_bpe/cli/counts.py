"""`hf-bpe counts make`, `show` and `merge`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from hf_bpe.cli.console import err, out, print_json
from hf_bpe.cli.options import PATTERN_NAMES, Force, Json, Ray, TextField
from hf_bpe.training.counting import WordCounts
from hf_bpe.training.counting.memory import DEFAULT_MEMORY

__all__ = ["counts"]

counts = typer.Typer(
    name="counts",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Word counts: made once of any amount of text, merged, and trained on (`hf-bpe train --counts`) as often as wanted.",
)

Output = Annotated[Path, typer.Option("--output", "-o", show_default=False, help="The word-count file (Parquet) to write.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]


@counts.command(
    epilog="Example: `hf-bpe counts make 'data/*.jsonl.zst' -o counts.parquet --special-token '<|endoftext|>' --memory-limit 4GB`"
)
def make(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...",
            show_default=False,
            help="Text, .jsonl or .parquet; text and .jsonl also .gz or .zst. A folder is all files in it; patterns are expanded; - is "
            "standard input.",
        ),
    ],
    output: Output,
    pattern: Annotated[
        str, typer.Option(help=f"How text is split: {PATTERN_NAMES}, or a regular expression; none for no split.")
    ] = "cl100k",
    normalizer: Annotated[
        list[str] | None, typer.Option(show_default=False, help="What is done to text first, such as NFC (repeatable).")
    ] = None,
    special_token: Annotated[
        list[str] | None, typer.Option(show_default=False, help="Text to cut out and not to count (repeatable).")
    ] = None,
    text_field: TextField = "text",
    add: Annotated[bool, typer.Option("--add", help="Add what OUTPUT does not hold yet.")] = False,
    memory_limit: Annotated[str, typer.Option(help="Counts that do not fit are put aside on disk; the result is exact.")] = (
        DEFAULT_MEMORY
    ),
    drop_words_below: Annotated[
        int | None,
        typer.Option(
            min=2, show_default=False, help="Leave out words that occur less often; what is learnt is not exact then."
        ),
    ] = None,
    skip_bad_files: Annotated[
        bool, typer.Option("--skip-bad-files", help="Leave out files that are damaged, and name them at the end.")
    ] = False,
    num_threads: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Threads; default: all processors.")
    ] = None,
    ray: Ray = None,
    quiet: Quiet = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Count the words of text files.

    Run the same command again after an interruption: it goes on where it was.
    """
    if add and ray is not None:
        raise typer.BadParameter("does not go with --ray; count into another file, and merge the two", param_hint="--add")
    started = time.perf_counter()
    options: dict[str, Any] = {
        "pattern": pattern,
        "normalizer": normalizer or (),
        "special_tokens": special_token or (),
        "text_field": text_field,
        "overwrite": force,
        "memory_limit": memory_limit,
        "drop_words_below": drop_words_below,
        "skip_bad_files": skip_bad_files,
        "progress": not quiet and err.is_terminal,
    }
    corpus = [Path(file) for file in files]
    try:
        if ray is None:
            made = WordCounts.count(corpus, output=output, add=add, num_threads=num_threads, **options)
        else:
            from hf_bpe import distributed

            made = distributed.count(corpus, output, address=ray, cpus_per_task=num_threads or 1, **options)
    except KeyboardInterrupt:
        if not quiet:
            beside = f"{output}.partial" if ray is None else f"{output}.parts"
            err.print(f"interrupted; what was counted is in {beside}: run the same command again to go on", markup=False)
        raise
    _tell(made, time.perf_counter() - started, quiet=quiet, as_json=as_json)


@counts.command(epilog="Example: `hf-bpe counts show counts.parquet --top 20`")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="A word-count file.")],
    top: Annotated[int, typer.Option(min=0, help="How many of the most frequent words to show.")] = 10,
    as_json: Json = False,
) -> None:
    """Say what a word-count file holds: how it was counted, from what, and the most frequent words."""
    opened = WordCounts.load(file)
    facts = opened.inspect()
    words = opened.most_common(top)
    if as_json:
        print_json({**facts, "most_common": [[word.decode("utf-8", "backslashreplace"), count] for word, count in words]})
        return
    _print_facts(facts)
    for word, count in words:
        out.print(
            f"{count:>15,}  {json.dumps(word.decode('utf-8', 'backslashreplace'), ensure_ascii=False)}",
            markup=False,
            soft_wrap=True,
        )


@counts.command(epilog="Example: `hf-bpe counts merge en.parquet de.parquet -o both.parquet --weight 2 --weight 1/3`")
def merge(
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", show_default=False, help="Word-count files.")],
    output: Output,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            show_default=False,
            help="How much each file counts: a number or a fraction, one for each file in their order (repeatable).",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Merge word-count files into one."""
    started = time.perf_counter()
    merged = WordCounts.merge(*map(WordCounts.load, files), weights=weight)
    _tell(merged.save(output, overwrite=force), time.perf_counter() - started, quiet=quiet, as_json=as_json)


def _tell(made: WordCounts, seconds: float, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "output": str(made.path),
                "words": len(made),
                "occurrences": made.occurrences,
                "text_bytes": made.text_bytes,
                "checksum": made.checksum,
                "sources": len(made.sources),
                "left_out": [left.to_json() for left in made.left_out],
                "seconds": round(seconds, 3),
            }
        )
    elif not quiet:
        err.print(
            f"{made.path}: {len(made):,} words that occur {made.occurrences:,} times in {made.text_bytes:,} bytes of "
            f"{len(made.sources):,} sources, in {seconds:.1f} s",
            markup=False,
        )


def _print_facts(facts: dict[str, Any]) -> None:
    rules = facts["rules"]
    lines = {
        "words": f"{facts['words']:,}, {facts['seen_once']:,} of them seen once; the longest has {facts['longest']:,} bytes",
        "occurrences": f"{facts['occurrences']:,}",
        "text": f"{facts['text_bytes']:,} bytes",
        "sources": f"{len(facts['sources']):,}",
        "split": rules["pattern"] or "none",
        **{
            name: json.dumps(value, ensure_ascii=False)
            for name, value in rules.items()
            if value and name not in ("pattern", "unmatched")
        },
        **({"unmatched": rules["unmatched"]} if rules["unmatched"] != "keep" else {}),
        **{name: json.dumps(facts[name]) for name in ("dropped", "weights") if facts[name]},
        "checksum": facts["checksum"],
    }
    for name, value in lines.items():
        out.print(f"{name + ':':<16} {value}", markup=False, soft_wrap=True)
    for left in facts["left_out"]:
        out.print(f"{'left out:':<16} {left['reason']}", markup=False, soft_wrap=True)
