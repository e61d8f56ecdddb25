"""Measure the connector at both read levels against bare clients and Spark's Kafka source: ``make bench``.

With options:

    .venv-4.1/bin/python -m benchmarks.run [--scale 0.1] [--rounds 5] [--only scan-64] [--output FOLDER]

Writes ``results.json`` and the tables made from it, ``results.md``; cases that are not measured stay as they are there.
Takes about two hours in full.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import tempfile
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import kafka, report
from benchmarks.arena import (
    CLIENT_HEAP,
    HERE,
    SERVER_HEAP,
    SPARK_KAFKA,
    THREADS,
    Arena,
    ReadCache,
    direct_memory,
    pulsar_config,
)
from benchmarks.place import commit, machine
from benchmarks.processes import stolen_seconds
from benchmarks.results import OtherPlaceError, Results
from benchmarks.workloads import CASES, SEED, SPARK, Case, Contender
from pulsar_spark._version import __version__
from pulsar_spark.local.java import Java, java_command
from pulsar_spark.local.versions import DEFAULT as SERVER_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_COMPILING = 0.1
"""The share of CPU time above which a process counts as cold."""

_WARM_UP_SECONDS = 30.0
_MEMORY_CASES = ("scan-64-1000-4-none", "scan-1024-1000-4-none", "write-512-1000-4-lz4")


def measure(arena: Arena, cases: Iterable[Case], rounds: int) -> Iterator[dict[str, Any]]:
    """Run each case in turns, A B C A B C ..., all warmed up before."""
    for case in cases:
        if case.job != "write":
            arena.fill(case.workload)
        _warm_up(arena, case)
        for number in range(1, rounds + 1):
            turn = [_one(arena, case, contender, number) for contender in case.contenders]
            yield from turn
            say(f"{case.name} {number}: " + ", ".join(_short(case, one) for one in turn))


def _warm_up(arena: Arena, case: Case) -> None:
    """Do a case until compiling takes little of the CPU time."""
    cold, number = dict.fromkeys(case.contenders, 0.0), 0
    while cold:
        for contender in tuple(cold):
            number -= 1
            one = _one(arena, case, contender, number)
            cold[contender] += one["seconds"]
            if one["compiling"] <= MOST_COMPILING * one["cpu"] or cold[contender] > _WARM_UP_SECONDS:
                del cold[contender]


def _one(arena: Arena, case: Case, contender: Contender, number: int) -> dict[str, Any]:
    writes = case.job == "write"
    topic = f"{case.name}-{contender}-{number}" if writes else case.workload.topic
    if writes:
        arena.create(contender, case.workload, topic)
    before, stolen = arena.server_cpu(contender), stolen_seconds()
    answer = arena.act(contender, case.job, case.workload, topic)
    server, stolen = arena.server_cpu(contender) - before, stolen_seconds() - stolen
    if writes:
        arena.check_written(contender, case.workload, topic)
    return {
        "case": case.name,
        "contender": contender,
        "round": number,
        "rows": answer.rows,
        "bytes": answer.bytes,
        "seconds": round(answer.seconds, 4),
        "cpu": round(answer.cpu, 2),
        "compiling": round(answer.compiling, 2),
        "server_cpu": round(server, 2),
        "peak_mb": round(answer.peak),
        "heap_mb": round(answer.heap),
        "stolen": round(stolen / answer.seconds / (os.cpu_count() or 1), 3),
        "load": round(os.getloadavg()[0], 2),
    }


def measure_memory(arena: Arena, cases: Iterable[Case], rounds: int) -> Iterator[dict[str, Any]]:
    """The most memory a fresh Spark JVM ever has, from its start through some rounds of one case."""
    for case in cases:
        for contender in (c for c in case.contenders if c in SPARK):
            peak = arena.lifetime_peak(contender, case, rounds)
            say(f"memory {case.name} {contender}: {peak:.0f} MB")
            yield {"case": case.name, "contender": contender, "peak_mb": round(peak)}


def measure_input(arena: Arena, cases: Iterable[Case], rounds: int) -> Iterator[dict[str, Any]]:
    """What making the rows of a write costs Spark by itself."""
    for case in cases:
        costs = [arena.act("connector", "input", case.workload, "none").cpu for _ in range(rounds)]
        yield {"case": case.name, "cpu": [round(cost, 2) for cost in costs[1:]]}


def _short(case: Case, one: dict[str, Any]) -> str:
    rows = case.workload.count
    return f"{one['contender']} {rows / one['seconds'] / 1000:.0f} k/s {one['cpu'] / rows * 1e6:.2f} us"


def say(text: str) -> None:
    """Progress, for whoever waits."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _run(rounds: int) -> dict[str, Any]:
    return {
        "date": time.strftime("%Y-%m-%d"),
        "version": f"{__version__} ({commit()})",
        "rounds": rounds,
        "load_before": round(os.getloadavg()[0], 2),
    }


