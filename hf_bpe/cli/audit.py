"""`hf-bpe audit`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from conversion.json_text import indented
from conversion.verification.corpus import corpus_size
from hf_bpe.cli.console import out, print_json, print_warning, show_plan, tell_written
from hf_bpe.cli.corpora import read_texts
from hf_bpe.cli.files import refuse_existing
from hf_bpe.cli.interruption import watch
from hf_bpe.cli.options import (
    DryRun,
    EmbeddingTensors,
    Force,
    HeadTensors,
    Json,
    LoadedPattern,
    Quiet,
    SourceFormat,
    SpecialIds,
    TextField,
    Texts,
    Tokenizer,
    given_path,
    load,
)
from hf_bpe.editing import Audit, Rows
from hf_bpe.editing import audit as audit_spec
from hf_bpe.editing.audit import LookedAt, checked_untrained, rows_of_model
from hf_bpe.files import write_atomically
from hf_bpe.spec import TokenizerSpec
from hf_bpe.vocabulary.shown import shown, shown_some, tokens_by_id

__all__ = ["audit"]


def audit(
    tokenizer: Tokenizer,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL_DIR",
            parser=given_path,
            show_default=False,
            help="Folder with .safetensors files: look for rows that look untrained.",
        ),
    ] = None,
    embedding: EmbeddingTensors = None,
    head: HeadTensors = None,
    corpus: Texts = None,
    untrained: Annotated[
        list[int] | None,
        typer.Option(
            metavar="ID",
            show_default=False,
            help="An id whose row is known to be untrained (repeatable); default: those no text has.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=given_path,
            show_default=False,
            help="Write all of it as JSON, beside the table.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many tokens of each kind to show.")] = 10,
    text_field: TextField = "text",
    source_format: SourceFormat = None,
    pattern: LoadedPattern = None,
    special_token: SpecialIds = None,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Show what is odd about the tokens: no text has them, they hold parts of characters, their rows look untrained."""
    if model is None and (embedding or head or untrained):
        raise typer.BadParameter(
            "--embedding, --head and --untrained are about the rows of a model; name it", param_hint="--model"
        )
    if output is not None and not dry_run:
        refuse_existing(output, force)
    size = corpus_size(corpus) if corpus else 0
    spec = load(tokenizer, source_format, pattern, special_token)
    matrices: tuple[()] | tuple[Rows, Rows | None] = ()
    if model is not None:
        matrices = rows_of_model(model, spec.n_vocab, embedding=embedding or (), head=head or ())
    if matrices and untrained:
        checked_untrained(untrained, matrices[0])
    if not (quiet or as_json):
        _show_plan(tokenizer, spec, matrices, size, output, dry_run=dry_run)
    if dry_run:
        return
    texts = read_texts(corpus, text_field, quiet=quiet, doing="counting") if corpus else None
    inputs, outputs = matrices or (None, None)
    found = audit_spec(spec, corpus=texts, embedding=inputs, head=outputs, untrained=untrained or None)
    if output is not None:
        watch((output,))
        write_atomically(output.parent, {output.name: (indented(found.to_dict()) + "\n").encode()})
    if as_json:
        print_json(found.to_dict())
    else:
        _print(spec, found, limit)
    if output is not None and not quiet:
        tell_written((output,))


def _show_plan(
    tokenizer: Path, spec: TokenizerSpec, matrices: Sequence[Rows | None], size: int, output: Path | None, *, dry_run: bool
) -> None:
    lines = [f"{tokenizer}: {spec.vocab_size:,} tokens"]
    lines += (f"model: {matrix.name}, {matrix.count:,} rows" for matrix in matrices if matrix is not None)
    lines += [f"corpus: {size:,} bytes"] if size else []
    lines.append(f"to write: {output}" if output is not None else "nothing is written")
    show_plan("\n".join(lines), "", dry_run=dry_run, yes=True)


def _print(spec: TokenizerSpec, found: Audit, limit: int) -> None:
    table = Table(title=f"{found.vocab_size:,} tokens", title_justify="left")
    for column in ("finding", "tokens", "such as"):
        table.add_column(column, justify="right" if column == "tokens" else "left")
    for finding, count in found.counts.items():
        shown = shown_some(spec, [token.id for token in found.of(finding)], limit)
        table.add_row(finding, f"{count:,}", Text(shown, overflow="fold"))
    if found.ids_without_token:
        table.add_row(
            "no token",
            f"{len(found.ids_without_token):,}",
            f"ids {found.ids_without_token[0]} to {found.ids_without_token[-1]}",
        )
    table.add_row(
        "differ in case or space",
        f"{found.groups_of_twins:,}",
        Text("groups, such as " + " ".join(found.twins[0][:limit]) if found.twins else ""),
    )
    out.print(table)
    if found.rows is not None:
        _print_suspects(spec, found, found.rows, limit)


def _print_suspects(spec: TokenizerSpec, found: Audit, rows: LookedAt, limit: int) -> None:
    """The rows that look untrained, with what else is known of their tokens."""
    if rows.border is None:
        print_warning(
            f"the {len(rows.untrained):,} rows known to be untrained are not unlike the others by their {rows.indicator}, so no token is "
            "called undertrained; if you know others that are, name them with untrained="
        )
        return
    suspects, tokens = found.of("undertrained"), tokens_by_id(spec)
    title = f"undertrained: {rows.indicator} up to {rows.border:.4g}, by {len(rows.untrained):,} rows known to be untrained"
    table = Table(title=title, title_justify="left")
    is_counted = any(token.count is not None for token in suspects)
    for column in ("id", "token", "norm", "distance", *(["in the corpus"] if is_counted else []), "other findings"):
        table.add_column(column, justify="left" if column in ("token", "other findings") else "right")
    for token in suspects[:limit]:
        count = [f"{token.count:,}"] if token.count is not None else ["-"] * is_counted
        others = ", ".join(finding for finding in token.findings if finding != "undertrained")
        cells = (str(token.id), f"'{shown(tokens[token.id])}'", f"{token.norm:.4g}", f"{token.distance:.4g}", *count, others)
        table.add_row(*(Text(cell, overflow="fold") for cell in cells))
    if suspects:
        out.print(table)
