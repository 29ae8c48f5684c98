"""Measuring side by side: every contender once per round, the rounds repeated, so that a drifting machine hurts all alike."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

Contender = Callable[[], object]


@dataclass
class Result:
    """Seconds of each round, by contender; the first contender is ours."""

    title: str
    megabytes: float
    seconds: dict[str, list[float]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def rate(self, name: str) -> float:
        """Median MB/s."""
        return self.megabytes / statistics.median(self.seconds[name])

    def ratio(self, name: str) -> float:
        """How many times the other's time ours fits into, median over rounds."""
        ours = next(iter(self.seconds.values()))
        return statistics.median(theirs / mine for mine, theirs in zip(ours, self.seconds[name], strict=True))


def interleave(title: str, megabytes: float, contenders: dict[str, Contender], rounds: int) -> Result:
    """Run all contenders in turn, `rounds` times."""
    result = Result(title, megabytes, {name: [] for name in contenders})
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            result.seconds[name].append(time.perf_counter() - start)
    return result


def describe_machine(packages: list[str]) -> dict[str, str]:
    """Processor, system and versions, for the head of a report."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    versions = {}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {"processor": model, "cores": str(os.cpu_count()), "python": platform.python_version(), **versions}


def report(name: str, machine: dict[str, str], results: list[Result]) -> None:
    """Print ratios, write the raw seconds to benchmarks/results/<name>.json."""
    console = Console()
    console.print("  ".join(f"{key} {value}" for key, value in machine.items()), style="dim")
    table = Table(title=f"{name}: how many times faster hf_bpe is (median of rounds; MB/s of input in brackets)")
    table.add_column("case")
    columns = list(dict.fromkeys(peer for result in results for peer in [*result.seconds, *result.refused]))
    for column in columns:
        table.add_column(column, justify="right")
    for result in results:
        cells = []
        for column in columns:
            if column in result.seconds:
                cells.append(f"{result.ratio(column):.2f} x [dim]({result.rate(column):.1f})[/dim]")
            else:
                cells.append(f"[red]{result.refused.get(column, '-')}[/red]")
        table.add_row(result.title, *cells)
    console.print(table)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    rows = [{"case": r.title, "megabytes": r.megabytes, "seconds": r.seconds, "refused": r.refused} for r in results]
    (folder / f"{name}.json").write_text(json.dumps({"machine": machine, "results": rows}, indent=1))
