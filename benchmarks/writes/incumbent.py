"""Batch writes beside streamnative/pulsar-spark and Spark's Kafka sink: ``make bench-incumbent INCUMBENT=JAR``.

The jar is its shaded one, built for the Spark line of the benchmarks; it has no release for Spark 4, so its imports
need changes. All write the same rows with the client's defaults, but for batch and compression, in turns. What a topic
has is counted after each write. Writes ``incumbent.md``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from benchmarks import kafka
from benchmarks.arena import HERE, SERVER_HEAP, THREADS, compiled, java_commands, local_pulsar, spark_kafka_jars
from benchmarks.processes import Worker
from benchmarks.report import keep, spread
from benchmarks.run import say
from benchmarks.workloads import Workload, write_content
from benchmarks.writes.bench import cpu, rate, ratio
from pulsar_spark import jar_path
from support.servers.admin import Admin

if TYPE_CHECKING:
    from benchmarks.processes import Answer

_CASES = (
    Workload(64, 1000, 1, "NONE", 4_000_000),
    Workload(512, 250, 4, "LZ4", 3_000_000),
    Workload(512, 250, 4, "NONE", 3_000_000),
    Workload(1024, 125, 4, "NONE", 1_500_000),
)
_OWN, _INCUMBENT, _KAFKA = "pulsar-spark", "streamnative/pulsar-spark", "Spark-Kafka"
_OPTIONS = {_INCUMBENT: {"write.pulsar.producer.blockIfQueueFull": "true"}}
_WARM = 2

_HEAD = """# Writes beside the incumbent

Made by `make bench-incumbent`, not by hand: batch writes of keys and values in Spark `local[2]` by two tasks, {rounds}
rounds in turns after {warm} that are not counted. streamnative/pulsar-spark is built for Spark {line}. Servers and
Spark share {cores} cores, load average {load:.1f} at the end. Rows per second, median (least to most); CPU is that of
the Spark process.

| messages | sink | rows/s | pulsar-spark to it | CPU, us/row |
|---|---|--:|--:|--:|
"""


def _lines(case: Workload, runs: dict[str, list[Answer]]) -> list[str]:
    return [
        f"| {case.title} | {name} | {spread([*map(rate, found)])} | {ratio(runs[_OWN], found)} | {cpu(found)} |"
        for name, found in runs.items()
    ]


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure writes beside the incumbent.")
    parser.add_argument("incumbent", type=Path, help="its jar")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    lines = []
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulsar-spark-")))
        write_content(work, {case.size for case in _CASES})
        pulsar = stack.enter_context(local_pulsar())
        other = stack.enter_context(kafka.LocalKafka(SERVER_HEAP))
        java = java_commands(compiled(work))
        of_kafka = stack.enter_context(Worker([*java["kafka"], other.servers], work / "kafka.log"))
        admin = Admin(pulsar.admin_url)
        places = {
            _OWN: ("pulsar", pulsar.service_url, str(jar_path())),
            _INCUMBENT: ("pulsar", pulsar.service_url, str(chosen.incumbent.resolve())),
            _KAFKA: ("kafka", other.servers, ",".join(map(str, spark_kafka_jars()))),
        }
        sinks = {
            name: stack.enter_context(
                Worker([sys.executable, "-m", "benchmarks.spark_worker", *place], work / f"spark-{number}.log")
            )
            for number, (name, place) in enumerate(places.items())
        }

        def write(name: str, case: Workload, place: str) -> Answer:
            topic = place if name == _KAFKA else f"persistent://public/default/{place}"
            arguments = {**case.arguments(work), "topic": topic, "threads": THREADS, **_OPTIONS.get(name, {})}
            if name == _KAFKA:
                of_kafka.ask("create", {"topic": topic, "partitions": case.partitions})
            else:
                admin.create_topic(topic, partitions=case.partitions if case.partitions > 1 else 0)
            answer = sinks[name].ask("write", arguments)
            found = of_kafka.ask("count", arguments) if name == _KAFKA else sinks[_OWN].ask("count", arguments)
            if found.rows != case.count:
                raise ValueError(f"{name} wrote {case.count} rows to {topic}, which has {found.rows}")
            return answer

        for case in _CASES:
            runs: dict[str, list[Answer]] = {name: [] for name in sinks}
            for number in range(-_WARM, chosen.rounds):
                for place, (name, found) in enumerate(runs.items()):
                    answer = write(name, case, f"{case.topic}-{place}-{number + _WARM}")
                    say(f"{case.title}, round {number + 1}, {name}: {rate(answer):,.0f} rows/s")
                    if number >= 0:
                        found.append(answer)
            lines += _lines(case, runs)
    line = ".".join(pyspark.__version__.split(".")[:2])
    head = _HEAD.format(rounds=chosen.rounds, warm=_WARM, line=line, cores=os.cpu_count(), load=os.getloadavg()[0])
    keep(chosen.output / "incumbent.md", head + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
