"""The page and the plots of `width.json`."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING, Any

from benchmarks.drawing import THEMES, drawn, plain
from benchmarks.report import keep
from benchmarks.width.figures import OWN, Phase, Run, Stream, run_of
from benchmarks.width.model import COSTS, Cost, fitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

_MORE = 100_000
"""Topics that nobody has measured."""

_HEAD = """\
# Width

Made by `make bench-width`, not by hand, from [width.json](width.json): a stream with a trigger each second reads topics
of one message each by a pattern, in Spark `local[2]`; first nothing arrives, then some topics receive a message each
second. Server, sender and Spark share the machine's two cores. Spark-Kafka reads one topic of as many partitions from a
server of its own. Streams of a run take turns on one server; runs over another number of topics are compared with care.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="plots/width-dark.svg">
  <img alt="Time of a trigger, by how many topics are busy, and of latestOffset, by how many topics there are" \
src="plots/width-light.svg">
</picture>

{runs}

| topics | busy | stream | `latestOffset`, ms | trigger, ms | Spark, cores | server | server without the stream |
|--:|--:|---|--:|--:|--:|--:|--:|
"""
_NOTES = """
Milliseconds: median (least to most) over the triggers of a phase; those of whole triggers are of triggers that read
messages. Cores are CPU seconds of the process a second.

## Start, checkpoint, requests

| topics | stream | first tasks, s | all read, s | an offset, KB | requests of a trigger | after a cut | longest \
`latestOffset` after it, s |
|--:|---|--:|--:|--:|---|---|--:|
"""
_MODEL = """
"First tasks" and "all read" count from the start of the query to its first tasks, and until the first message of each
topic is read. "After a cut" is what the stream requests in the 45 s after a proxy has cut all its connections, while
nothing arrives.

## {more:,} topics, from these runs

Each cost is a line: what a stream costs, and what each topic adds. The line through the {fewer} predicts {most:,}
topics; what was measured is beside it. The line through all runs says what {more:,} topics cost, which nobody has
measured, and with how many topics a cost leaves what is good for a trigger each second.

