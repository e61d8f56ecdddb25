"""What thousands of topics cost a stream: ``make bench-width``.

With options:

    .venv-4.1/bin/python -m benchmarks.streams.width [--baseline other.jar] [--topics 3000] [--busy 30] [--seconds 60]

A stream reads topics of one message each by a pattern, with a trigger each second. Two phases: nothing arrives, and
some topics receive a message each second. Each has the time of ``latestOffset`` and the CPU time of driver and broker.
A third phase counts the requests of each trigger at a proxy of the broker, while nothing arrives; then the proxy cuts
all connections, and counts what it takes to come back. A baseline, such as the jar of an earlier version, does the same
in turn on the same server. Writes ``width-<topics>.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulsar
from admin import Admin
from broker_proxy import running_broker_proxy
from counting import counted
from pyspark.sql import SparkSession
from waiting import eventually

from benchmarks.arena import HERE
from benchmarks.processes import cpu_seconds
from benchmarks.report import keep
from benchmarks.run import say
from pulsar_spark import jar_path
from pulsar_spark.local import LocalPulsar

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

_NAMESPACE = "public/wide"
_START_SECONDS = 300.0
_COUNT_SECONDS = 15.0
_RETURN_SECONDS = 45.0
_PROGRESS = "0s"  # of each trigger, idle ones too


@dataclass(frozen=True)
class Phase:
    """What a stream did for a while: milliseconds of `latestOffset` by trigger, and cores in use."""

    millis: list[int]
    driver: float
    broker: float

    def cells(self) -> list[str]:
        """The figures of a row."""
        return [
            f"{statistics.median(self.millis):.0f} ({min(self.millis)}-{max(self.millis)})",
            f"{self.driver:.2f}",
            f"{self.broker:.2f}",
        ]


def _settle(topics: int) -> float:
    """Seconds in which a stream watches all its topics: those that stood still for 5 s, 256 at each trigger."""
    return 20 + topics / 200


class Query:
    """A stream in a process of its own, which `_serve` runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = int(self._answer())

    def begin(self, service_url: str, topics: int) -> tuple[float, float]:
        """Start it, and wait until it has read all topics.

        Returns:
            The seconds until its first tasks, and until it has read all.
        """
        tasks, read = json.loads(self._ask(f"begin {service_url} {topics}"))
        return float(tasks), float(read)

    def millis(self) -> list[int]:
        """The times of `latestOffset` since the last call."""
        return [int(one) for one in json.loads(self._ask("millis"))]

    def end(self) -> None:
        """Stop it."""
        self._ask("end")

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process of the stream ended")
        return line.strip()


@contextmanager
def _query(jar: Path, log: Path) -> Iterator[Query]:
    command = [sys.executable, "-m", "benchmarks.streams.width", "--serve", str(jar)]
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        yield Query(process)
        assert process.stdin is not None
        process.stdin.close()


def _serve(jar: Path) -> None:
    """Do what the standard input says."""
    builder = SparkSession.builder.master("local[2]").config("spark.jars", str(jar))
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.streaming.noDataProgressEventInterval", _PROGRESS)
    spark = builder.getOrCreate()
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - there is no public way
    print(jvm.ProcessHandle.current().pid(), flush=True)
    query: Any = None
    seen = ""
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "begin":
            began = time.monotonic()
            options = {"service.url": rest[0], "topicsPattern": f"{_NAMESPACE}/t.*", "startingOffsets": "earliest"}
            writer = spark.readStream.format("pulsar").options(**options).load().writeStream.format("noop")
            query = writer.trigger(processingTime="1 second").start()
            _wait(query, int(rest[1]))
            took = time.monotonic() - began
            tasks = max(one["durationMs"].get("addBatch", 0) for one in query.recentProgress) / 1000
            print(json.dumps([took - tasks, took]), flush=True)
        elif word == "millis":
            fresh = [one for one in query.recentProgress if one["timestamp"] > seen]
            seen = max([seen, *(one["timestamp"] for one in fresh)])
            print(json.dumps([one["durationMs"].get("latestOffset", 0) for one in fresh]), flush=True)
        elif word == "end":
            query.stop()
            seen = ""
            print("ended", flush=True)
    spark.stop()


def _wait(query: Any, rows: int) -> None:  # noqa: ANN401 - of two kinds
    def look() -> bool:
        failure = query.exception()
        if failure is not None:
            raise RuntimeError(str(failure))
        read: int = sum(one["numInputRows"] for one in query.recentProgress)
        return read >= rows

    eventually(look, seconds=_START_SECONDS)


def _fill(client: pulsar.Client, topics: int) -> None:
    for number in range(topics):
        producer = client.create_producer(_topic(number))
        producer.send(b"first")
        producer.close()


def _topic(number: int) -> str:
    return f"persistent://{_NAMESPACE}/t{number:05}"


def _send(seconds: float, producers: list[pulsar.Producer]) -> float:
    """A message from each producer, each second; returns the seconds it took."""
    began = time.monotonic()
    while (now := time.monotonic()) < began + seconds:
        for producer in producers:
            producer.send_async(b"next", None)
        time.sleep(max(0.0, min(now + 1, began + seconds) - time.monotonic()))
    return time.monotonic() - began


