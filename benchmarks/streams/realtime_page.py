"""The tables of `realtime.md`."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import pyspark

from benchmarks.streams.realtime_figures import middle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.streams.realtime_figures import Figures, Pause
    from benchmarks.streams.realtime_turns import Backlog, Load, Source

_HEAD = """# Latency in real-time mode

Made by `make bench-realtime`, not by hand: one query at a time in Spark {spark}, in real-time mode with batches of
{batch} s, for {seconds} s in each of {rounds} round(s) after {warm} s that are not counted, in a JVM that has run a
query before. Servers, sender and Spark share {cores} cores; load average {load:.1f} at the end, {stolen:.0f} s of CPU
time went to other virtual machines. The connector has two slots, of which it uses one. Spark's Kafka source needs a
slot for each partition, so it has 40 unless the table says otherwise.

A message's latency is from the time when it is due by its sender's clock until a sink in the task (`foreach`) reads the
same clock for its row. Percentiles are of rows inside batches. Others arrived in the last 0.7 s before Spark counts a
batch as ended, or in the 1.3 s after it, and have their own columns: the pause is the longest time around an end in
which no row arrived. Several ends: median (most). Senders of 1,000 messages a second send each by itself and at once;
senders of more wait for others of a batch for 1 ms. CPU is that of the whole process, as a share of one core.

"""
_TITLES = {
    "steady": "1,000 messages a second",
    "rates": "More messages, over 4 partitions",
    "copies": "From topic to topic, 1,000 messages a second",
    "eager": "1,000 messages a second, with `managedLedgerNewEntriesCheckDelayInMillis=1` in the broker",
}
_NOTES = {
    "copies": "The query writes to a topic of one partition, each sink with its default settings; a consumer of that "
    "topic reads the clock.\n\n",
}
_LATENCIES = """\
| messages | source | p50, ms | p99, ms | p99.9, ms | longest, ms | pause at an end, ms | longest at an end, ms \
| partitions read | not read | Spark's CPU | server's CPU |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""
_ENDS = """\
## Ends of batches, 1,000 messages a second, batches of 5 s

Parts of the pause: from the last row until the tasks end; from there until tasks of the next batch begin, with what
Spark's progress says of it; from there until the first row. The source's part is `latestOffset`, the time until the
first row, and what it does in "planning".

| messages | source | ends | pause, ms | longest latency, ms | last row to end of tasks | driver \
| `walCommit`, `commitOffsets` | `latestOffset` | `queryPlanning` | begin of tasks to first row |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""
_IDLE = """\
## Nothing, 40 partitions

| query | Spark's CPU, share of a core |
|---|--:|
"""


def head(load: Load, rounds: int, cores: int, average: float, stolen: float) -> str:
    """What the page begins with."""
    return _HEAD.format(
        spark=pyspark.__version__,
        batch=load.batch,
        rounds=rounds,
        seconds=load.seconds,
        warm=load.warm,
        cores=cores,
        load=average,
        stolen=stolen,
    )


def latency_table(part: str, found: Iterable[tuple[str, Source, Load, Figures]]) -> str:
    """The latencies of some cases."""
    lines = []
    for title, source, load, figures in found:
        cells = [
            *(_milliseconds(figures.latency(share)) for share in (0.5, 0.99, 0.999, 1)),
            middle([one.length for one in figures.pauses]),
            middle([one.worst for one in figures.pauses]),
            "" if load.is_copied else f"{figures.partitions} of {load.partitions}",
            f"{figures.missing:,}",
            f"{statistics.mean(figures.cores):.0%}",
            f"{statistics.mean(figures.server):.0%}",
        ]
        lines.append(f"| {title} | {source.title} | {' | '.join(cells)} |")
    return f"## {_TITLES[part]}\n\n{_NOTES.get(part, '')}{_LATENCIES}" + "\n".join(lines)


def _milliseconds(latency: float) -> str:
    """Nothing where no row arrived inside a batch, as with micro-batches."""
    return "" if math.isnan(latency) else f"{latency:.1f}"


def ends_table(found: Iterable[tuple[str, Source, Load, Figures]]) -> str:
    """The parts of pauses."""
    lines = []
    for title, source, _, figures in found:
        pauses = figures.pauses
        closing, driver, opening = (_part(pauses, place) for place in range(3))
        cells = [
            str(len(pauses)),
            middle([one.length for one in pauses]),
            middle([one.worst for one in pauses]),
            closing,
            driver,
            *(middle([one.millis[name] for one in pauses if one.millis]) for name in _MILLIS),
            opening,
        ]
        lines.append(f"| {title} | {source.title} | {' | '.join(cells)} |")
    return _ENDS + "\n".join(lines)


_MILLIS = ("checkpoint", "latestOffset", "planning")


def _part(pauses: list[Pause], place: int) -> str:
    return middle([one.parts[place] for one in pauses if one.parts is not None])


def idle_table(found: Iterable[tuple[str, float]]) -> str:
    """CPU time of queries without messages."""
    return _IDLE + "\n".join(f"| {title} | {used:.1%} |" for title, used in found)


def backlog_table(read: Backlog, count: int) -> str:
    """How fast a backlog is read."""
    lines = [
        f"## A backlog of {count:,} messages",
        "",
        "One partition is full, of messages of 64 B in batches of 1,000; the other receives 100 messages a second.",
        "The time is from the start of the query until the last of the backlog is a row.",
        "",
        "| query | seconds | rows/s | p50 of the other partition, ms | p99, ms | most, ms | not read |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for level, live in read.live.items():
        quiet = [_milliseconds(live.quiet.latency(share)) for share in (0.5, 0.99, 1)]
        name = f"real-time mode, `readLevel={level}`"
        lines.append(_backlog_row(name, live.seconds, count, [*quiet, str(live.quiet.missing)]))
    for level, seconds in read.drained.items():
        lines.append(_backlog_row(f"`availableNow`, `readLevel={level}`", seconds, count, ["", "", "", ""]))
    return "\n".join(lines)


def _backlog_row(name: str, seconds: float, count: int, cells: list[str]) -> str:
    return f"| {name} | {' | '.join([f'{seconds:.1f}', f'{count / seconds:,.0f}', *cells])} |"
