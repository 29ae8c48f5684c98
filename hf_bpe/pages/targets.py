"""The names that reports are written under."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hf_bpe.errors import ReportError
from hf_bpe.pages.plots import check_plots

__all__ = ["check_target"]


def check_target(path: str | os.PathLike[str], endings: Sequence[str]) -> str:
    """The ending of a report's name. Raises `ReportError` where it could not be written, before hours of work.

    >>> check_target("found.JSON", (".html", ".json"))
    '.json'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in endings:
        raise ReportError(f"{os.fspath(path)}: a report's name must end in {', '.join(endings[:-1])} or {endings[-1]}")
    if suffix == ".html":
        check_plots()
    return suffix
