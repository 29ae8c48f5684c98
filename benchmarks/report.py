"""What was measured, as tables on the terminal and as raw seconds in a file."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.derived import TIMES
from benchmarks.harness import OURS, Result

RESULTS = Path(__file__).parent / "results"
VERDICT = "exact"  # the unit of cells that hold no measure
COMPARED = ("seconds", "MB")  # the units in which less is better; cells in others show each contender's own figure
NARROWEST = 200  # columns for a dozen contenders; a pipe says 80


def describe_machine(packages: Iterable[str]) -> dict[str, str]:
    """Processor, system and versions, for the head of a report."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    versions = {package: installed_version(package) or "not installed" for package in packages}
    return {"processor": model, "cores": str(os.cpu_count()), "python": platform.python_version(), **versions}


def installed_version(package: str) -> str | None:
    """The version of an installed package, or of the one that a module is in."""
    try:
        return importlib.metadata.version(package.partition(".")[0])
    except importlib.metadata.PackageNotFoundError:
        return None


def report(
    name: str,
    machine: dict[str, str],
    results: list[Result],
    options: dict[str, Any] | None = None,
    path: Path | None = None,
) -> Path:
    """Print ratios, write the raw seconds to `path` or else benchmarks/results/<name>.json, and return the path."""
    console = Console()
    console.width = max(console.width, NARROWEST)
    console.print("  ".join(f"{key} {value}" for key, value in machine.items()), style="dim")
    for section in dict.fromkeys(result.section for result in results):
        cells = [result for result in results if result.section == section]
        console.print(table(section or name, cells))
        for line in reasons([cell for cell in cells if cell.unit != TIMES]):
            console.print(line, style="dim")
    path = path or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine, "options": options or {}, "results": [asdict(result) for result in results]}
    path.write_text(json.dumps(content, indent=1))
    return path


def table(title: str, cells: list[Result]) -> Table:
    """One row per cell: our figure, the best peer, and how many times ours each other takes."""
    columns = list(dict.fromkeys(name for cell in cells for name in [*cell.measured, *cell.refused] if name != OURS))
    compared = f": {OURS}, and how many times as much each other takes (median of the rounds' ratios)"
    drawn = Table(title=title + compared * (cells[0].unit in COMPARED))
    for column in ("cell", OURS, "best other"):
        drawn.add_column(column, justify="left" if column == "cell" else "right", no_wrap=True)
    for column in columns:
        drawn.add_column(column, justify="right")
    for cell in cells:
        best = cell.best_peer() if cell.unit in COMPARED else None
        best_text = f"{figure(cell, best)} {best}" if best else "-"
        drawn.add_row(cell.title, figure(cell, OURS), best_text, *(shown(cell, column) for column in columns))
    return drawn


def figure(cell: Result, name: str) -> str:
    """The result of one contender in the unit of the cell."""
    if name not in cell.measured:
        return tag(cell.refused.get(name, "not measured"))
    if cell.unit == VERDICT:
        return VERDICT
    if cell.megabytes is not None:
        return f"{cell.rate(name):.0f} MB/s"
    if cell.unit == "MB":
        return f"{cell.median(name):.0f} MB"
    if cell.unit == TIMES:
        return f"{cell.median(name):.2f} x"
    return spoken_seconds(cell.median(name))


def spoken_seconds(seconds: float) -> str:
    """In the unit that gives a number of few digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds * 1e6:.2f} us"


def shown(cell: Result, name: str) -> str:
    """A contender's ratio to ours; its own figure where there is none of ours; or why there is neither."""
    if name not in cell.measured:
        return f"[red]{tag(cell.refused.get(name, 'not measured'))}[/red]"
    ratio = cell.ratio(name) if cell.unit in COMPARED else None
    text = figure(cell, name) if ratio is None else f"{ratio:.2f}"
    return f"[bold]{text}[/bold]" if ratio is not None and name == cell.best_peer() else text


TAGS = {"too slow": "slow", "not installed": "absent", "no such call": "-", "has only": "-", "needs": "-", "not measured": "-"}


def tag(reason: str) -> str:
    """A word for a reason; the whole of it stands below the table."""
    if "differ" in reason:
        return f"{reason.split(' ', 1)[0]} differ" if reason[0].isdigit() else "differs"
    return next((word for beginning, word in TAGS.items() if reason.startswith(beginning)), "error")


def reasons(cells: list[Result]) -> list[str]:
    """Every reason for an empty cell, and the cells it holds for."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for name, reason in cell.refused.items():
            found.setdefault((name, reason), []).append(cell.title)
    return [f"  {name}: {reason} ({spoken(titles)})" for (name, reason), titles in sorted(found.items())]


def spoken(titles: list[str]) -> str:
    """A list of cells that stays on one line."""
    return "; ".join(titles) if len(titles) <= 4 else f"{'; '.join(titles[:3])} and {len(titles) - 3} more"
