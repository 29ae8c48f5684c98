"""Plots drawn with matplotlib, as SVG that stands inside a page."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeAlias

from hf_bpe.errors import ReportError

__all__ = ["Axes", "Draw", "check_plots", "literal", "svg"]

Axes: TypeAlias = Any
"""matplotlib.axes.Axes"""

Draw: TypeAlias = Callable[[Axes], object]


def check_plots() -> None:
    """Raise `ReportError` where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ReportError(
            "a report with plots needs matplotlib: run `pip install 'hf-bpe[plots]'`, or give the report a name that ends in .json"
        )


def svg(name: str, draw: Draw, *, height: float = 3.6, ground: str = "none") -> str:
    """One figure, the same bytes for the same numbers. name: distinct on a page; it keeps the ids inside the figures apart.

    ground: its colour; transparent, so that the page may be dark, if not given. Raises `ReportError` where matplotlib is not installed.
    """
    check_plots()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"}):
        figure = Figure(figsize=(6.4, height), layout="constrained", facecolor=ground)
        axes = figure.add_subplot(facecolor="none")
        draw(axes)
        axes.spines[["top", "right"]].set_visible(False)
        buffer = io.StringIO()
        with (
            warnings.catch_warnings()
        ):  # characters that matplotlib's own font lacks are text in the SVG, and the reader's fonts have them
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]  # without the XML declaration, which has no place inside HTML


def literal(name: str) -> str:
    """A name of the user's as matplotlib shows it: dollars would begin a formula, and what begins with _ is left out of a legend.

    >>> literal("a$b"), literal("_x")
    ('a\\\\$b', ' _x')
    """
    return name.replace("$", r"\$") if not name.startswith("_") else f" {name}"
