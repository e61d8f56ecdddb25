"""The page of a run, and its picture."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from datetime import datetime, timezone
from itertools import chain
from typing import TYPE_CHECKING

from pulsar_spark import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nemesis.history import Read
    from nemesis.rounds import Event
    from nemesis.run import Result

_HEAD = """# Results of the nemesis

Made by `make nemesis`, not by hand: version {version}, seed {seed}, {minutes:.0f} minutes on {date}, on {cores} cores
that servers, Spark and other work shared. A writer counts with keys, a stream copies its topic at least once, another
one exactly once, and batch reads read all of it again and again, in two executors before a cluster of ZooKeeper, three
bookies and two brokers. Meanwhile one fault after the other happens, in an order of chance. [Nemesis](nemesis.md) says
what is checked.

{verdict}

![Rows copied, and faults, over time](nemesis-results.svg)

"""


def page(result: Result) -> str:
    """All of it, with the picture beside it."""
    verdict = (
        "**Nothing is wrong**: all that was acknowledged is in both copies, in order within each key, in the second "
        "one exactly once; nothing was invented or left behind."
        if not result.problems
        else "\n".join([f"**{len(result.problems)} problems**:", "", *(f"- {one}" for one in result.problems)])
    )
    head = _HEAD.format(
        version=__version__,
        seed=result.seed,
        minutes=result.seconds / 60,
        date=f"{datetime.now(timezone.utc):%Y-%m-%d}",
        cores=os.cpu_count(),
        verdict=verdict,
    )
    return head + "\n".join([*_counts(result), "", *_faults(result.events), "", *_ended(result)]) + "\n"


def _counts(result: Result) -> Iterable[str]:
    history = result.history
    yield from ("| what | count |", "|---|--:|")
    yield f"| messages that brokers acknowledged | {len(history.acknowledged):,} |"
    yield f"| messages that the writer gave up, which may be stored | {result.failed:,} |"
    yield f"| messages in the topic, with those that were trimmed | {_size(history.source.values()):,} |"
    for kind, copy in history.copies.items():
        rows = list(chain.from_iterable(copy.values()))
        yield f"| rows in the copy, {kind} | {len(rows):,}, {len(rows) - len(set(rows)):,} of them repeated |"
    for level in dict.fromkeys(one.level for one in history.reads):
        reads = [one for one in history.reads if one.level == level]
        tiers = sum((Counter(one.entries) for one in reads), Counter[str]())
        shown = ", ".join(f"{count:,} of {tier}" for tier, count in tiers.items())
        yield f"| batch reads, `readLevel={level}` | {len(reads)}, of {_size_of(reads):,} rows; entries: {shown} |"


def _size_of(reads: Iterable[Read]) -> int:
    return sum(_size(one.rows.values()) for one in reads)


def _size(parts: Iterable[Sequence[object]]) -> int:
    return sum(len(one) for one in parts)


def _faults(events: Iterable[Event]) -> Iterable[str]:
    by_name: dict[str, list[Event]] = {}
    for event in events:
        by_name.setdefault(event.name, []).append(event)
    yield "Recovered: seconds from the end of the fault until both streams had copied another batch."
    yield ""
    yield from ("| fault | times | that bit | recovered, median s | slowest s |", "|---|--:|--:|--:|--:|")
    for name, some in sorted(by_name.items()):
        times = [one.recovered for one in some if one.recovered is not None]
        figures = f"{statistics.median(times):.1f} | {max(times):.1f}" if times else "never | "
        yield f"| {name} | {len(some)} | {sum(one.bit for one in some)} | {figures} |"


def _ended(result: Result) -> Iterable[str]:
    """Queries that ended, which a scheduler starts again."""
    counted = Counter((one.query, one.condition or "without a name") for one in result.history.ended)
    if not counted:
        yield "No query ended by itself."
        return
    yield "Queries that ended by themselves, and were started again:"
    yield ""
    yield from ("| query | condition | times |", "|---|---|--:|")
    for (query, condition), count in sorted(counted.items()):
        yield f"| {query} | `{condition}` | {count} |"


def draw(result: Result, file: Path) -> None:
    """Rows copied over time by each stream, and when faults were."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    grey = "#7d8590"
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "pulsar-spark", "text.color": grey}):
        figure, axes = plt.subplots(figsize=(10, 4))
        for (kind, batches), color in zip(result.copied.items(), ("#1f8fd6", "#d55e00"), strict=True):
            total, points = 0, []
            for second, rows in batches:
                total += rows
                points.append((second, total))
            axes.step([x for x, _ in points], [y for _, y in points], where="post", label=kind, color=color)
        names = sorted({one.name for one in result.events})
        for one in result.events:
            axes.axvspan(one.second, one.second + max(one.seconds, 0.5), color=grey, alpha=0.25, lw=0)
            axes.annotate(
                str(names.index(one.name) + 1), (one.second, 1.01), xycoords=("data", "axes fraction"), size=6
            )
        axes.set_xlabel("s", color=grey)
        axes.set_ylabel("rows copied, repeated ones too", color=grey)
        axes.tick_params(colors=grey)
        for side in axes.spines.values():
            side.set_color(grey)
        legend = ", ".join(f"{number} {name}" for number, name in enumerate(names, 1))
        half = legend.rfind(", ", 0, len(legend) // 2) + 2
        figure.text(0.02, -0.06, f"{legend[:half]}\n{legend[half:]}", size=7)
        axes.legend(frameon=False, labelcolor=grey)
        figure.savefig(file, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": None})
        plt.close(figure)
