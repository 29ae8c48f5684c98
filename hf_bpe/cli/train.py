"""`hf-bpe train`."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

import hf_bpe
from hf_bpe.cli.console import err, print_json
from hf_bpe.cli.files import STDIN, refuse_existing, save, target_format
from hf_bpe.cli.options import PATTERN_NAMES, Force, Json

__all__ = ["train"]


def train(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES...", show_default=False, help="UTF-8 text; - is standard input.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", show_default=False, help="Where to write the tokenizer.")],
    vocab_size: Annotated[int, typer.Option(help="Ids in all: 256 bytes, merges, special tokens.")] = 32_000,
    pattern: Annotated[str, typer.Option(help=f"How text is split: {PATTERN_NAMES}, or a regular expression.")] = "cl100k",
    special_token: Annotated[
        list[str] | None, typer.Option(show_default=False, help="Text to keep whole; gets the last ids (repeatable).")
    ] = None,
    min_frequency: Annotated[int, typer.Option(help="Merge only pairs seen this often.")] = 2,
    max_token_length: Annotated[int | None, typer.Option(show_default=False, help="Longest token, in bytes.")] = None,
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
    """Train a tokenizer on text files and save it."""
    chosen = target_format(output, file_format)
    refuse_existing(output, force)
    started = time.perf_counter()
    with _on_disk(files) as paths:
        spec = hf_bpe.train(
            paths,
            vocab_size,
            pattern=pattern,
            special_tokens=special_token or (),
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            num_threads=num_threads,
            progress=not quiet and err.is_terminal,
        )
    written = save(spec, output, chosen)
    seconds = time.perf_counter() - started
    if as_json:
        print_json(
            {
                "output": str(output),
                "format": chosen,
                "files": list(map(str, written)),
                "vocab_size": spec.vocab_size,
                "merges": len(spec.merges),
                "special_tokens": dict(spec.special_tokens),
                "fingerprint": spec.fingerprint,
                "seconds": round(seconds, 3),
            }
        )
    elif not quiet:
        err.print(f"{output}: {spec.vocab_size:,} tokens, {len(spec.merges):,} of them merged, in {seconds:.1f} s")


@contextmanager
def _on_disk(files: Sequence[Path]) -> Iterator[list[Path]]:
    """The files, standard input among them as a temporary one: it may not fit into memory, and gives what a file would."""
    if STDIN not in files:
        yield list(files)
        return
    with tempfile.TemporaryDirectory(prefix="hf-bpe-") as folder:
        copy = Path(folder, "standard-input")
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield [copy if path == STDIN else path for path in files]
