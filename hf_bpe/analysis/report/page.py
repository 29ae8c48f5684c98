"""A comparison as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hf_bpe.analysis.report import tables
from hf_bpe.analysis.report.plots import plots_of
from hf_bpe.pages import page

__all__ = ["page_of"]


def page_of(content: Mapping[str, Any]) -> str:
    """The page. Raises `ReportError` where matplotlib is not installed."""
    shown = {
        "corpora": tables.corpora(content),
        "vocabulary": tables.vocabulary(content),
        "id_bands": tables.id_bands(content),
        "frequencies": tables.frequencies(content),
        "formats": tables.formats(content),
        "numbers": tables.numbers(content),
        "digits": tables.digits(content),
        "indentation_by_width": tables.indents(content, every=True),
        **{metric: tables.by_corpus(content, metric) for metric in tables.METRICS},
        **({"parity": tables.parity(content)} if content["parity"] else {}),
    }
    return page(
        "analysis/report/page.html.jinja", report=content, plots=plots_of(content), tables=shown, notes=tables.notes(content)
    )
