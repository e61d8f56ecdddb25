"""What thousands of topics cost a stream: ``make bench-width``.

With options:

    .venv-4.1/bin/python -m benchmarks.streams.width [--baseline other.jar] [--topics 3000] [--busy 30] [--seconds 60]
        [--size 4] [--without-requests]

A stream reads topics of one message each by a pattern, with a trigger each second. Two phases: nothing arrives, and
some topics receive a message each second. Each has the time of ``latestOffset`` and the CPU time of driver and broker,
the second also the time of whole triggers.
A third phase counts the requests of each trigger at a proxy of the broker, while nothing arrives; then the proxy cuts
all connections, and counts what it takes to come back. A baseline, such as the jar of an earlier version, does the same
in turn on the same server. Spark's Kafka source reads a topic of as many partitions in the same run. Writes
``width-<topics>.md``, with ``-busy-<topics>`` in its name for another number of busy topics than 30.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar

from benchmarks import kafka
from benchmarks.arena import HERE, SERVER_HEAP, compiled, java_commands, spark_kafka_jars
from benchmarks.processes import Worker, cpu_seconds
from benchmarks.report import keep
from benchmarks.run import say
from benchmarks.streams.width_query import KAFKA_TOPIC, NAMESPACE, Query, Times, running_query
from pulsar_spark import jar_path
from pulsar_spark.local import LocalPulsar
from support.proxies.broker_proxy import running_broker_proxy
from support.proxies.counting import counted
from support.servers.admin import Admin

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

_BUSY = 30
_COUNT_SECONDS = 15.0
_RETURN_SECONDS = 45.0


@dataclass(frozen=True)
class Phase:
    """What a stream did for a while, and cores in use."""

    times: Times
    driver: float
    broker: float

    def cells(self) -> list[str]:
        """The figures of a row."""
        return [_spread(self.times.looks), f"{self.driver:.2f}", f"{self.broker:.2f}"]

    def triggers(self) -> str:
        """Those of whole triggers that read messages."""
        return _spread(self.times.triggers)


def _spread(millis: list[int]) -> str:
    return f"{statistics.median(millis):.0f} ({min(millis)}-{max(millis)})"


def _settle(topics: int) -> float:
    """Seconds in which a stream watches all its topics: those that stood still for 5 s, 256 at each trigger."""
    return 20 + topics / 200


def _fill(client: pulsar.Client, topics: int) -> None:
    for number in range(topics):
        producer = client.create_producer(_topic(number))
        producer.send(b"first")
        producer.close()


def _topic(number: int) -> str:
    return f"persistent://{NAMESPACE}/t{number:05}"


def _send(producers: list[pulsar.Producer], size: int, seconds: float) -> None:
    """A message of so many bytes from each producer, each second."""
    began = time.monotonic()
    while (now := time.monotonic()) < began + seconds:
        for producer in producers:
            producer.send_async(bytes(size), None)
        time.sleep(max(0.0, min(now + 1, began + seconds) - time.monotonic()))


@dataclass(frozen=True)
class Server:
    """A server, the source that reads it, and how some topics receive a message each second, for so many seconds."""

    source: str
    address: str
    pid: int
    send: Callable[[float], object]


def _during(query: Query, server: Server, seconds: float, send: Callable[[float], object]) -> Phase:
    query.times()
    before, began = (cpu_seconds(query.pid), cpu_seconds(server.pid)), time.monotonic()
    send(seconds)
    took = time.monotonic() - began
    driver, broker = cpu_seconds(query.pid) - before[0], cpu_seconds(server.pid) - before[1]
    return Phase(query.times(), driver / took, broker / took)


def _alone(name: str, server: Server, topics: int, seconds: float) -> str:
    """What the broker takes without a stream, in cores."""
    time.sleep(_settle(topics))
    cores = []
    for send in (time.sleep, server.send):
        before, began = cpu_seconds(server.pid), time.monotonic()
        send(seconds)
        cores.append(f"{(cpu_seconds(server.pid) - before) / (time.monotonic() - began):.2f}")
    say(f"{name}: the broker takes {' and '.join(cores)} cores idle and busy")
    return f"| {name} | | | | {cores[0]} | | | | {cores[1]} | | |"


def _measure(
    name: str, jars: list[Path], server: Server, topics: int, seconds: float, log: Path, *, counts_requests: bool
) -> str:
    with running_query(jars, log) as query:
        planned, took = query.begin(server.source, server.address, topics)
        time.sleep(_settle(topics))
        idle = _during(query, server, seconds, time.sleep)
        busy = _during(query, server, seconds, server.send)
        query.end()
        say(f"{name}: planned in {planned:.1f} s, read in {took:.1f} s, idle {idle.cells()}")
        say(f"{name}: busy {busy.triggers()}, {busy.cells()}")
        requests = _requests(query, server, topics) if counts_requests else [""] * 2
    cells = [f"{planned:.1f}, {took:.1f}", *idle.cells(), busy.triggers(), *busy.cells(), *requests]
    return f"| {name} | {' | '.join(cells)} |"


def _requests(query: Query, server: Server, topics: int) -> list[str]:
    """Those of a trigger that finds nothing, and those after a cut of all connections."""
    with running_broker_proxy(server.address) as proxy:
        query.begin(server.source, proxy.service_url, topics)
        time.sleep(_settle(topics))
        with counted(proxy) as counts:
            time.sleep(_COUNT_SECONDS)
            requests: Counter[str] = counts.requests("driver", "shared", "unknown")
        query.times()
        with counted(proxy) as counts:
            proxy.cut()
            time.sleep(_RETURN_SECONDS)
            back: Counter[str] = counts.requests("driver", "shared", "unknown")
        slowest = max(query.times().looks)
        query.end()
    triggers = max(1, requests["GET_TOPICS_OF_NAMESPACE"])  # one each
    shown = ", ".join(f"{kind} {number / triggers:.0f}" for kind, number in sorted(requests.items()))
    returned = ", ".join(f"{kind} {back[kind]}" for kind in ("CONNECT", "LOOKUP", "SUBSCRIBE", "GET_LAST_MESSAGE_ID"))
    return [shown, f"{returned}; {slowest} ms"]


_HEAD = """# Width: {topics:,} topics

