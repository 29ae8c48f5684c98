"""`hf-bpe quickstart`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hf_bpe.cli.console import err, out
from hf_bpe.cli.demo import Demo
from hf_bpe.cli.files import refuse_existing
from hf_bpe.cli.options import Force

__all__ = ["quickstart"]

_OK = Text("ok", style="green")
_FAILED = Text("FAILED", style="bold red")


def quickstart(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for what it makes.")] = Path("hf-bpe-quickstart"),
    vocab_size: Annotated[int, typer.Option(help="Ids in all.")] = 16_000,
    megabytes: Annotated[float, typer.Option(min=0.01, help="How much text to use at most.")] = 30,
    force: Force = False,
) -> None:
    """Try everything once, on text every Python has: train, save, load with AutoTokenizer, convert, verify. No network."""
    refuse_existing(output, force)
    started = time.perf_counter()
    table = _empty_table()
    failed: list[str] = []
    with err.status("") as status:
        for title, run in Demo(output, vocab_size, int(megabytes * 1e6)).steps():
            status.update(title)
            begun = time.perf_counter()
            result, passed = run()
            failed += [] if passed else [title]
            table.add_row(_OK if passed else _FAILED, title, Text(result), f"{time.perf_counter() - begun:.1f}")
    table.caption = f"{time.perf_counter() - started:.1f} seconds in all"
    out.print(table)
    out.print(_next_steps(output) if not failed else Text(f"FAILED: {', '.join(failed)}", style="bold red"))
    if failed:
        raise typer.Exit(1)


def _empty_table() -> Table:
    table = Table(title="hf-bpe quickstart", title_style="bold", show_edge=False)
    table.add_column("")
    table.add_column("Step", style="cyan")
    table.add_column("Result", overflow="fold")
    table.add_column("Seconds", justify="right")
    return table


def _next_steps(output: Path) -> Panel:
    tokenizer = output / "tokenizer"
    lines = (
        f"The tokenizer: {tokenizer.resolve()}",
        "",
        f"hf-bpe inspect {tokenizer}",
        f"hf-bpe encode {tokenizer} 'Hello world'",
        "hf-bpe train your-text.txt -o your-tokenizer --vocab-size 32000",
        f"python -c \"from transformers import AutoTokenizer as A; print(A.from_pretrained('{tokenizer}')('Hello world'))\"",
    )
    return Panel("\n".join(lines), title="Next", title_align="left", expand=False)
