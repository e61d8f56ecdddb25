"""How long looks into a cluster take, in SQL, Python and a shell: ``python -m benchmarks.driver.looking``.

On a local server with thousands of topics. Beside each case stands what the same look costs without the connector:
Pulsar's own command line, or one request to the admin service. Writes ``results/looking.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from os import cpu_count, getloadavg
from statistics import median
from typing import TYPE_CHECKING

import pulsar
from pyspark.sql import SparkSession

import pulsar_spark
from benchmarks.arena import HERE, jdk_tool
from benchmarks.report import keep
from pulsar_spark.local import LocalPulsar
from pulsar_spark.local.versions import libraries

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMESPACE = "public/many"
_WIDE = "public/default/wide"
_TALKED = "public/default/talked"
_ROUNDS = 5
_ADMIN_TOOL = "org.apache.pulsar.admin.cli.PulsarAdminTool"
_CLIENT_TOOL = "org.apache.pulsar.client.cli.PulsarClientTool"
_HEADER = (
    "| look | first (s) | later, median (s) | target (s) | beside it | its median (s) |",
    "|---|--:|--:|--:|---|--:|",
)


@dataclass(frozen=True)
class Look:
    """A way to look, and what it is compared with.

    Attributes:
        name: What is shown.
        run: Looks once.
        beside: The name of the baseline.
        baseline: Runs it once.
        target: The most seconds that it may take.
    """

    name: str
    run: Callable[[], object]
    beside: str
    baseline: Callable[[], object]
    target: float | None


def _seconds(work: Callable[[], object]) -> float:
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def _row(look: Look) -> str:
    first, *later = (_seconds(look.run) for _ in range(_ROUNDS + 1))
    beside = median(_seconds(look.baseline) for _ in range(_ROUNDS))
    target = f"at most {look.target:g}" if look.target is not None else ""
    cells = [look.name, f"{first:.2f}", f"{median(later):.2f}", target, look.beside, f"{beside:.2f}"]
    row = f"| {' | '.join(cells)} |"
    print(row, flush=True)
    return row


def _request(url: str, method: str = "GET", body: object = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as answer:
        return bytes(answer.read())


def _fill(server: LocalPulsar, topics: int, partitions: int) -> None:
    """Make topics, a third of them partitions of partitioned ones, a wide topic with messages, and one to peek at."""
    admin = f"{server.admin_url}/admin/v2"
    _request(f"{admin}/namespaces/{_NAMESPACE}", "PUT", {})
    plain, parted = topics * 2 // 3, topics // 3 // 10

    def create(number: int) -> None:
        name = f"{admin}/persistent/{_NAMESPACE}/topic-{number}"
        if number < plain:
            _request(name, "PUT")
        else:
            _request(f"{name}/partitions", "PUT", 10)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(create, range(plain + parted)))
    _request(f"{admin}/persistent/{_WIDE}/partitions", "PUT", partitions)
    client = pulsar.Client(server.service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    try:
        routing = pulsar.PartitionsRoutingMode.RoundRobinDistribution
        for topic, count in ((_WIDE, partitions), (_TALKED, 1000)):
            producer = client.create_producer(topic, batching_enabled=False, message_routing_mode=routing)
            for number in range(count):
                producer.send_async(str(number).encode(), None)
            producer.flush()
    finally:
        client.close()


def _tool(main: str, *arguments: str) -> None:
    """Run one of Pulsar's own command lines, as its shell scripts do."""
    command = [jdk_tool("java"), "-cp", f"{libraries()}/*", main, os.devnull, *arguments]  # no settings
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)


def _verb(server: LocalPulsar, *arguments: str) -> None:
    """Run a verb of the command line in a process of its own."""
    command = [sys.executable, "-m", "pulsar_spark.cli", *arguments]
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=120,
        env={**os.environ, "PULSAR_SERVICE_URL": server.service_url, "PULSAR_ADMIN_URL": server.admin_url},
    )


def _looks(spark: SparkSession, server: LocalPulsar, topics: int, partitions: int) -> list[Look]:
    inside = pulsar_spark.PulsarCluster(service_url=server.service_url, admin_url=server.admin_url).on(spark)
    inside.register_catalog()
    namespace, lists = _NAMESPACE.replace("/", "."), f"{server.admin_url}/admin/v2/persistent/{_NAMESPACE}"
    in_cli = ("--url", server.service_url)
    in_admin = ("--admin-url", server.admin_url)
    shown = topics * 2 // 3 + topics // 3 // 10

    def list_tables() -> None:
        found = spark.sql(f"SHOW TABLES IN pulsar.{namespace}").count()
        assert found == shown, found

    def lag() -> None:
        assert len(inside.lag(_WIDE, start="earliest")) == partitions

    return [
        Look(
            f"SQL: `SHOW TABLES` of {topics:,} topics",
            list_tables,
            "one request to the admin service",
            lambda: _request(lists),
            0.5,
        ),
        Look(
            "SQL: `DESCRIBE` of a topic",
            lambda: spark.sql("DESCRIBE pulsar.public.default.talked").collect(),
            '`format("pulsar").load()`',
            lambda: pulsar_spark.read_pulsar(spark, _TALKED, service_url=server.service_url).schema,
            None,
        ),
        Look(
            f"Python: `lag` of {partitions:,} partitions",
            lag,
            "`pulsar-admin topics partitioned-stats`",
            lambda: _tool(_ADMIN_TOOL, *in_admin, "topics", "partitioned-stats", _WIDE),
            5.0,
        ),
        Look(
            f"shell: `pulsar-spark topics` of {topics:,} topics",
            lambda: _verb(server, "topics", _NAMESPACE),
            "`pulsar-admin topics list`",
            lambda: _tool(_ADMIN_TOOL, *in_admin, "topics", "list", _NAMESPACE),
            3.0,
        ),
        Look(
            "shell: `pulsar-spark peek`",
            lambda: _verb(server, "peek", _TALKED),
            "`pulsar-client consume` of 10 messages",
            lambda: _tool(_CLIENT_TOOL, *in_cli, "consume", "-n", "10", "-s", "peek", "-p", "Earliest", _TALKED),
            3.0,
        ),
        Look(
            "shell: `pulsar-spark doctor`",
            lambda: _verb(server, "doctor", _TALKED),
            "`pulsar-admin brokers healthcheck`",
            lambda: _tool(_ADMIN_TOOL, *in_admin, "brokers", "healthcheck"),
            None,
        ),
    ]


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=3000, help="topics of a namespace, each partition counted")
    parser.add_argument("--partitions", type=int, default=1000, help="partitions of the topic whose lag is measured")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    load = getloadavg()[0]
    with LocalPulsar(heap="1g", direct="1g") as server:
        _fill(server, arguments.topics, arguments.partitions)
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        spark = pulsar_spark.configure(builder.config("spark.log.level", "ERROR")).getOrCreate()
        rows = [_row(look) for look in _looks(spark, server, arguments.topics, arguments.partitions)]
        spark.stop()
    if not arguments.dry:
        now = f"{datetime.now(timezone.utc):%Y-%m-%d}"
        said = f"{now}, {cpu_count()} cores, load average {load:.1f} before and {getloadavg()[0]:.1f} after."
        text = "\n".join(
            (
                "# Looking into a cluster",
                "",
                "Made by `make bench-looking`, not by hand.",
                "",
                said,
                "",
                *_HEADER,
                *rows,
            )
        )
        keep(HERE / "results" / "looking.md", text + "\n")


if __name__ == "__main__":
    main()
