"""How fast a stream with a limit reads a backlog of many ledgers, beside Spark's Kafka source: ``make bench-backlog``.

With options:

    .venv-4.1/bin/python -m benchmarks.streams.backlog [--count 1000000] [--ledgers 200] [--limit 100000] [--rounds 5]

The same messages stand in a topic of one partition on both servers; Pulsar's topic has many ledgers. A stream with
``Trigger.AvailableNow`` reads all of them, at most ``--limit`` messages in a micro-batch: ``maxMessagesPerTrigger``
here, ``maxOffsetsPerTrigger`` in Kafka's source. Another contender limits the stored bytes instead, to about as many
messages. Contenders take turns. Every run is checked: the number of rows, and that no micro-batch is above a limit of
messages. Writes ``backlog-<limit>.md``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks import kafka
from benchmarks.arena import (
    HERE,
    SERVER_HEAP,
    THREADS,
    compiled,
    direct_memory,
    java_commands,
    pulsar_config,
    spark_kafka_jars,
)
from benchmarks.processes import Answer, Worker
from benchmarks.report import keep
from benchmarks.run import say
from benchmarks.workloads import Workload, write_content
from pulsar_spark import jar_path
from pulsar_spark.local import LocalPulsar
from support.servers.admin import Admin

_BATCH = 100
_SIZE = 512
_WARM_UP = 2
_MEMORY = "2g"
_BY_BYTES = "pulsar-spark, segment, limit of bytes"


def _server(workload: Workload, ledgers: int) -> LocalPulsar:
    """A server that begins a ledger after so many entries that the topic has about `ledgers` of them."""
    entries = workload.count // workload.batch // ledgers
    rollover = {
        "managedLedgerMaxEntriesPerLedger": str(entries),
        "managedLedgerMinLedgerRolloverTimeMinutes": "0",
        "maxPendingPublishRequestsPerConnection": "1",  # a ledger that is full takes what is on its way all the same
    }
    return LocalPulsar(
        profile="performance",
        heap=SERVER_HEAP,
        direct=direct_memory("warm"),
        config={**pulsar_config("warm"), **rollover},
    )


def _options(limit: int, size: int, admin_url: str) -> dict[str, dict[str, object]]:
    """The contenders and the options with which each reads: at most so many messages, or so many bytes."""
    limited: dict[str, object] = {"maxMessagesPerTrigger": limit, "admin.url": admin_url}
    levels = {f"pulsar-spark, {level}": {**limited, "readLevel": level} for level in ("segment", "auto", "broker")}
    by_bytes = {"maxBytesPerTrigger": size, "admin.url": admin_url, "readLevel": "segment"}
    return {**levels, _BY_BYTES: by_bytes, "Spark-Kafka": {"maxOffsetsPerTrigger": limit}}


def _row(name: str, runs: list[Answer], other: list[Answer]) -> str:
    rates = [run.rows / run.seconds for run in runs]
    ratio = statistics.median(rates) / statistics.median(run.rows / run.seconds for run in other)
    cpu = statistics.median(1e6 * run.cpu / run.rows for run in runs)
    cells = [
        f"{statistics.median(rates):,.0f} ({min(rates):,.0f}-{max(rates):,.0f})",
        f"{ratio:.1f}",
        f"{cpu:.2f}",
        str(len(runs[0].batches)),
        f"{max(max(run.batches) for run in runs):,}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


_HEAD = """# Backlog of streams

Made by `make bench-backlog`, not by hand: {count:,} messages of {size} B, LZ4, in batches of {batch}, in one partition
of {ledgers} ledgers; streams with `Trigger.AvailableNow` and at most {limit:,} messages in a micro-batch, in Spark
`local[2]`, or at most as many bytes as these have on average. {rounds} rounds in turns
after {warm} to warm up.
Servers and Spark share {cores} cores, load average {load:.1f} at the end. Rows per second, median (least to most); CPU
is that of the Spark process. The time has everything in it, from the start of the query to its end.

| source | rows/s | to Spark-Kafka | CPU, us/row | micro-batches | rows of the largest |
|---|--:|--:|--:|--:|--:|
"""


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure how fast streams read a backlog.")
    parser.add_argument("--count", type=int, default=1_000_000, help="messages, a multiple of 100")
    parser.add_argument("--ledgers", type=int, default=200, help="about how many ledgers Pulsar's topic has")
    parser.add_argument("--limit", type=int, default=100_000, help="most messages of a micro-batch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    workload = Workload(_SIZE, _BATCH, 1, "LZ4", chosen.count)
    topic = workload.topic
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulsar-spark-")))
        write_content(work, {workload.size})
        java = java_commands(compiled(work))
        pulsar = stack.enter_context(_server(workload, chosen.ledgers))
        other = stack.enter_context(kafka.LocalKafka(SERVER_HEAP))
        arguments = {**workload.arguments(work), "topic": topic, "threads": THREADS}
        for name, address in (("pulsar", pulsar.service_url), ("kafka", other.servers)):
            with Worker([*java[name], address], work / f"{name}.log") as client:
                if name == "kafka":
                    client.ask("create", arguments)
                client.ask("fill", arguments)
        stored = Admin(pulsar.admin_url).internal_stats(f"persistent://public/default/{topic}")
        ledgers = len(stored["ledgers"])
        size = stored["totalSize"] * chosen.limit // chosen.count
        say(f"filled, {ledgers} ledgers")
        spark = [sys.executable, "-m", "benchmarks.spark_worker"]
        jars = ",".join(map(str, spark_kafka_jars()))
        workers = {
            name: stack.enter_context(Worker([*spark, *words, "--memory", _MEMORY], work / f"spark-{name}.log"))
            for name, words in (
                ("pulsar", ["pulsar", pulsar.service_url, str(jar_path())]),
                ("kafka", ["kafka", other.servers, jars]),
            )
        }
        contenders = _options(chosen.limit, size, pulsar.admin_url)
        runs: dict[str, list[Answer]] = {name: [] for name in contenders}
        for number in range(-_WARM_UP, chosen.rounds):
            for name, options in contenders.items():
                worker = workers["kafka" if name == "Spark-Kafka" else "pulsar"]
                given = {f"option.{key}": value for key, value in options.items()}
                answer = worker.ask("stream", {**arguments, **given})
                is_above = name != _BY_BYTES and max(answer.batches) > chosen.limit
                if answer.rows != chosen.count or is_above:
                    raise ValueError(f"{name} read {answer.rows} rows of {chosen.count} in {answer.batches}")
                say(f"round {number + 1}, {name}: {answer.rows / answer.seconds:,.0f} rows/s")
                if number >= 0:
                    runs[name].append(answer)
    head = _HEAD.format(
        count=chosen.count,
        size=workload.size,
        batch=workload.batch,
        ledgers=ledgers,
        limit=chosen.limit,
        rounds=chosen.rounds,
        warm=_WARM_UP,
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
    )
    rows = [_row(name, found, runs["Spark-Kafka"]) for name, found in runs.items()]
    keep(chosen.output / f"backlog-{chosen.limit}.md", head + "\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
