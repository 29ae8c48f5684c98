"""A report as one HTML page: figures drawn with matplotlib stand in it as SVG, and nothing is fetched."""

from __future__ import annotations

import io
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from hf_bpe.errors import TrainingError

__all__ = ["check_plots", "page_of"]


def check_plots() -> None:
    """Raise `TrainingError` where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise TrainingError(
            "a report with plots needs matplotlib: run `pip install 'hf-bpe[plots]'`, or give the report a name that ends in .json"
        )


def page_of(content: Mapping[str, Any]) -> str:
    """The page. Raises `TrainingError` where matplotlib is not installed."""
    import jinja2

    check_plots()
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["percent"] = lambda share: f"{100 * share:.2f} %"
    environment.filters["thousands"] = lambda number: f"{number:,}"
    template = files("hf_bpe").joinpath("training/report/page.html.jinja").read_text("utf-8")
    plots = {name: _svg(name, draw, content) for name, draw in _PLOTS.items()}
    return environment.from_string(template).render(report=content, plots=plots)


def _svg(name: str, draw: Any, content: Mapping[str, Any]) -> str:
    """One figure, the same bytes for the same numbers. The salt keeps the ids of several figures on one page apart."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"}):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.add_subplot()
        draw(axes, content)
        axes.spines[["top", "right"]].set_visible(False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    return svg[svg.index("<svg") :]  # without the XML declaration, which has no place inside HTML


def _draw_curve(axes: Any, content: Mapping[str, Any]) -> None:
    sizes = content["curve"]["sizes"]
    for name, values in content["curve"]["bytes_per_token"].items():
        axes.plot(sizes, values, label=_literal(name), linewidth=2 if name == "training" else 1.2)
    if len(sizes) > 1:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    axes.set(xlabel="vocabulary size", ylabel="bytes per token")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)


def _draw_savings(axes: Any, content: Mapping[str, Any]) -> None:
    rows = content["thousands"]
    rows = rows[:-1] or rows  # the last one is seldom a whole thousand
    axes.plot([row["to"] for row in rows], [100 * row["saves"] for row in rows], marker=".", linewidth=1)
    if any(row["saves"] > 0 for row in rows):
        axes.set_yscale("log")
    axes.set(xlabel="vocabulary size", ylabel="tokens saved by these\nthousand merges, percent")
    axes.grid(alpha=0.3)


def _draw_frequencies(axes: Any, content: Mapping[str, Any]) -> None:
    points = [(rank, times) for rank, times in content["merges"]["times_at_rank"] if times > 0]
    axes.plot([rank for rank, _ in points], [times for _, times in points], linewidth=1)
    if points:
        axes.set(xscale="log", yscale="log")
    axes.set(xlabel="rank of the merge", ylabel="times merged")
    axes.grid(alpha=0.3)


def _draw_lengths(axes: Any, content: Mapping[str, Any]) -> None:
    lengths = {int(length): number for length, number in content["token_lengths"].items()}
    axes.bar(list(lengths), list(lengths.values()))
    axes.set(xlabel="bytes in a token", ylabel="tokens", yscale="log")


def _draw_texts(axes: Any, content: Mapping[str, Any]) -> None:
    texts = {name: text["bytes_per_token"] for name, text in content["texts"].items()}
    frequent = {name: script for name, script in content["scripts"].items() if script["share_of_bytes"] >= 0.0005}
    scripts = {f"{name} words": script["bytes_per_token"] for name, script in list(frequent.items())[:12]}
    bars = texts | scripts
    axes.barh([_literal(name) for name in bars], list(bars.values()), color=["C0"] * len(texts) + ["C7"] * len(scripts))
    axes.invert_yaxis()
    axes.set(xlabel="bytes per token")


def _literal(name: str) -> str:
    """A name of the user's as matplotlib shows it: dollars would begin a formula, and what begins with _ is left out of a legend."""
    return name.replace("$", r"\$") if not name.startswith("_") else f" {name}"


_PLOTS = {
    "curve": _draw_curve,
    "savings": _draw_savings,
    "frequencies": _draw_frequencies,
    "lengths": _draw_lengths,
    "texts": _draw_texts,
}