def _versions() -> dict[str, str]:
    return {
        "Pulsar server": SERVER_VERSION,
        "Kafka server": kafka.VERSION,
        "pyspark": version("pyspark"),
        "Spark-Kafka": ", ".join(c.split(":", 1)[1] for c in SPARK_KAFKA),
        "Java": Java.find(java_command()).build,
        "Python": platform.python_version(),
    }


def _settings(memory: str, cache: ReadCache) -> dict[str, str]:
    reads = "everything there is, default options but for readLevel; in the system's page cache, as it was read before"
    fits = {
        "warm": "in the bookie's read cache, too",
        "cold": "but for a few small cases not in the bookie's read cache",
    }
    return {
        "Spark": f"local[2], driver heap {memory}, everything else as it is by default",
        "Pulsar": f"standalone, heap {SERVER_HEAP}, direct memory {direct_memory(cache)}, one bookie, "
        "journal not synced to disk, " + ", ".join(f"{key}={value}" for key, value in pulsar_config(cache).items()),
        "Kafka": f"one node (KRaft), heap {SERVER_HEAP}, no flush to disk (Kafka's default)",
        "Java clients": f"heap {CLIENT_HEAP}, {THREADS} threads, one Reader or Producer in each, as Spark has tasks",
        "reads": f"{reads}, {fits[cache]}",
        "BookKeeper client": "batch reads of 1 MiB, 4 in flight in each of 2 threads, v2 protocol, digests checked",
        "writes": "rows from memory in 2 tasks; batches up to the size named or 128 KiB, publish delay 1 ms",
        "content": f"seed {SEED}; same values, keys and batches in both servers, compared after filling",
    }


def main() -> int:
    """Run the benchmarks; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure against the Java client and Spark's Kafka source.")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the messages")
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds of each case")
    parser.add_argument("--only", default="", help="a regular expression for the names of cases")
    parser.add_argument("--memory", default="1g", help="heap of the Spark JVMs")
    parser.add_argument(
        "--output", type=Path, help="the folder for the results; by default the committed ones at scale 1"
    )
    parser.add_argument("--cold", action="store_true", help="with a bookie whose read cache is too small for a case")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and end")
    chosen = parser.parse_args()
    cases = [case.scaled(chosen.scale) for case in CASES if re.search(chosen.only, case.name)]
    if chosen.list or not cases or chosen.rounds < 1:
        print("\n".join(case.name for case in CASES))
        return 0 if chosen.list else 2
    cache: ReadCache = "cold" if chosen.cold else "warm"
    folder = HERE / "results" if chosen.scale == 1 else HERE.parent / "target" / "benchmark"
    output = chosen.output or (folder / "cold" if chosen.cold else folder)
    place = {"machine": machine(), "versions": _versions(), "settings": _settings(chosen.memory, cache)}
    try:
        results = Results(output, place, _run(chosen.rounds))
    except OtherPlaceError as error:
        say(f"{error}: give this run a folder of its own with --output")
        return 2
    described = {case.name: asdict(case) | {"name": case.name} for case in cases}
    with (
        tempfile.TemporaryDirectory(prefix="pulsar-spark-benchmark-") as work,
        Arena(Path(work), {case.workload.size for case in cases}, chosen.memory, cache) as arena,
    ):
        parts = {
            "measured": measure(arena, cases, chosen.rounds),
            "input": measure_input(arena, [c for c in cases if c.job == "write"], 3),
            "memory": measure_memory(arena, [c for c in cases if c.name in _MEMORY_CASES], 3),
        }
        for part, found in parts.items():
            for one in found:
                results.add(part, described[one["case"]], one)
    report.keep(output / "results.md", report.tables(results.content))
    return 0


if __name__ == "__main__":
    sys.exit(main())
