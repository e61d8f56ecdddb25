"""What thousands of topics cost a stream: ``make bench-width``.

With options:

    .venv-4.1/bin/python -m benchmarks.width [--baseline other.jar] [--topics 3000] [--busy 30,300,1000] [--seconds 60]
        [--size 4] [--pulsar-alone] [--without-requests] [--pages]

A stream reads topics of one message each by a pattern, with a trigger each second. In the first phase nothing arrives,
then some topics receive a message each second, then more of them. Each has the time of ``latestOffset`` and the CPU
time of driver and server, busy ones also the time of whole triggers. A last phase counts the requests of each trigger
at a proxy of the broker, while nothing arrives; then the proxy cuts all connections, and counts what it takes to come
back. A baseline, such as the jar of an earlier version, does the same in turn on the same server. Spark's Kafka source
reads a topic of as many partitions in the same run. A run replaces the earlier one over as many topics in
``results/width.json``, and writes ``width.md`` and plots from it; ``--pages`` writes the last two alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar

from benchmarks import kafka
from benchmarks.arena import HERE, SERVER_HEAP, compiled, java_commands, spark_kafka_jars
from benchmarks.processes import Worker, cpu_seconds, stolen_seconds
from benchmarks.run import say
from benchmarks.width.figures import OWN, Cut, Phase, Run, Stream
from benchmarks.width.page import add, write
from benchmarks.width.query import KAFKA_TOPIC, NAMESPACE, Query, running_query
from pulsar_spark import jar_path
from pulsar_spark.local import LocalPulsar
from support.proxies.broker_proxy import running_broker_proxy
from support.proxies.counting import counted
from support.servers.admin import Admin

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence

COUNT_SECONDS = 15.0
RETURN_SECONDS = 45.0


def _settle(topics: int) -> float:
    """Seconds in which a stream watches all its topics: 256 more at each trigger, and each once more to confirm it."""
    return 20 + topics / 80


def _fill(client: pulsar.Client, topics: int) -> None:
    for number in range(topics):
        producer = client.create_producer(_topic(number))
        producer.send(b"first")
        producer.close()


def _topic(number: int) -> str:
    return f"persistent://{NAMESPACE}/t{number:05}"


def _send(producers: list[pulsar.Producer], size: int, busy: int, seconds: float) -> None:
    """A message of so many bytes from each of so many producers, each second."""
    began = time.monotonic()
    while (now := time.monotonic()) < began + seconds:
        for producer in producers[:busy]:
            producer.send_async(bytes(size), None)
        time.sleep(max(0.0, min(now + 1, began + seconds) - time.monotonic()))


@dataclass(frozen=True)
class Server:
    """A server, the source that reads it, and how so many topics receive a message each second, for so many seconds."""

    source: str
    address: str
    pid: int
    send: Callable[[int, float], object]

    def during(self, busy: int, seconds: float) -> float:
        """Wait for so long while so many topics are busy; returns the cores that the server used."""
        before, began = cpu_seconds(self.pid), time.monotonic()
        if busy:
            self.send(busy, seconds)
        else:
            time.sleep(seconds)
        return (cpu_seconds(self.pid) - before) / (time.monotonic() - began)


@dataclass(frozen=True)
class Plan:
    """How much is measured; see the arguments of `main`."""

    topics: int
    busy: Sequence[int]
    seconds: float
    counts_requests: bool

    def alone(self, name: str, server: Server) -> dict[int, float]:
        """What the server takes without a stream, in cores, by how many topics are busy."""
        time.sleep(_settle(self.topics))
        cores = {busy: server.during(busy, self.seconds) for busy in (0, *self.busy)}
        say(f"{name}, no stream: {cores}")
        return cores

    def measured(self, name: str, jars: list[Path], server: Server, log: Path) -> Stream:
        """A stream in a process of its own."""
        with running_query(jars, log) as query:
            planned, read, offset = query.begin(server.source, server.address, self.topics)
            say(f"{name}: planned in {planned:.1f} s, read in {read:.1f} s")
            time.sleep(_settle(self.topics))
            phases = {busy: self._during(query, server, busy) for busy in (0, *self.busy)}
            query.end()
            is_counted = self.counts_requests and server.source == "pulsar"
            requests, cut = self._requests(query, server) if is_counted else ({}, None)
        return Stream(name, planned, read, offset, phases.pop(0), phases, requests, cut)

    def _during(self, query: Query, server: Server, busy: int) -> Phase:
        query.times()
        before, began = cpu_seconds(query.pid), time.monotonic()
        cores = server.during(busy, self.seconds)
        driver = (cpu_seconds(query.pid) - before) / (time.monotonic() - began)
        times = query.times()
        say(f"{busy} busy: {times}, driver {driver:.2f}, server {cores:.2f}")
        return Phase(times.looks, times.triggers, driver, cores)

    def _requests(self, query: Query, server: Server) -> tuple[dict[str, float], Cut]:
        """Those of a trigger that finds nothing, and those after a cut of all connections."""
        with running_broker_proxy(server.address) as proxy:
            query.begin(server.source, proxy.service_url, self.topics)
            time.sleep(_settle(self.topics))
            with counted(proxy) as counts:
                time.sleep(COUNT_SECONDS)
                idle: Counter[str] = counts.requests("driver", "shared", "unknown")
            query.times()
            with counted(proxy) as counts:
                proxy.cut()
                time.sleep(RETURN_SECONDS)
                back: Counter[str] = counts.requests("driver", "shared", "unknown")
            slowest = max(query.times().looks)
            query.end()
        triggers = max(1, idle["GET_TOPICS_OF_NAMESPACE"])  # one each
        return {kind: number / triggers for kind, number in idle.items()}, Cut(dict(back), slowest)


@contextmanager
def _kafka(server: kafka.LocalKafka, work: Path, partitions: int) -> Iterator[Server]:
    """A topic of so many partitions with one message each."""
    with Worker([*java_commands(compiled(work))["kafka"], server.servers], work / "sender.log") as sender:

        def send(count: int, seconds: float) -> None:
            pace = {"rate": count, "burst": count, "partitions": count, "seconds": round(seconds), "linger": 1}
            sender.ask("pace", {"topic": KAFKA_TOPIC, **pace})

        sender.ask("create", {"topic": KAFKA_TOPIC, "partitions": partitions})
        send(partitions, 1)
        say(f"{partitions:,} partitions filled")
        yield Server("kafka", server.servers, server.pid, send)


def _run(plan: Plan, jars: dict[str, Path], size: int, *, has_kafka: bool) -> Run:
    stolen = stolen_seconds()
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulsar-spark-")))
        local = stack.enter_context(LocalPulsar(heap="1g", direct="1g"))
        Admin(local.admin_url).create_namespace(NAMESPACE)
        client = pulsar.Client(local.service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
        stack.callback(client.close)
        _fill(client, plan.topics)
        say(f"{plan.topics:,} topics filled")
        producers = [client.create_producer(_topic(number)) for number in range(max(plan.busy))]
        server = Server("pulsar", local.service_url, local.pid, partial(_send, producers, size))
        alone = {"Pulsar": plan.alone("Pulsar", server)}
        streams = [plan.measured(name, [jar], server, work / f"{name}.log") for name, jar in jars.items()]
        if has_kafka:
            other = stack.enter_context(kafka.LocalKafka(SERVER_HEAP))
            server = stack.enter_context(_kafka(other, work, plan.topics))
            alone["Kafka"] = plan.alone("Kafka", server)
            streams.append(plan.measured("Spark-Kafka", spark_kafka_jars(), server, work / "kafka.log"))
    load, stolen = os.getloadavg()[0], stolen_seconds() - stolen
    return Run(plan.topics, size, plan.seconds, round(load, 1), round(stolen, 1), alone, streams)


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure a stream over many topics.")
    parser.add_argument("--pulsar-alone", action="store_true", help="without Kafka, which has files for each partition")
    parser.add_argument("--baseline", type=Path, help="a jar to compare with")
    parser.add_argument("--topics", type=int, default=3000)
    parser.add_argument("--busy", default="30,300,1000", help="topics that receive a message each second, rising")
    parser.add_argument("--size", type=int, default=4, help="bytes of such a message")
    parser.add_argument("--without-requests", action="store_true", help="without the last phase")
    parser.add_argument("--seconds", type=float, default=60, help="how long each phase lasts")
    parser.add_argument("--pages", action="store_true", help="write the page and the plots of earlier results")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    file = chosen.output / "width.json"
    if not chosen.pages:
        jars = {**({f"{OWN}, before": chosen.baseline} if chosen.baseline else {}), OWN: jar_path()}
        busy = [int(one) for one in chosen.busy.split(",")]
        plan = Plan(chosen.topics, busy, chosen.seconds, not chosen.without_requests)
        add(file, asdict(_run(plan, jars, chosen.size, has_kafka=not chosen.pulsar_alone)))
    write(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
