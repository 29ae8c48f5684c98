"""`hf-bpe resize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hf_bpe.cli.console import err, print_json, show_plan, tell_written
from hf_bpe.cli.interruption import watch
from hf_bpe.cli.options import DryRun, EmbeddingTensors, HeadTensors, Json, Quiet, Yes, given_path
from hf_bpe.editing import IdMap, plan_resize

__all__ = ["resize"]


def resize(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL_DIR", parser=given_path, show_default=False, help="Folder with config.json and .safetensors files."
        ),
    ],
    tokenizer: Annotated[
        Path,
        typer.Option(
            "--tokenizer",
            "-t",
            metavar="NEW",
            parser=given_path,
            show_default=False,
            help="The new tokenizer: a file or a folder.",
        ),
    ],
    old_tokenizer: Annotated[
        Path | None,
        typer.Option(
            "--old-tokenizer",
            metavar="OLD",
            parser=given_path,
            show_default=False,
            help="The tokenizer that the model was trained with; default: the one in MODEL_DIR.",
        ),
    ] = None,
    id_map: Annotated[
        Path | None,
        typer.Option(
            "--id-map",
            metavar="FILE",
            parser=given_path,
            show_default=False,
            help="JSON that says which id became which; default: tokens of the same text are the same.",
        ),
    ] = None,
    init: Annotated[
        str,
        typer.Option(
            metavar="mean|pieces|zeros|normal|copy:TOKEN",
            help="How rows of new tokens begin: mean of all rows in use, mean of the rows of the token's old pieces, zeros, drawn with "
            "the rows' mean and covariance, or the row of an old token.",
        ),
    ] = "mean",
    seed: Annotated[int, typer.Option(min=0, help="For rows that are drawn.")] = 0,
    pad_to_multiple_of: Annotated[
        int | None,
        typer.Option(
            min=1, show_default=False, help="Round the number of rows up to a multiple; default: the one they were padded to."
        ),
    ] = None,
    shrink: Annotated[
        bool,
        typer.Option(
            "--shrink", help="Have no more rows than the new tokenizer needs; else there are never fewer than before."
        ),
    ] = False,
    embedding: EmbeddingTensors = None,
    head: HeadTensors = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            parser=given_path,
            show_default=False,
            help="A new folder; default: MODEL_DIR is replaced.",
        ),
    ] = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Copy the files that stay the same; else they become hard links where that works.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make a model fit another tokenizer: its embedding, head, configuration and tokenizer files, in one step.

    Every row goes where its token goes; no framework is loaded, and all other tensors stay the same to the byte.
    """
    plan = plan_resize(
        model,
        tokenizer,
        old_tokenizer=old_tokenizer,
        id_map=None if id_map is None else IdMap.load(id_map),
        init=init,
        seed=seed,
        pad_to_multiple_of=pad_to_multiple_of,
        shrink=shrink,
        embedding=embedding or (),
        head=head or (),
        output=output,
        link=not copy,
    )
    if not quiet and not as_json:
        replaces = plan.target == plan.model
        question = "Replace the model?" if replaces else "Write this folder?"
        show_plan(plan.summary(), question, dry_run=dry_run, yes=yes, by_default=not replaces)
    watch((plan.target,))
    record = plan.to_dict() if dry_run else plan.apply(progress=not quiet and err.is_terminal)
    if as_json:
        print_json(record)
    elif not quiet:
        tell_written(() if dry_run else (plan.target,))
