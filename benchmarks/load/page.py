"""The page and the plots of `load.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.drawing import THEMES, drawn, plain
from benchmarks.load.figures import LEAST_SHARE, Sample, Step, halves
from benchmarks.report import keep, typical

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

_HEAD = """\
# Load

Made by `make bench-load`, not by hand, from [load.json](load.json): a query in Spark {spark} `local[2]` with a trigger
of one second reads a topic of {partitions} partitions and writes each message to another. A client sends messages of
{size} bytes at a steady rate, in batches of 5 ms. Client, server and Spark share {cores} cores, servers do not wait for
their disk and have one copy, and {stolen} s of CPU time went to other virtual machines. Each rate begins with 30 s that
are not counted. Contenders take turns; one that is full has no higher rate. It is full when the client reaches less
than {share:.0%} of the rate, or the backlog grows.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="plots/load-dark.svg">
  <img alt="Cores by rate, and the backlog over time" src="plots/load-light.svg">
</picture>

| messages/s | contender | minutes | reached | sent | written | client, cores | server | Spark | all | us/message \
| micro-batch, ms | behind, s | memory of Spark, MB | of the server | keeps up |
|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|
"""
_NOTES = """
Reached is above the rate where the client makes up for what it did not send in the first 30 s. Sent and written are
the topics' own counters, from the first message to the last. us/message is the CPU time of all processes. A
micro-batch: median (99th percentile). Behind is what is sent and not yet written, in seconds of the rate, and memory is
what is resident: medians of the first and of the second half.
"""
_FAILED = """
At {rate:,} messages/s the query of {contender}, failed.
"""
_INCUMBENT = """
streamnative/pulsar-spark has no release for Spark 4: it is its newest source with the imports changed.
"""
_PARTS = {"generator": ("client", "#8c7ae6"), "server": ("server", "#e69f00"), "spark": ("Spark", "#1f8fd6")}
_COLOURS = ("#1f8fd6", "#d55e00", "#009e73", "#cc79a7")


def write(file: Path) -> None:
    """Write the page beside the results, and the plots below it."""
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    keep(file.with_suffix(".md"), text(found))
    plots = file.parent / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    for theme in THEMES:
        _draw(_steps(found), theme, file, plots / f"load-{theme}.svg")


def text(found: dict[str, Any]) -> str:
    """The page of these results."""
    steps = _steps(found)
    more = _INCUMBENT if any(one.contender.startswith("streamnative") for one in steps) else ""
    failed = "".join(_FAILED.format(**one) for one in found["failed"])
    return _HEAD.format(share=LEAST_SHARE, **found["run"]) + "".join(map(_row, steps)) + _NOTES + failed + more


def _steps(found: dict[str, Any]) -> list[Step]:
    return [Step(**{**one, "samples": [Sample(**sample) for sample in one["samples"]]}) for one in found["steps"]]


def _row(step: Step) -> str:
    cells = [
        f"{step.rate:,}",
        step.contender,
        f"{step.seconds / 60:.1f}",
        f"{step.reached:,.0f}",
        f"{step.sent:,}",
        f"{step.written:,}",
        *(f"{cores:.2f}" for cores in (*(step.cores[part] for part in _PARTS), step.all_cores)),
        f"{step.all_cores / step.reached * 1e6:.1f}",
        typical(step.triggers),
        _halves(step.behind, 1),
        _halves([one.spark_megabytes for one in step.samples], 0),
        _halves([one.server_megabytes for one in step.samples], 0),
        "yes" if step.keeps_up else "**full**",
    ]
    return f"| {' | '.join(cells)} |\n"


def _halves(values: list[float], digits: int) -> str:
    return ", ".join(f"{value:,.{digits}f}" for value in halves(values))


def _draw(steps: list[Step], theme: str, results: Path, path: Path) -> None:
    with drawn(results, path, theme, "Load", (10, 1.4 + 0.27 * len(steps))) as figure:
        cores, behind = figure.subplots(1, 2)
        _cores(cores, steps)
        _behind(behind, [one for one in steps if one.rate == steps[0].rate])
        for axes in (cores, behind):
            plain(axes, theme, grid="x" if axes is cores else "both")
            axes.set_axisbelow(True)
            axes.legend(
                frameon=False,
                loc="lower center",
                bbox_to_anchor=(0.5, 1.0),
                ncols=3 if axes is cores else 1,
                fontsize=8,
            )


def _cores(axes: Axes, steps: list[Step]) -> None:
    lines = [f"{one.rate // 1000} k/s, {one.contender}{'' if one.keeps_up else ': full'}" for one in steps]
    places = range(len(steps))
    left = [0.0] * len(steps)
    for name, (title, colour) in _PARTS.items():
        values = [one.cores[name] for one in steps]
        axes.barh(places, values, left=left, color=colour, label=title, height=0.7)
        left = [before + value for before, value in zip(left, values, strict=True)]
    axes.set_yticks(places, lines)
    axes.invert_yaxis()
    axes.set_xlabel("cores")


def _behind(axes: Axes, steps: list[Step]) -> None:
    for step, colour in zip(steps, _COLOURS, strict=False):
        seconds = [one.second for one in step.samples]
        axes.plot(seconds, step.behind, color=colour, linewidth=1.2, label=step.contender)
    axes.set_xlabel(f"seconds at {steps[0].rate:,} messages/s")
    axes.set_ylabel("seconds behind")
    axes.set_ylim(bottom=0)
