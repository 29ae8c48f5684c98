"""What commands say and where: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from hf_bpe.cli.wording import as_options

__all__ = ["err", "message_of", "out", "print_error", "print_json", "print_warning", "show_plan", "tell_written"]

out = Console(highlight=False, emoji=False)  # a message with :x: in it is no cross
err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """Write JSON for programs: lists on one line, objects over several; ASCII, so that no encoding can damage it."""
    typer.echo(json.dumps(data, indent=2 if isinstance(data, dict) else None))


def print_error(message: str) -> None:
    """Say why nothing came of it."""
    err.print(f"[bold red]error:[/] {escape(as_options(message))}")


def print_warning(message: str) -> None:
    """Say what to know about a result."""
    err.print(f"[bold yellow]warning:[/] {escape(as_options(message))}")


def show_plan(plan: str, question: str, *, dry_run: bool, yes: bool, by_default: bool = True) -> None:
    """Show what will be done: the result of a dry run, else something to know before. On a terminal, ask; `typer.Exit` where it is no.

    Where nobody sits at a terminal, or who sits there said `--yes`, it goes on unasked.
    """
    (out if dry_run else err).print(as_options(plan), soft_wrap=True, markup=False)
    if dry_run or yes or not _is_interactive():
        return
    if not typer.confirm(question, default=by_default, err=True):
        tell_written(())
        raise typer.Exit(1)


def _is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def tell_written(paths: Iterable[object]) -> None:
    """Say what was written."""
    names = ", ".join(map(str, paths))
    err.print(f"wrote {names}" if names else "nothing was written", markup=False)


def message_of(error: Exception) -> str:
    """An error as one message; the operating system's without its number.

    >>> message_of(FileNotFoundError(2, "No such file or directory", "x.txt"))
    'x.txt: No such file or directory'
    """
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__
