"""How long the driver takes to plan a direct read: ``.venv/bin/python -m benchmarks.driver.planning``.

Two clusters: a real local server, and a simulated one that answers at once (``java/SimulatedPulsar.java``), which shows
what the driver itself costs. Each size has a driver of its own. Writes ``results/planning.md``.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from multiprocessing import get_context
from os import cpu_count, getloadavg
from typing import TYPE_CHECKING, Any

import pulsar
from pyspark.sql import SparkSession

import pulsar_spark
from benchmarks.arena import HERE, jdk_tool
from benchmarks.report import keep
from pulsar_spark.local import LocalPulsar
from pulsar_spark.local.versions import libraries

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOPIC = "planned"
_ROUNDS = 5
_STEADY_MEGABYTES = 1.0
_LOCAL, _SIMULATED = ("200x10", "1000x10"), ("1000x10", "10000x10", "10000x100", "100000x1")
_TARGETS = {("local server", "1000x10"): 3.0, ("simulated", "10000x10"): 5.0, ("simulated", "10000x100"): 15.0}
_HEADER = (
    "| cluster | partitions | ledgers | first (s) | later, median (s) | target (s) | heap kept (MB) | slices | tasks |",
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
)


@dataclass(frozen=True)
class Cluster:
    """Something to plan reads of."""

    name: str
    service_url: str
    admin_url: str

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """What the admin service answers."""
        return self._ask("GET", path)

    def put(self, path: str, body: object, method: str = "PUT") -> None:
        """Have the admin service do something."""
        self._ask(method, path, json.dumps(body).encode())

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Any:  # noqa: ANN401 - JSON
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.admin_url}/{path}", body, headers, method=method)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=300) as answer:
            text = answer.read()
        return json.loads(text) if text else None


@contextmanager
def _simulated(partitions: int, ledgers: int) -> Iterator[Cluster]:
    jars = f"{libraries()}/*"
    source = str(HERE / "java" / "SimulatedPulsar.java")
    options = ["-Xmx256m", "-Dsun.net.httpserver.nodelay=true", "-cp", jars]
    command = [jdk_tool("java"), *options, source, str(partitions), str(ledgers)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        binary, admin = process.stdout.readline().split()
        yield Cluster("simulated", f"pulsar://127.0.0.1:{binary}", f"http://127.0.0.1:{admin}")
        process.stdin.close()


@contextmanager
def _local(partitions: int, ledgers: int) -> Iterator[Cluster]:
    """A server on which every message of a partition begins a ledger."""
    config = {"managedLedgerMaxEntriesPerLedger": "1", "managedLedgerMinLedgerRolloverTimeMinutes": "0"}
    with LocalPulsar(heap="1g", direct="1g", config=config) as server:
        cluster = Cluster("local server", server.service_url, server.admin_url)
        cluster.put(f"admin/v2/persistent/public/default/{_TOPIC}/partitions", partitions)
        forever = {"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}
        cluster.put("admin/v2/namespaces/public/default/retention", forever, "POST")
        client = pulsar.Client(server.service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
        try:
            routing = pulsar.PartitionsRoutingMode.RoundRobinDistribution
            producer = client.create_producer(
                _TOPIC, batching_enabled=False, message_routing_mode=routing, block_if_queue_full=True
            )
            for _ in range(ledgers):
                for _ in range(partitions):
                    producer.send_async(b"x" * 50, None)
                producer.flush()
        finally:
            client.close()
        yield cluster


def _plan(spark: SparkSession, cluster: Cluster) -> tuple[float, Any]:
    """Seconds from the frame to its tasks, and the scan."""
    options = {"service.url": cluster.service_url, "admin.url": cluster.admin_url, "readLevel": "segment"}
    frame: Any = spark.read.format("pulsar").options(**options, topic=_TOPIC).load()
    plan = frame._jdf.queryExecution().executedPlan()  # noqa: SLF001 - there is no public way
    leaf = plan.collectLeaves().head()
    begin = time.monotonic()
    leaf.inputPartitions()
    return time.monotonic() - begin, leaf


def _heap(spark: SparkSession) -> float:
    """Megabytes in use when collecting garbage, of Python that names some of it too, makes them no fewer."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - to measure the JVM
    runtime = jvm.Runtime.getRuntime()
    least, used = float("inf"), 0.0
    while used < least - _STEADY_MEGABYTES:
        least = used or least
        gc.collect()
        jvm.System.gc()
        used = float(runtime.totalMemory() - runtime.freeMemory()) / 1e6
    return min(least, used)


@contextmanager
def _driver(java_options: str) -> Iterator[SparkSession]:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.log.level", "ERROR")
    builder = builder.config("spark.driver.extraJavaOptions", java_options)
    spark = pulsar_spark.configure(builder).getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def _measure(cluster: Cluster, shape: str, rounds: int, java_options: str) -> str:
    """Plan in a new driver, and return the row of the table."""
    with _driver(java_options) as spark:
        return _measured(spark, cluster, shape, rounds)


def _measured(spark: SparkSession, cluster: Cluster, shape: str, rounds: int) -> str:
    partitions, ledgers = _numbers(shape)
    first, _held = _plan(spark, cluster)  # the plan lives on, so that what the next one adds is its own
    if cluster.name == "simulated":
        cluster.get("counts")
    before = _heap(spark)
    seconds, leaf = _plan(spark, cluster)
    asked = cluster.get("counts") if cluster.name == "simulated" else {}
    kept = _heap(spark) - before
    later = sorted([seconds, *(_plan(spark, cluster)[0] for _ in range(rounds - 1))])
    slices = str(leaf.scan().description()).split("slices: ")[1].split(" ")[0]
    target = _TARGETS.get((cluster.name, shape))
    cells = [
        cluster.name,
        f"{partitions:,}",
        f"{partitions * ledgers:,}",
        f"{first:.2f}",
        f"{later[len(later) // 2]:.2f}",
        f"at most {target:.0f}" if target else "",
        f"{kept:.0f}",
        slices,
        str(leaf.inputPartitions().size()),
    ]
    row = f"| {' | '.join(cells)} |"
    print(row, asked, flush=True)
    return row


def _numbers(shape: str) -> tuple[int, int]:
    """The partitions, and the ledgers of each."""
    partitions, ledgers = shape.split("x")
    return int(partitions), int(ledgers)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--local", nargs="*", default=_LOCAL, help="partitions x ledgers of each, on a server")
    parser.add_argument("--simulated", nargs="*", default=_SIMULATED, help="the same of a simulated topic")
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parser.add_argument("--java-options", default="", help="for the driver, such as a profiler's")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    load = getloadavg()[0]
    rows = []
    # A new process has a driver without compiled code, loaded classes and heap of an earlier size.
    with get_context("spawn").Pool(1, maxtasksperchild=1) as drivers:
        for make, shapes in ((_simulated, arguments.simulated), (_local, arguments.local)):
            for shape in shapes:
                with make(*_numbers(shape)) as cluster:
                    rows.append(drivers.apply(_measure, (cluster, shape, arguments.rounds, arguments.java_options)))
    if not arguments.dry:
        now = f"{datetime.now(timezone.utc):%Y-%m-%d}"
        said = f"{now}, {cpu_count()} cores, load average {load:.1f} before and {getloadavg()[0]:.1f} after."
        made = "Made by `make bench-planning`, not by hand. Each size has a driver of its own."
        text = "\n".join(("# Planning", "", made, "", said, "", *_HEADER, *rows, ""))
        keep(HERE / "results" / "planning.md", text)


if __name__ == "__main__":
    main()
