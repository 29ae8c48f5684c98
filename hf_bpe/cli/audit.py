"""`hf-bpe audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from conversion.verification.corpus import DEFAULT_SEPARATOR, read_corpus
from hf_bpe.cli.console import out, print_json
from hf_bpe.cli.options import Json, LoadedPattern, SourceFormat, SpecialIds, Texts, Tokenizer, load
from hf_bpe.editing import Audit, AuditedToken
from hf_bpe.editing import audit as audit_spec
from hf_bpe.editing.audit import rows_of_model

__all__ = ["audit"]


def audit(
    tokenizer: Tokenizer,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL_DIR", show_default=False, help="Folder with .safetensors files: look for rows that look untrained."
        ),
    ] = None,
    corpus: Texts = None,
    untrained: Annotated[
        list[int] | None,
        typer.Option(
            metavar="ID",
            show_default=False,
            help="An id whose row is known to be untrained (repeatable); default: those no text has.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many tokens of each kind to show.")] = 10,
    source_format: SourceFormat = None,
    pattern: LoadedPattern = None,
    special_token: SpecialIds = None,
    as_json: Json = False,
) -> None:
    """Show what is odd about the tokens: no text has them, they hold parts of characters, their rows look untrained."""
    spec = load(tokenizer, source_format, pattern, special_token)
    texts = None if not corpus else (d.text for d in read_corpus(corpus, separator=DEFAULT_SEPARATOR, text_field="text"))
    embedding, head = (None, None) if model is None else rows_of_model(model, spec.n_vocab)
    found = audit_spec(spec, corpus=texts, embedding=embedding, head=head, untrained=untrained or None)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found, limit)


def _print(found: Audit, limit: int) -> None:
    table = Table(title=f"{found.vocab_size:,} tokens", title_justify="left")
    for column in ("finding", "tokens", "such as"):
        table.add_column(column, justify="right" if column == "tokens" else "left")
    for finding, count in found.counts.items():
        shown = ", ".join(map(_shown, found.of(finding)[:limit]))
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
        Text("groups, such as " + " ".join(found.twins[0]) if found.twins else ""),
    )
    out.print(table)


def _shown(token: AuditedToken) -> str:
    text = token.token if len(token.token) <= 30 else f"{token.token[:27]}..."
    return f"{text} ({token.id})"
