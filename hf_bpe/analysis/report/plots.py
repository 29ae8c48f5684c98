"""How each plot of a comparison is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from hf_bpe.pages import Axes, literal, svg

__all__ = ["bytes_per_token", "plots_of"]

Content: TypeAlias = Mapping[str, Any]

_MARKERS = "os^Dvp*Xh<>"
"""Lines are told apart by more than their colour."""
_HATCHES = ("", "//", "..", "\\\\", "xx", "--")
_BAR = 0.16
"""Inches for a bar."""


def plots_of(content: Content) -> dict[str, str]:
    """Name -> SVG of every plot that the figures have something for. Raises `ReportError` where matplotlib is not installed."""
    return {name: svg(name, draw, height=height) for name, (draw, height) in _wanted(content).items()}


def bytes_per_token(values: Mapping[str, Mapping[str, float | None]]) -> str:
    """The one plot that says most, as an SVG file of its own. values: tokenizer -> text -> bytes per token."""
    return svg(
        "bytes_per_token", partial(_draw_bars, values=values, label="bytes per token"), height=_height(values), ground="white"
    )


def _wanted(content: Content) -> dict[str, tuple[Callable[[Axes], None], float]]:
    wanted: dict[str, tuple[Callable[[Axes], None], float]] = {}
    for metric, label in (
        ("bytes_per_token", "bytes per token"),
        ("tokens_per_word", "tokens per word"),
        ("cost_of_a_million_characters", f"cost of a million characters, {literal(content['currency'])}"),
    ):
        values = _by_tokenizer(content, metric)
        if values:
            wanted[metric] = partial(_draw_bars, values=values, label=label), _height(values)
    if content["parity"]:
        values = content["parity"]["tokens"]
        label = f"tokens, as a multiple of {literal(content['parity']['reference'])}"
        wanted["parity"] = partial(_draw_bars, values=values, label=label, line=1.0), _height(values)
    values = content["formats"]["tokens"]
    wanted["formats"] = partial(_draw_bars, values=values, label="tokens"), _height(values)
    wanted["numbers"] = partial(_draw_numbers, content=content), 3.2
    wanted["indentation"] = partial(_draw_indentation, content=content), 3.2
    wanted["vocabulary"] = partial(_draw_vocabulary, content=content), 3.2
    return wanted


def _by_tokenizer(content: Content, metric: str) -> dict[str, dict[str, float | None]]:
    """Those that have a figure anywhere."""
    rows = {name: {corpus: found[name][metric] for corpus, found in content["text"].items()} for name in content["tokenizers"]}
    return {name: row for name, row in rows.items() if any(value is not None for value in row.values())}


def _height(values: Mapping[str, Mapping[str, Any]]) -> float:
    bars = sum(len(row) for row in values.values())
    groups = max(map(len, values.values()))
    return min(60.0, 1.0 + 0.25 * (len(values) > 1) * len(values) + _BAR * bars + 0.1 * groups)


def _draw_bars(axes: Axes, values: Mapping[str, Mapping[str, float | None]], label: str, line: float | None = None) -> None:
    """Groups of horizontal bars: a group for each text, in it a bar for each tokenizer; none where there is no figure."""
    groups = list(next(iter(values.values())))
    width = 0.8 / len(values)
    for number, (name, row) in enumerate(values.items()):
        places = [place - 0.4 + width * (number + 0.5) for place, group in enumerate(groups) if row[group] is not None]
        lengths = [row[group] for group in groups if row[group] is not None]
        hatch = _HATCHES[number // 10 % len(_HATCHES)]  # colours come again after ten
        axes.barh(places, lengths, width * 0.92, label=literal(name), hatch=hatch)
    axes.set_yticks(range(len(groups)), [literal(group) for group in groups])
    axes.set_ylim(len(groups) - 0.4, -0.6)  # the first on top
    axes.set(xlabel=label)
    if line is not None:
        axes.axvline(line, color="black", linewidth=0.8)
    _add_legend(axes, values)


def _draw_numbers(axes: Axes, content: Content) -> None:
    rows = {
        name: [(row["digits"], row["tokens_per_number"]) for row in found["by_digits"]]
        for name, found in content["numbers"].items()
    }
    _draw_lines(axes, rows)
    axes.set(xlabel="digits of the number", ylabel="tokens")


def _draw_indentation(axes: Axes, content: Content) -> None:
    rows = {
        name: [(int(number), tokens) for number, tokens in found["spaces"].items()]
        for name, found in content["indentation"].items()
    }
    _draw_lines(axes, rows)
    axes.set(xlabel="spaces before a line", ylabel="tokens that they add")


def _draw_vocabulary(axes: Axes, content: Content) -> None:
    rows = {
        name: [(place, 100 * band["used"] / band["tokens"]) for place, band in enumerate(found["by_id"], 1)]
        for name, found in content["vocabulary"].items()
    }
    _draw_lines(axes, rows)
    axes.set(xlabel="tenth of the vocabulary, in the order of the ids", ylabel="tokens that are used, percent")
    axes.set_ylim(bottom=0)


def _draw_lines(axes: Axes, rows: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    for number, (name, points) in enumerate(rows.items()):
        horizontal, vertical = zip(*points, strict=True)
        axes.plot(
            horizontal, vertical, label=literal(name), marker=_MARKERS[number % len(_MARKERS)], markersize=4, linewidth=1.2
        )
    axes.grid(alpha=0.3)
    _add_legend(axes, rows)


def _add_legend(axes: Axes, values: Mapping[str, object]) -> None:
    """Above the plot, where it hides nothing."""
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=min(3, len(values)))
