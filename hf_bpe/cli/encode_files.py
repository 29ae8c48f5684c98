"""`hf-bpe encode-files`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import hf_bpe
from hf_bpe.cli.console import err, print_json
from hf_bpe.cli.options import Json, LoadedPattern, Ray, SourceFormat, SpecialIds, TextField, Tokenizer, load
from hf_bpe.spec import TokenizerSpec

__all__ = ["encode_files"]

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}


def encode_files(
    tokenizer: Tokenizer,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...",
            show_default=False,
            help="Text, .jsonl or .parquet; text and .jsonl also .gz or .zst. A folder is all files in it; patterns are expanded.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", show_default=False, help="Folder for the shards; one already begun is gone on with."),
    ],
    text_field: TextField = "text",
    separator: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            help="What ends a document in text files, with \\\\n, \\\\r, \\\\t, \\\\0 and \\\\\\\\ as usual; default: one document per file.",
        ),
    ] = None,
    eos: Annotated[
        str | None,
        typer.Option(metavar="TOKEN|ID", show_default=False, help="Special token (or id) to put behind each document."),
    ] = None,
    dtype: Annotated[
        Literal["uint16", "uint32"] | None,
        typer.Option(show_default=False, help="Type of the ids; default: uint16 where all ids of the tokenizer fit."),
    ] = None,
    shard_tokens: Annotated[
        int, typer.Option(min=1, help="Ids in a shard, which ends with the document that fills it.")
    ] = 100_000_000,
    on_bad: Annotated[
        Literal["raise", "skip"], typer.Option(help="Stop at a document that cannot be read, or leave it out and count it.")
    ] = "raise",
    num_threads: Annotated[
        int | None, typer.Option(min=1, show_default=False, help="Threads; default: all processors.")
    ] = None,
    ray: Ray = None,
    force: Annotated[bool, typer.Option("--force", help="Replace encoded documents that OUTPUT holds.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
    as_json: Json = False,
    pattern: LoadedPattern = None,
    source: SourceFormat = None,
    special_token: SpecialIds = None,
) -> None:
    """Encode files into shards of ids that a training loop maps into memory.

    Run the same command again after an interruption: it goes on after the last complete shard.
    """
    spec = load(tokenizer, source, pattern, special_token)
    end = _checked_options(spec, eos, dtype)
    options: dict[str, Any] = {
        "text_field": text_field,
        "separator": None if separator is None else unescape(separator),
        "eos": end,
        "dtype": dtype,
        "shard_tokens": shard_tokens,
        "on_bad": on_bad,
        "progress": not quiet and err.is_terminal,
        "overwrite": force,
    }
    started = time.perf_counter()
    try:
        if ray is None:
            corpus = hf_bpe.encode_files(spec, files, output, num_threads=num_threads, **options)
        else:
            from hf_bpe import distributed

            corpus = distributed.encode_files(spec, files, output, address=ray, cpus_per_task=num_threads or 1, **options)
    except KeyboardInterrupt:
        if not quiet:
            err.print(
                f"interrupted; run the same command again to go on after the last complete shard in {output}", markup=False
            )
        raise
    seconds = time.perf_counter() - started
    if as_json:
        print_json(
            {
                "output": str(output),
                "documents": len(corpus),
                "tokens": corpus.tokens,
                "skipped": corpus.skipped,
                "shards": corpus.num_shards,
                "dtype": corpus.dtype.name,
                "fingerprint": corpus.fingerprint,
                "seconds": round(seconds, 3),
            }
        )
    elif not quiet:
        err.print(
            f"{output}: {corpus.tokens:,} ids ({corpus.dtype.name}) of {len(corpus):,} documents in {corpus.num_shards} shards, "
            f"in {seconds:.1f} s",
            markup=False,
        )


def unescape(text: str) -> str:
    r"""Backslash escapes, which shells do not expand. Raises `typer.BadParameter` for an unknown one.

    >>> unescape(r"\n---\n")
    '\n---\n'
    """
    parts = []
    characters = iter(text)
    for character in characters:
        if character == "\\":
            escape = next(characters, "")
            if escape not in _ESCAPES:
                raise typer.BadParameter(
                    f"\\{escape} is not an escape; there are \\n, \\r, \\t, \\0 and \\\\ for a backslash",
                    param_hint="--separator",
                )
            character = _ESCAPES[escape]
        parts.append(character)
    return "".join(parts)


def _checked_options(spec: TokenizerSpec, eos: str | None, dtype: str | None) -> int | None:
    """The id of `eos`: that of the token of this spelling if there is one, else the number itself."""
    from hf_bpe.encoding.ids import choose_dtype, end_token  # needs numpy

    spelled = eos is None or any(token.content == eos for token in spec.added_tokens)
    try:
        end = end_token(spec, eos if spelled or not str(eos).isdecimal() else int(str(eos)))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--eos") from None
    try:
        choose_dtype(spec, dtype)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--dtype") from None
    return end
