"""The main figures as one SVG: `python -m benchmarks.plot benchmarks/results/encode.json docs/benchmarks.svg`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.harness import OURS, Result

OUR_COLOURS, OTHER_COLOURS = ("#c2410c", "#fdba74"), ("#475569", "#cbd5e1")
SERIES = {"lists": 0, "arrays": 1, "from a list": 0, "from an array": 1}
OTHER_SECTIONS = ("short strings", "decoding", "loading")
PANEL_WIDTH, BAR_HEIGHT, PANEL_HEAD = 4.2, 0.15, 0.9  # inches

Panel = dict[str, Result]  # the cells of one panel, by series


def draw(source: Path, target: Path) -> None:
    """Draw what a run wrote."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": OURS, "font.family": "sans-serif", "font.size": 9})
    content = json.loads(source.read_text("utf-8"))
    rows = panels([Result(**{**cell, "labels": tuple(cell["labels"])}) for cell in content["results"]])
    if not rows:
        raise SystemExit(f"{source} holds no section that is drawn")
    figure = draw_rows(rows)
    machine, options = content["machine"], content["options"]
    figure.suptitle(
        f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}; {OURS} {machine[OURS]}; "
        f"one thread, warm; {options['rounds']} rounds of {options['megabytes']} MB.\n"
        "Dark: Python lists; light: arrays. Only libraries whose ids equal the reference's on every text of the panel.",
        fontsize=9,
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, metadata={"Date": None})
    print(f"figure: {target}")


def draw_rows(rows: list[dict[str, Panel]]) -> Any:
    """A figure of panels, each row as high as its longest panel."""
    from matplotlib import pyplot as plt

    most = max(len(row) for row in rows)
    bars = [max(len(names_in(panel)) for panel in row.values()) for row in rows]
    heights = [PANEL_HEAD + 2 * BAR_HEIGHT * count for count in bars]
    size = (PANEL_WIDTH * most, sum(heights))
    figure, axes = plt.subplots(len(rows), most, figsize=size, squeeze=False, height_ratios=heights, layout="constrained")
    for row, places in zip(rows, axes, strict=True):
        for place in places[len(row) :]:
            place.set_axis_off()
        for (title, panel), place in zip(row.items(), places, strict=False):
            draw_panel(place, title, panel)
    return figure


def panels(results: list[Result]) -> list[dict[str, Panel]]:
    """Rows of panels: a row of corpora for each vocabulary; then one of the other sections, the first case of each."""
    rows: dict[str, dict[str, Panel]] = {}
    others: dict[str, dict[str, Panel]] = {}
    for cell in results:
        series = next((label for label in cell.labels if label in SERIES), "lists")
        place = ", ".join(label for label in cell.labels if label not in (*SERIES, "1 thread", "warm"))
        title = f"{cell.section}: {place}"
        if not cell.measured:
            continue
        if cell.section == "documents" and cell.labels[3:] == ("1 thread", "warm"):
            rows.setdefault(cell.labels[0], {}).setdefault(title, {})[series] = cell
        elif cell.section in OTHER_SECTIONS and cell.unit == "seconds":
            others.setdefault(cell.section, {}).setdefault(title, {})[series] = cell
    last = {title: panel for section in OTHER_SECTIONS for title, panel in list(others.get(section, {}).items())[:1]}
    return [row for row in (*rows.values(), last) if row]


def names_in(panel: Panel) -> list[str]:
    """The contenders of a panel, the best last, for bars are drawn from below."""
    best: dict[str, float] = {}
    for cell in panel.values():
        for name in cell.measured:
            best[name] = min(best.get(name, float("inf")), cell.median(name))
    return sorted(best, key=lambda name: -best[name])


def draw_panel(place: Any, title: str, panel: Panel) -> None:
    """Horizontal bars, one or two for each contender, with the figure at their end."""
    names = names_in(panel)
    rates = all(cell.megabytes is not None for cell in panel.values())
    scale, unit = (1.0, "MB/s, more is better") if rates else readable(panel)
    for series, cell in panel.items():
        for name in cell.measured:
            value = cell.rate(name) if rates else cell.median(name) / scale
            colour = (OUR_COLOURS if name == OURS else OTHER_COLOURS)[SERIES[series]]
            height = names.index(name) + (0.2 if SERIES[series] == 0 else -0.2) * (len(panel) > 1)
            place.barh(height, value, height=0.38 if len(panel) > 1 else 0.7, color=colour)
            place.text(value, height, f" {value:.3g}", va="center", fontsize=7)
    place.set_yticks(range(len(names)), names)
    for label in place.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == OURS else "normal")
    place.set_title(title, fontsize=9, loc="left")
    place.set_xlabel(unit, fontsize=8)
    place.margins(x=0.15)
    place.spines[["top", "right"]].set_visible(False)


def readable(panel: Panel) -> tuple[float, str]:
    """A unit of time in which the longest bar is a number of few digits."""
    longest = max(cell.median(name) for cell in panel.values() for name in cell.measured)
    for size, unit in ((1.0, "seconds"), (1e-3, "milliseconds")):
        if longest >= size:
            return size, f"{unit}, less is better"
    return 1e-6, "microseconds, less is better"


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