def _during(query: Query, server: int, seconds: float, producers: list[pulsar.Producer]) -> Phase:
    query.millis()
    before = cpu_seconds(query.pid), cpu_seconds(server)
    took = _send(seconds, producers)
    driver, broker = cpu_seconds(query.pid) - before[0], cpu_seconds(server) - before[1]
    return Phase(query.millis(), driver / took, broker / took)


def _alone(server: int, seconds: float, producers: list[pulsar.Producer]) -> str:
    """What the broker takes without a stream, in cores."""
    before = cpu_seconds(server)
    took = _send(seconds, producers)
    return f"{(cpu_seconds(server) - before) / took:.2f}"


def _measure(
    name: str, jar: Path, server: LocalPulsar, producers: list[pulsar.Producer], topics: int, seconds: float, log: Path
) -> str:
    with _query(jar, log) as query:
        planned, took = query.begin(server.service_url, topics)
        time.sleep(_settle(topics))
        idle = _during(query, server.pid, seconds, [])
        busy = _during(query, server.pid, seconds, producers)
        query.end()
        say(f"{name}: planned in {planned:.1f} s, read in {took:.1f} s, idle {idle.cells()}, busy {busy.cells()}")
        with running_broker_proxy(server.service_url) as proxy:
            query.begin(proxy.service_url, topics)
            time.sleep(_settle(topics))
            with counted(proxy) as counts:
                time.sleep(_COUNT_SECONDS)
                requests: Counter[str] = counts.requests("driver", "shared", "unknown")
            query.millis()
            with counted(proxy) as counts:
                proxy.cut()
                time.sleep(_RETURN_SECONDS)
                back: Counter[str] = counts.requests("driver", "shared", "unknown")
            slowest = max(query.millis())
            query.end()
    triggers = max(1, requests["GET_TOPICS_OF_NAMESPACE"])  # one each
    shown = ", ".join(f"{kind} {number / triggers:.0f}" for kind, number in sorted(requests.items()))
    returned = ", ".join(f"{kind} {back[kind]}" for kind in ("CONNECT", "LOOKUP", "SUBSCRIBE", "GET_LAST_MESSAGE_ID"))
    cells = [f"{planned:.1f}, {took:.1f}", *idle.cells(), *busy.cells(), shown, f"{returned}; {slowest} ms"]
    return f"| {name} | {' | '.join(cells)} |"


_HEAD = """# Width: {topics:,} topics

Made by `make bench-width`, not by hand: a stream with a trigger each second, by a pattern, in Spark `local[2]`; the
broker and the other load of the machine share its {cores} cores, load average {load:.1f} at the end. Compare the rows,
not with other runs. {busy} topics receive a message each second where "busy" is said. Milliseconds are those of
`latestOffset`, median (least to most) over triggers; cores are CPU seconds of the process a second, over
{seconds:.0f} s. The broker is a standalone server; its cores without a stream are in the first row. "Start" is how long
a stream takes until its first tasks, and until it has read the first message of all topics. "Cut" is after a proxy has
cut all connections while nothing arrives: the requests of {back:.0f} s, and the longest `latestOffset`.

| jar | start, s | idle ms | driver | broker | busy ms | driver | broker | idle requests | cut |
|---|--:|--:|--:|--:|--:|--:|--:|---|---|
"""


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure a stream over many topics.")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--baseline", type=Path, help="a jar to compare with")
    parser.add_argument("--jar", type=Path, help="the jar to measure, that of the package by default")
    parser.add_argument("--topics", type=int, default=3000)
    parser.add_argument("--busy", type=int, default=30, help="topics that receive a message each second")
    parser.add_argument("--seconds", type=float, default=60, help="how long each phase lasts")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    if chosen.serve:
        _serve(chosen.serve)
        return 0
    jars = {**({"before": chosen.baseline} if chosen.baseline else {}), "after": chosen.jar or jar_path()}
    with LocalPulsar(heap="1g", direct="1g") as server, tempfile.TemporaryDirectory(prefix="pulsar-spark-") as work:
        Admin(server.admin_url).create_namespace(_NAMESPACE)
        client = pulsar.Client(server.service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
        try:
            _fill(client, chosen.topics)
            say(f"{chosen.topics:,} topics filled")
            producers = [client.create_producer(_topic(number)) for number in range(chosen.busy)]
            time.sleep(_settle(chosen.topics))
            alone = [_alone(server.pid, chosen.seconds, sent) for sent in ([], producers)]
            say(f"the broker takes {alone[0]} cores idle and {alone[1]} busy without a stream")
            rows = [f"| no stream | | | | {alone[0]} | | | {alone[1]} | | |"]
            rows += [
                _measure(name, jar, server, producers, chosen.topics, chosen.seconds, Path(work) / f"{name}.log")
                for name, jar in jars.items()
            ]
        finally:
            client.close()
    head = _HEAD.format(
        topics=chosen.topics,
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        busy=chosen.busy,
        seconds=chosen.seconds,
        back=_RETURN_SECONDS,
    )
    keep(chosen.output / f"width-{chosen.topics}.md", head + "\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
