"""`hf-bpe doctor`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hf_bpe.cli.console import out, print_json
from hf_bpe.cli.options import Json
from hf_bpe.doctor import LINTS, SEVERITIES, Finding, Folder, Severity, examine
from hf_bpe.errors import UnknownLintError

__all__ = ["doctor"]

_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "bold yellow", "hint": "bold cyan"}


def doctor(
    path: Annotated[
        Path | None, typer.Argument(metavar="PATH", show_default=False, help="Tokenizer to examine: a file or a folder.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CODE", show_default=False, help="A lint to leave out (repeatable).")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings too.")] = False,
    list_lints: Annotated[bool, typer.Option("--list", help="Show all lints and exit.")] = False,
    as_json: Json = False,
) -> None:
    """Look for what is wrong with a tokenizer, damaged and foreign ones too. Exits with 1 if there are errors."""
    if list_lints:
        _print_lints(as_json)
        return
    if path is None:
        raise typer.BadParameter("name a tokenizer to examine, or pass --list", param_hint="PATH")
    folder = Folder(path)
    examined = [folder.real_name(name) for name in folder.examined]
    try:
        findings = examine(folder, ignore=ignore or ())
    except UnknownLintError as error:
        raise typer.BadParameter(str(error), param_hint="--ignore") from None
    counts = Counter(finding.severity for finding in findings)
    if as_json:
        count_of = {severity: counts[severity] for severity in SEVERITIES}
        print_json({"path": str(path), "examined": examined, "counts": count_of, "findings": [f.to_dict() for f in findings]})
    else:
        _print_findings(path, findings, counts, examined)
    if counts["error"] or (strict and counts["warning"]):
        raise typer.Exit(1)


def _print_lints(as_json: bool) -> None:
    if as_json:
        print_json({lint.code: {"severity": lint.severity, "title": lint.title} for lint in LINTS.values()})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("code", "severity", "finds"):
        table.add_column(heading, no_wrap=heading == "code")
    for lint in LINTS.values():
        table.add_row(lint.code, Text(lint.severity, _STYLES[lint.severity]), Text(lint.title))
    out.print(table)


def _print_findings(path: Path, findings: Sequence[Finding], counts: Counter[Severity], examined: Sequence[str]) -> None:
    for severity in SEVERITIES:
        group = [finding for finding in findings if finding.severity == severity]
        if group:
            out.print(Text(_counted(len(group), severity), _STYLES[severity]))
        for finding in group:
            out.print(Text("  ").append(finding.code, "bold").append(f"  {finding.where}", "dim"))
            out.print(Padding(Text(finding.what), (0, 0, 0, 6)))
            out.print(Padding(Text("fix: ", "green").append(finding.fix, "default"), (0, 0, 1, 6)))
    found = ", ".join(_counted(counts[severity], severity) for severity in SEVERITIES if counts[severity])
    out.print(Text(f"{path}: ", "bold").append(found or f"nothing wrong found in {', '.join(examined)}"), soft_wrap=True)


def _counted(count: int, severity: Severity) -> str:
    """How many there are.

    >>> _counted(1, "error"), _counted(2, "hint")
    ('1 error', '2 hints')
    """
    return f"{count} {severity}{'' if count == 1 else 's'}"
