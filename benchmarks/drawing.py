"""What all plots of results have in common: themes, how they are written, and what says from which results."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THEMES = {
    "light": {"text": "#1f2328", "grid": "#d1d9e0", "page": "#ffffff"},
    "dark": {"text": "#e6edf3", "grid": "#3d444d", "page": "#0d1117"},
}


def mark(results: Path) -> str:
    """What a plot says of the results it is made from."""
    return f"{results.name} sha256 {hashlib.sha256(results.read_bytes()).hexdigest()}"


@contextmanager
def drawn(
    results: Path,
    path: Path,
    theme: str,
    title: str,
    size: tuple[float, float],
    layout: Literal["constrained"] | None = "constrained",
) -> Iterator[Figure]:
    """A figure that is written when its content is there.

    Args:
        results: What it is made from.
        path: The SVG file.
        theme: One of `THEMES`.
        title: What it shows, for readers that do not see it.
        size: Its width and height in inches.
        layout: How matplotlib places the content; None for places by hand.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    colours = THEMES[theme]
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "pulsar-spark", "font.size": 9}
    settings |= dict.fromkeys(("text.color", "xtick.color", "ytick.color", "axes.labelcolor"), colours["text"])
    with mpl.rc_context(settings):
        figure = Figure(figsize=size, facecolor=colours["page"], layout=layout)
        yield figure
        metadata = {"Date": None, "Title": title, "Description": mark(results)}
        figure.savefig(path, format="svg", metadata=metadata)


def plain(axes: Axes, theme: str, *, grid: Literal["x", "both"] = "both") -> None:
    """No frame, and lines of the grid behind the content along one axis or both."""
    axes.set_facecolor(THEMES[theme]["page"])
    axes.grid(visible=True, axis=grid, color=THEMES[theme]["grid"], linewidth=0.6)
    for spine in axes.spines.values():
        spine.set_visible(False)