Made by `make bench-width`, not by hand: a stream with a trigger each second, by a pattern, in Spark `local[2]`; the
broker and the other load of the machine share its {cores} cores, load average {load:.1f} at the end. Compare the rows,
not with other runs. {busy} topics receive a message of {size:,} bytes each second where "busy" is said. Milliseconds
are those of `latestOffset`, median (least to most) over triggers; "trigger ms" are those of whole triggers that read
messages. Cores are CPU seconds of the process a second, over
{seconds:.0f} s. The broker is a standalone server; its cores without a stream are in the first row. "Start" is how long
a stream takes until its first tasks, and until it has read the first message of all topics. "Cut" is after a proxy has
cut all connections while nothing arrives: the requests of {back:.0f} s, and the longest `latestOffset`. Spark-Kafka
reads one topic of {topics:,} partitions from a server of its own, while Pulsar's is idle.

| stream | start, s | idle ms | driver | broker | busy trigger ms | busy ms | driver | broker | idle requests | cut |
|---|--:|--:|--:|--:|--:|--:|--:|--:|---|---|
"""


@contextmanager
def _kafka(server: kafka.LocalKafka, work: Path, partitions: int, busy: int) -> Iterator[Server]:
    """A topic of so many partitions with one message each."""
    with Worker([*java_commands(compiled(work))["kafka"], server.servers], work / "sender.log") as sender:

        def send(seconds: float, count: int = busy) -> None:
            pace = {"rate": count, "burst": count, "partitions": count, "seconds": round(seconds)}
            sender.ask("pace", {"topic": KAFKA_TOPIC, **pace})

        sender.ask("create", {"topic": KAFKA_TOPIC, "partitions": partitions})
        send(1, partitions)
        say(f"{partitions:,} partitions filled")
        yield Server("kafka", server.servers, server.pid, send)


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure a stream over many topics.")
    parser.add_argument("--pulsar-alone", action="store_true", help="without Kafka, which has files for each partition")
    parser.add_argument("--baseline", type=Path, help="a jar to compare with")
    parser.add_argument("--jar", type=Path, help="the jar to measure, that of the package by default")
    parser.add_argument("--topics", type=int, default=3000)
    parser.add_argument("--busy", type=int, default=_BUSY, help="topics that receive a message each second")
    parser.add_argument("--size", type=int, default=4, help="bytes of such a message")
    parser.add_argument("--without-requests", action="store_true", help="without the third phase")
    parser.add_argument("--seconds", type=float, default=60, help="how long each phase lasts")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    jars = {
        **({"pulsar-spark, before": chosen.baseline} if chosen.baseline else {}),
        "pulsar-spark": chosen.jar or jar_path(),
    }
    topics, seconds = chosen.topics, chosen.seconds
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulsar-spark-")))
        local = stack.enter_context(LocalPulsar(heap="1g", direct="1g"))
        Admin(local.admin_url).create_namespace(NAMESPACE)
        client = pulsar.Client(local.service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
        stack.callback(client.close)
        _fill(client, topics)
        say(f"{topics:,} topics filled")
        producers = [client.create_producer(_topic(number)) for number in range(chosen.busy)]
        server = Server("pulsar", local.service_url, local.pid, partial(_send, producers, chosen.size))
        rows = [_alone("Pulsar, no stream", server, topics, seconds)]
        for name, jar in jars.items():
            log = work / f"{name}.log"
            counts = not chosen.without_requests
            rows.append(_measure(name, [jar], server, topics, seconds, log, counts_requests=counts))
        if not chosen.pulsar_alone:
            other = stack.enter_context(kafka.LocalKafka(SERVER_HEAP))
            server = stack.enter_context(_kafka(other, work, topics, chosen.busy))
            rows.append(_alone("Kafka, no stream", server, topics, seconds))
            log = work / "kafka.log"
            rows.append(
                _measure("Spark-Kafka", spark_kafka_jars(), server, topics, seconds, log, counts_requests=False)
            )
    head = _HEAD.format(
        topics=chosen.topics,
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        busy=chosen.busy,
        size=chosen.size,
        seconds=chosen.seconds,
        back=_RETURN_SECONDS,
    )
    busy_name = "" if chosen.busy == _BUSY else f"-busy-{chosen.busy}"
    keep(chosen.output / f"width-{chosen.topics}{busy_name}.md", head + "\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
