"""A report as one HTML page: which plots stand in it, and how they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from hf_bpe.pages import Axes, literal, page, svg

__all__ = ["page_of"]


def page_of(content: Mapping[str, Any]) -> str:
    """The page. Raises `ReportError` where matplotlib is not installed."""
    plots = {name: svg(name, partial(draw, content=content)) for name, draw in _PLOTS.items()}
    return page("training/report/page.html.jinja", report=content, plots=plots)


def _draw_curve(axes: Axes, content: Mapping[str, Any]) -> None:
    sizes = content["curve"]["sizes"]
    for name, values in content["curve"]["bytes_per_token"].items():
        axes.plot(sizes, values, label=literal(name), linewidth=2 if name == "training" else 1.2)
    if len(sizes) > 1:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    axes.set(xlabel="vocabulary size", ylabel="bytes per token")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)


def _draw_savings(axes: Axes, content: Mapping[str, Any]) -> None:
    rows = content["thousands"]
    rows = rows[:-1] or rows  # the last one is seldom a whole thousand
    axes.plot([row["to"] for row in rows], [100 * row["saves"] for row in rows], marker=".", linewidth=1)
    if any(row["saves"] > 0 for row in rows):
        axes.set_yscale("log")
    axes.set(xlabel="vocabulary size", ylabel="tokens saved by these\nthousand merges, percent")
    axes.grid(alpha=0.3)


def _draw_frequencies(axes: Axes, content: Mapping[str, Any]) -> None:
    points = [(rank, times) for rank, times in content["merges"]["times_at_rank"] if times > 0]
    axes.plot([rank for rank, _ in points], [times for _, times in points], linewidth=1)
    if points:
        axes.set(xscale="log", yscale="log")
    axes.set(xlabel="rank of the merge", ylabel="times merged")
    axes.grid(alpha=0.3)


def _draw_lengths(axes: Axes, content: Mapping[str, Any]) -> None:
    lengths = {int(length): number for length, number in content["token_lengths"].items()}
    axes.bar(list(lengths), list(lengths.values()))
    axes.set(xlabel="bytes in a token", ylabel="tokens", yscale="log")


def _draw_texts(axes: Axes, content: Mapping[str, Any]) -> None:
    texts = {name: text["bytes_per_token"] for name, text in content["texts"].items()}
    frequent = {name: script for name, script in content["scripts"].items() if script["share_of_bytes"] >= 0.0005}
    scripts = {f"{name} words": script["bytes_per_token"] for name, script in list(frequent.items())[:12]}
    bars = texts | scripts
    axes.barh([literal(name) for name in bars], list(bars.values()), color=["C0"] * len(texts) + ["C7"] * len(scripts))
    axes.invert_yaxis()
    axes.set(xlabel="bytes per token")


_PLOTS = {
    "curve": _draw_curve,
    "savings": _draw_savings,
    "frequencies": _draw_frequencies,
    "lengths": _draw_lengths,
    "texts": _draw_texts,
}
