"""`Comparison`: what `compare` found, to look at, to keep and to show."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hf_bpe.files import write_atomically
from hf_bpe.pages import check_target

__all__ = ["ENDINGS", "VERSION", "Comparison"]

VERSION = 1
"""Of what `content` holds: it changes where a field is taken away or gets another meaning."""

ENDINGS = (".html", ".json", ".md")


@dataclass(frozen=True)
class Comparison:
    """Figures of a comparison.

    content: plain data, as `to_json` writes it; docs/compare.md says what stands where.
    """

    content: Mapping[str, Any]

    def to_json(self) -> str:
        """The figures as JSON."""
        return json.dumps(self.content, indent=1, ensure_ascii=False) + "\n"

    def to_markdown(self) -> str:
        """The main figures as tables."""
        from hf_bpe.analysis.report.tables import as_markdown

        return as_markdown(self.content)

    def to_html(self) -> str:
        """A page with plots that needs no other file. Raises `ReportError` where matplotlib is not installed."""
        from hf_bpe.analysis.report.page import page_of

        return page_of(self.content)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write to a file, as HTML, JSON or Markdown by its name. Raises `ReportError` for another name."""
        suffix = check_target(path, ENDINGS)
        content = {".html": self.to_html, ".json": self.to_json, ".md": self.to_markdown}[suffix]()
        write_atomically(Path(path).parent, {Path(path).name: content.encode()})
