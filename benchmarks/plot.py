"""Plots of the committed results: ``python -m benchmarks.plot`` writes each plot for light and for dark pages.

A line is a case, a mark is a contender. The axis is rows per second relative to Spark's Kafka source and sink in the
same case. A bar through a mark spans its slowest to its fastest round, over the baseline's median.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.drawing import THEMES, drawn, plain
from benchmarks.report import Figures, figures_of
from benchmarks.workloads import JOB_TITLES, TITLES, Contender, Job, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

RESULTS = Path(__file__).resolve().parent / "results"
BASELINE: Contender = "kafka"

PLOTS: dict[str, tuple[Job, ...]] = {"reads": ("scan",), "all": ("scan", "count", "stream", "write")}
"""Each plot shows every case of its jobs."""

MARKS: dict[Contender, tuple[str, str]] = {
    "segment": ("#d55e00", "o"),
    "single": ("#e69f00", "D"),
    "connector": ("#1f8fd6", "s"),
    "java": ("#009e73", "^"),
    "bookies": ("#8c7ae6", "x"),
}
TICKS = (0.25, 0.5, 1, 2, 4, 8, 16, 32)
WIDTH, LINE_HEIGHT, MARGIN, LEGEND = 10.0, 0.25, 0.6, 0.65  # inches
LEFT, RIGHT = 0.29, 0.74  # where the axis begins and ends, as parts of the width
RATES: dict[Contender, tuple[str, float]] = {
    "segment": ("segments", 0.81),
    "connector": ("brokers", 0.89),
    BASELINE: ("Kafka", 0.97),
}
"""Columns of numbers: a heading, and where the column ends."""


def write(results: Path, folder: Path) -> list[Path]:
    """Write every plot for every theme; returns their paths."""
    result: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, jobs in PLOTS.items():
        for theme in THEMES:
            paths.append(folder / f"{name}-{theme}.svg")
            _draw(result, jobs, theme, results, paths[-1])
    return paths


def lines_of(result: dict[str, Any], jobs: Sequence[Job]) -> Iterator[tuple[str, dict[Contender, Figures]]]:
    """The lines of a plot from top to bottom; a heading has no figures."""
    for job in jobs:
        yield JOB_TITLES[job].replace("`", ""), {}
        for case in result["cases"]:
            if case["job"] == job:
                yield Workload(**case["workload"]).title, figures_of(result, case["name"])


def rate(figures: Figures) -> str:
    """Median of thousand rows per second, as a plot shows it."""
    return f"{figures.median('rows') / 1000:,.0f} k"


def _draw(result: dict[str, Any], jobs: Sequence[Job], theme: str, results: Path, path: Path) -> None:
    lines = list(lines_of(result, jobs))
    height = MARGIN + LEGEND + LINE_HEIGHT * (len(lines) + 1)
    with drawn(results, path, theme, "Rows per second", (WIDTH, height), layout=None) as figure:
        bottom, top = MARGIN / height, 1 - LEGEND / height
        axes = figure.add_axes((LEFT, bottom, RIGHT - LEFT, top - bottom))
        _axis(axes, len(lines), theme)
        for line, (title, figures) in enumerate(lines):
            _line(axes, line, title, figures, THEMES[theme])
        handles, labels = axes.get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True))
        figure.legend(known.values(), known.keys(), loc="upper center", ncol=3, frameon=False, borderaxespad=0.2)


def _axis(axes: Axes, lines: int, theme: str) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.18, 32)
    axes.set_xticks(TICKS, [f"{tick:g}x" for tick in TICKS])
    axes.set_xlabel(f"rows per second, {TITLES[BASELINE]} = 1x (log scale)")
    axes.set_ylim(lines - 0.3, -1.2)
    axes.set_yticks([])
    axes.tick_params(length=0)
    plain(axes, theme, grid="x")
    axes.axvline(1, color=THEMES[theme]["text"], linewidth=1, label=f"{TITLES[BASELINE]} (baseline)")
    for heading, end in RATES.values():
        _text(axes, end, -0.8, heading, ends=True, size=8)


def _line(axes: Axes, line: int, title: str, figures: dict[Contender, Figures], colours: dict[str, str]) -> None:
    if not figures:
        _text(axes, 0.01, line, title, weight="bold")
        return
    _text(axes, LEFT - 0.01, line, title, ends=True)
    axes.axhline(line, color=colours["grid"], linewidth=0.4)
    base = figures[BASELINE].median("rows")
    for contender, (colour, mark) in MARKS.items():
        if contender in figures:
            rows = figures[contender].rows
            axes.plot([min(rows) / base, max(rows) / base], [line, line], color=colour, linewidth=1.5, alpha=0.6)
            middle = figures[contender].median("rows") / base
            label = TITLES[contender]
            axes.plot([middle], [line], color=colour, marker=mark, markersize=6, linestyle="none", label=label)
    for contender, (_, end) in RATES.items():
        if contender in figures:
            _text(axes, end, line, rate(figures[contender]), ends=True, size=8)


def _text(
    axes: Axes, place: float, line: float, text: str, *, ends: bool = False, size: int = 9, weight: str = "normal"
) -> None:
    """Text on a line that begins, or ends, at a place: a part of the width of the plot."""
    where = (place - LEFT) / (RIGHT - LEFT)
    axes.text(
        where,
        line,
        text,
        transform=axes.get_yaxis_transform(),
        va="center",
        ha="right" if ends else "left",
        fontsize=size,
        weight=weight,
    )


def main() -> int:
    """Write all plots; returns the exit code."""
    for path in write(RESULTS / "results.json", RESULTS / "plots"):
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
