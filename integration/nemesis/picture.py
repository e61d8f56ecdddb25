"""The picture of runs."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from benchmarks.drawing import THEMES, drawn, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from nemesis.records import Record

_COLOURS = {"at-least-once": "#1f8fd6", "exactly-once": "#d55e00"}
_HEIGHT, _LEGEND, _COLUMNS = 2.6, 0.9, 5  # heights in inches


def draw(runs: Sequence[Record], results: Path, folder: Path) -> None:
    """Rows copied over time by each stream, and when faults were: a part for each run.

    Args:
        runs: All of them.
        results: The file that they are from.
        folder: Where the pictures go, one for each theme.
    """
    names = sorted({event.name for one in runs for event in one.events})
    for theme in THEMES:
        size = (10.0, _HEIGHT * len(runs) + _LEGEND)
        path = folder / f"{results.stem}-{theme}.svg"
        with drawn(results, path, theme, "Rows copied, and faults, over time", size) as figure:
            parts = figure.subplots(len(runs) + 1, 1, height_ratios=[*(_HEIGHT for _ in runs), _LEGEND], squeeze=False)
            for one, axes in zip(runs, parts[:, 0], strict=False):
                _draw_run(one, names, axes, theme)
            _name_faults(names, parts[-1, 0])


def _draw_run(run: Record, names: Sequence[str], axes: Axes, theme: str) -> None:
    plain(axes, theme)
    for kind, batches in run.copied.items():
        rows = accumulate(rows for _, rows in batches)
        axes.step([second for second, _ in batches], list(rows), where="post", label=kind, color=_COLOURS[kind])
    for event in run.events:
        axes.axvspan(event.second, event.second + max(event.seconds, 0.5), color="#7d8590", alpha=0.25, lw=0)
        at = (event.second, 1.01)
        axes.annotate(str(names.index(event.name) + 1), at, xycoords=("data", "axes fraction"), size=6)
    axes.set_ylabel(f"rows, seed {run.seed}")
    axes.set_xlabel("s")
    axes.legend(frameon=False, labelcolor=THEMES[theme]["text"], loc="lower right")


def _name_faults(names: Sequence[str], axes: Axes) -> None:
    """What the numbers mean, in columns."""
    axes.set_axis_off()
    for place, name in enumerate(names):
        row, column = divmod(place, _COLUMNS)
        axes.text(column / _COLUMNS, 1 - row / _COLUMNS, f"{place + 1} {name}", size=7, va="top")