| cost | {heads} | {most:,} predicted | error | {more:,} predicted | good | until topics |
|---|{rules}--:|--:|--:|--:|--:|
"""
_COLOURS = ("#1f8fd6", "#d55e00", "#009e73", "#cc79a7")


def add(file: Path, run: dict[str, Any]) -> None:
    """Put a run in place of the one over as many topics."""
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    found = [one for one in found if one["topics"] != run["topics"]] + [run]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(sorted(found, key=lambda one: int(one["topics"]))) + "\n", encoding="utf-8")


def read(file: Path) -> list[Run]:
    """All runs, by how many topics they have."""
    return [run_of(one) for one in json.loads(file.read_text(encoding="utf-8"))]


def write(file: Path) -> None:
    """Write the page beside the results, and the plots below it."""
    runs = read(file)
    keep(file.with_suffix(".md"), text(runs))
    plots = file.parent / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    for theme in THEMES:
        _draw(runs, theme, file, plots / f"width-{theme}.svg")


def text(runs: Sequence[Run]) -> str:
    """The page of these runs."""
    said = "\n".join(
        f"- {run.topics:,} topics: phases of {run.seconds:.0f} s, messages of {run.size:,} bytes, load average "
        f"{run.load} at the end, {run.stolen} s of CPU time went to other virtual machines."
        for run in runs
    )
    phases = "".join(_row(cells) for run in runs for stream in run.streams for cells in _phases(run, stream))
    starts = "".join(_row(_start(run, stream)) for run in runs for stream in run.streams)
    return _HEAD.format(runs=said) + phases + _NOTES + starts + (_predicted(runs) if len(runs) > 2 else "")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _phases(run: Run, stream: Stream) -> Iterator[list[str]]:
    alone = run.alone["Pulsar" if stream.name.startswith(OWN) else "Kafka"]
    for busy, phase in {0: stream.idle, **stream.busy}.items():
        yield [
            f"{run.topics:,}",
            f"{busy:,}",
            stream.name,
            _spread(phase.looks),
            _spread(phase.triggers) if busy else "",
            *(f"{cores:.2f}" for cores in (phase.driver, phase.server, alone[busy])),
        ]


def _spread(millis: list[int]) -> str:
    return f"{statistics.median(millis):,.0f} ({min(millis):,}-{max(millis):,})" if millis else "none"


def _start(run: Run, stream: Stream) -> list[str]:
    head = [f"{run.topics:,}", stream.name, f"{stream.planned:.1f}", f"{stream.read:.1f}"]
    head.append(f"{stream.offset_bytes / 1000:,.0f}")
    if stream.cut is None:
        return [*head, "", "", ""]
    back = ", ".join(f"{kind} {number:,}" for kind, number in sorted(stream.cut.requests.items()))
    idle = ", ".join(f"{kind} {number:,.0f}" for kind, number in sorted(stream.requests.items()))
    return [*head, idle, back, f"{stream.cut.slowest / 1000:.1f}"]


def _predicted(runs: Sequence[Run]) -> str:
    *fewer, most = runs
    head = _MODEL.format(
        more=_MORE,
        fewer=" and ".join(f"{run.topics:,}" for run in fewer),
        most=most.topics,
        heads=" | ".join(f"{run.topics:,}" for run in runs),
        rules="--:|" * (len(runs) + 1),
    )
    return head + "".join(_row(_prediction(runs, cost)) for cost in COSTS)


def _prediction(runs: Sequence[Run], cost: Cost) -> list[str]:
    *fewer, most = runs
    predicted, whole = fitted(fewer, cost).at(most.topics), fitted(runs, cost)

    def shown(value: float) -> str:
        return f"{value:,.{cost.digits}f}"

    return [
        cost.title,
        *(shown(cost.of(run)) for run in runs),
        shown(predicted),
        f"{predicted / cost.of(most) - 1:+.0%}",
        shown(whole.at(_MORE)),
        shown(cost.limit),
        f"{whole.reaches(cost.limit):,.0f}",
    ]


def _draw(runs: Sequence[Run], theme: str, results: Path, path: Path) -> None:
    with drawn(results, path, theme, "Width", (10, 3.4)) as figure:
        triggers, looks = figure.subplots(1, 2)
        _triggers(triggers, runs)
        _looks(looks, runs)
        for axes in (triggers, looks):
            plain(axes, theme)
            axes.set_axisbelow(True)
            axes.legend(frameon=False, loc="upper left", fontsize=8)


def _lines(runs: Sequence[Run]) -> Iterator[tuple[str, dict[int, Phase]]]:
    for run in runs:
        for stream in run.streams:
            yield f"{stream.name}, {run.topics:,} topics", stream.busy


def _triggers(axes: Axes, runs: Sequence[Run]) -> None:
    for (title, busy), colour in zip(_lines(runs), _COLOURS, strict=False):
        medians = [statistics.median(phase.triggers) for phase in busy.values()]
        axes.plot(list(busy), medians, color=colour, marker="o", linewidth=1.2, label=title)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("topics that receive a message each second")
    axes.set_ylabel("ms of a trigger, median")


def _looks(axes: Axes, runs: Sequence[Run]) -> None:
    for name, colour in zip((OWN, "Spark-Kafka"), _COLOURS, strict=False):
        found = {run.topics: one.idle.looks for run in runs for one in run.streams if one.name == name}
        medians = [statistics.median(looks) for looks in found.values()]
        axes.plot(list(found), medians, color=colour, marker="o", linestyle="", label=name)
    if len(runs) > 1:
        line, topics = fitted(runs, COSTS[0]), [*(run.topics for run in runs), _MORE]
        axes.plot(topics, [line.at(one) for one in topics], color=_COLOURS[0], linestyle="--", linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("topics, none of them busy")
    axes.set_ylabel("ms of latestOffset, median")
