"""How long a message takes to a row in Spark's real-time mode, beside Spark's Kafka source: ``make bench-realtime``.

With options:

    .venv-4.1/bin/python -m benchmarks.streams.realtime [--seconds 25] [--rounds 1] [--batch 30] [--only idle]

One query at a time reads a topic while a client of the same server sends messages at a steady rate, each with the time
when it is due. A sink reads the clock for each row. Rows around the end of a batch are counted apart. Other cases: from
topic to topic, many ends of batches, more partitions than slots, nothing sent, a backlog. Writes ``realtime.md``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from benchmarks.arena import HERE
from benchmarks.processes import stolen_seconds
from benchmarks.report import keep
from benchmarks.run import say
from benchmarks.streams.realtime_figures import Figures
from benchmarks.streams.realtime_page import backlog_table, ends_table, head, idle_table, latency_table
from benchmarks.streams.realtime_turns import Backlog, Load, Source, Stage

_OURS, _KAFKA = Source("pulsar", "pulsar"), Source("kafka, 40 slots", "kafka", 40)
_MICRO = Source("pulsar, micro-batches", "pulsar", is_live=False)
_EAGER = Source("pulsar, broker's check delay 1 ms", "eager")
_STARVED = Source("kafka", "kafka", is_starved=True)
_WARM_SECONDS = 8
_SHORT_BATCH = 5
_IDLE_PARTITIONS, _IDLE_SECONDS = 40, 20
_PARTS = ("steady", "rates", "copies", "ends", "idle", "backlog", "eager")

Rows = list[tuple[str, Source, Load]]


def _steady(load: Load) -> Rows:
    """Each partition count with both; where each is strong or weak once."""
    few, some, many = (replace(load, partitions=partitions) for partitions in (1, 4, 40))
    return [
        ("1 partition", _OURS, few),
        ("1 partition", _KAFKA, few),
        ("1 partition", _MICRO, few),
        ("4 partitions", _OURS, some),
        ("4 partitions", _KAFKA, some),
        ("40 partitions", _OURS, many),
        ("40 partitions", _KAFKA, many),
        ("40 partitions", _STARVED, replace(many, seconds=_SHORT_BATCH)),
    ]


def _rates(load: Load) -> Rows:
    loads = {rate: replace(load, rate=rate, partitions=4, linger=1) for rate in (10_000, 50_000)}
    return [(f"{rate:,}/s", source, one) for rate, one in loads.items() for source in (_OURS, _KAFKA)]


def _copies(load: Load) -> Rows:
    return [("4 partitions to 1", source, _copied(load)) for source in (_OURS, _KAFKA)]


def _copied(load: Load) -> Load:
    return replace(load, partitions=4, is_copied=True)


def _ends(load: Load) -> Rows:
    short = replace(load, batch=_SHORT_BATCH)
    return [
        ("1 partition", _OURS, short),
        ("40 partitions", _OURS, replace(short, partitions=40)),
        ("1 partition", _KAFKA, short),
        ("40 partitions", _KAFKA, replace(short, partitions=40)),
    ]


def _run(stage: Stage, rows: Rows, rounds: int) -> list[tuple[str, Source, Load, Figures]]:
    found = [(title, source, load, Figures()) for title, source, load in rows]
    for number in range(rounds):
        for title, source, load, figures in found:
            stage.turn(source, load, figures)
            say(f"round {number + 1}, {title}, {source.title}: p50 {figures.latency(0.5):.1f} ms")
    return found


def _idle(stage: Stage, seconds: int) -> list[tuple[str, float]]:
    found = []
    for source in (_OURS, _KAFKA, None):
        used = stage.idle(source, _IDLE_PARTITIONS, seconds, _WARM_SECONDS)
        found.append((source.title if source else "no query", used))
        say(f"idle: {found[-1]}")
    return found


def _measure(stage: Stage, load: Load, rounds: int, only: str, backlog: int) -> list[str]:
    """The tables of the page."""
    tables = []
    for part, rows in (("steady", _steady), ("rates", _rates), ("copies", _copies)):
        if part in only:
            tables.append(latency_table(part, _run(stage, rows(load), rounds)))
    if "ends" in only:
        tables.append(ends_table(_run(stage, _ends(load), rounds)))
    if "idle" in only:
        tables.append(idle_table(_idle(stage, min(load.seconds, _IDLE_SECONDS))))
    if "backlog" in only:
        read: Backlog = stage.backlog(backlog)
        tables.append(backlog_table(read, backlog))
    if "eager" in only:
        stage.start_eager()
        eager = [("1 partition", _EAGER, load), ("4 partitions to 1", _EAGER, _copied(load))]
        tables.append(latency_table("eager", _run(stage, eager, rounds)))
    return tables


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure the latency of Spark's real-time mode.")
    parser.add_argument("--seconds", type=int, default=25, help="how long each turn is measured")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--batch", type=int, default=30, help="seconds of a real-time batch")
    parser.add_argument("--backlog", type=int, default=2_000_000, help="messages of the backlog")
    parser.add_argument("--only", default=",".join(_PARTS), help="parts to measure, from " + ", ".join(_PARTS))
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    stolen = stolen_seconds()
    load = Load(1000, 1, 0, chosen.seconds, _WARM_SECONDS, chosen.batch)
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulsar-spark-")))
        stage = Stage(work, stack)
        for source in (_OURS, _KAFKA):  # what the first turns take is Java's compilers' time
            stage.turn(source, replace(load, rate=5000, partitions=4, seconds=_SHORT_BATCH, batch=0), Figures())
        say("warm")
        tables = _measure(stage, load, chosen.rounds, chosen.only, chosen.backlog)
    stolen = stolen_seconds() - stolen
    text = head(load, chosen.rounds, os.cpu_count() or 0, os.getloadavg()[0], stolen)
    keep(chosen.output / "realtime.md", text + "\n\n".join(tables) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
