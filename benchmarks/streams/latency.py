"""How long a message takes to become a row of a stream, beside Spark's Kafka source: ``make bench-latency``.

With options:

    .venv-4.1/bin/python -m benchmarks.streams.latency [--seconds 20] [--rounds 3]

One query at a time reads one topic without a trigger: a micro-batch begins when the one before ends. A client of the
same server sends messages at a steady rate, each with the time when it is due. Spark reads the clock when a task has
the row. A second phase sends ten messages each second, so that each micro-batch has ten rows: it shows what a
micro-batch costs, beside Spark's own `rate` source, which has no server, and the connector behind a proxy that delays
each command of broker and client. In a third phase nothing is sent, and a trigger each 100 ms finds nothing. Sources
take turns. Writes ``latency.md``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import kafka
from benchmarks.arena import HERE, SERVER_HEAP, compiled, java_commands, local_pulsar
from benchmarks.processes import Worker, cpu_seconds
from benchmarks.report import keep
from benchmarks.run import say
from benchmarks.streams.queries import Queries, running_queries
from support.proxies.broker_proxy import running_broker_proxy

_TOPIC = "latency"
_WARM_SECONDS = 8
_START_SECONDS = 10
_STEADY, _BURSTS = "1,000 messages a second", "10 messages at once, each second"
_PHASES = {_STEADY: (1000, 1), _BURSTS: (10, 10)}
_DELAYS_MILLIS = (0, 1, 5)
_IDLE_TRIGGER_MILLIS = 100
# Kafka's default. Pulsar's is 1, so its server would get five times the batches.
_LINGER_MILLIS = 5


@dataclass(frozen=True)
class Source:
    """What a query reads.

    Attributes:
        name: The format of Spark's reader.
        server: Its address.
        sender: Which client sends; ``rate`` has none.
        phases: When it takes its turn.
    """

    name: str
    server: str
    sender: str = ""
    phases: tuple[str, ...] = (_STEADY, _BURSTS)


@dataclass
class Figures:
    """What the micro-batches of one source took in one phase."""

    latencies: list[float] = field(default_factory=list)
    batches: list[dict[str, int]] = field(default_factory=list)
    cpu: float = 0.0
    seconds: float = 0.0

    def add(self, taken: list[dict[str, Any]]) -> None:
        """Add micro-batches."""
        for one in taken:
            self.latencies += one["latencies"]
            self.batches.append(one["millis"])

    def part(self, name: str) -> float:
        """Median milliseconds of a part of a micro-batch, as Spark names it."""
        return statistics.median(one.get(name, 0) for one in self.batches)

    def row(self, name: str) -> str:
        """A row of the page's table."""
        ordered = sorted(self.latencies)
        shares = [ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 99)]
        planning = self.part("latestOffset") + self.part("queryPlanning")
        checkpoint = self.part("walCommit") + self.part("commitOffsets")
        cells = [*shares, self.part("triggerExecution"), planning, self.part("addBatch"), checkpoint]
        shown = [f"{cell:.0f}" for cell in cells]
        rates = [f"{len(self.batches) / self.seconds:.1f}", f"{1000 * self.cpu / len(self.batches):.0f}"]
        return f"| {name} | {' | '.join([*shown, *rates])} |"


@dataclass
class IdleFigures:
    """What the triggers of one source took that found nothing."""

    triggers: list[dict[str, int]] = field(default_factory=list)
    cpu: float = 0.0

    def row(self, name: str) -> str:
        """A row of the page's table."""
        parts = ("triggerExecution", "latestOffset")
        shown = [f"{statistics.mean(one.get(part, 0) for one in self.triggers):.1f}" for part in parts]
        # `rate` has rows each second, so its CPU time is not that of idle triggers.
        cpu = "" if name == "rate" else f"{1000 * self.cpu / len(self.triggers):.1f}"
        return f"| {name} | {' | '.join([*shown, cpu])} |"


def _measure(
    queries: Queries,
    source: Source,
    sender: Worker | None,
    pace: tuple[int, int],
    seconds: int,
    figures: Figures,
) -> None:
    """Run one query while a client sends, and add what it took in `seconds` after warming up."""
    rate, burst = pace
    queries.ask("begin", source.name, source.server, _TOPIC if source.sender else str(rate))
    sending = None
    if sender is not None:
        arguments = {
            "topic": _TOPIC,
            "partitions": 1,
            "rate": rate,
            "burst": burst,
            "linger": _LINGER_MILLIS,
            "seconds": _START_SECONDS + _WARM_SECONDS + seconds,
        }
        sending = threading.Thread(target=sender.ask, args=("pace", arguments))
        sending.start()
    deadline = time.monotonic() + _START_SECONDS
    while not queries.ask("take"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{source.name} has read nothing for {_START_SECONDS} s")
        time.sleep(0.1)
    time.sleep(_WARM_SECONDS)
    queries.ask("take")
    before, began = cpu_seconds(queries.pid), time.monotonic()
    time.sleep(seconds)
    figures.add(queries.ask("take"))
    figures.seconds += time.monotonic() - began
    figures.cpu += cpu_seconds(queries.pid) - before
    queries.ask("end")
    if sending is not None:
        sending.join()


def _measure_idle(queries: Queries, source: Source, seconds: int, figures: IdleFigures) -> None:
    """Run one query over a topic to which nothing is sent."""
    queries.ask("begin", source.name, source.server, _TOPIC if source.sender else "1", str(_IDLE_TRIGGER_MILLIS))
    time.sleep(_WARM_SECONDS)
    queries.ask("idle")
    before = cpu_seconds(queries.pid)
    time.sleep(seconds)
    figures.triggers += queries.ask("idle")
    figures.cpu += cpu_seconds(queries.pid) - before
    queries.ask("end")


_HEAD = """# Latency of streams

Made by `make bench-latency`, not by hand: one query at a time without a trigger in Spark `local[2]`, one topic of one
partition, {rounds} rounds of {seconds} s for each source in turn after one that is not counted. Servers, sender and
Spark share {cores} cores; load average {load:.1f} at the end. Producers of both servers wait at most {linger} ms for
more messages of a batch: that is Kafka's default, with Pulsar's of 1 ms its server would get five times the batches.

A message's latency is from the time when it is due by its sender's clock to the clock of the task that has its row.
Parts of a micro-batch are medians of Spark's `durationMs`: "planning" is `latestOffset` and `queryPlanning`, "tasks" is
`addBatch`, "checkpoint" is `walCommit` and `commitOffsets`, two files that Spark writes to the local disk. CPU is that
of the whole Spark process for each micro-batch. `rate` makes its rows once a second, so its latencies are no measure of
a source; it is here for what a micro-batch costs. Behind a delay, a proxy passes each command between broker and client
on so many milliseconds late, in both directions; with 0 ms it shows what the proxy takes by itself.

"""
_COLUMNS = """\
| source | p50, ms | p99, ms | micro-batch, ms | planning, ms | tasks, ms | checkpoint, ms | batches/s | CPU, ms each |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""
_IDLE = f"""\
## Nothing, at a trigger each {_IDLE_TRIGGER_MILLIS} ms

Means of the triggers that find nothing; `rate` has a row each second, and its other triggers count.

| source | trigger, ms | `latestOffset`, ms | CPU, ms each |
|---|--:|--:|--:|
"""


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure the latency of streams.")
    parser.add_argument("--seconds", type=int, default=20, help="how long each turn is measured")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulsar-spark-")))
        java = java_commands(compiled(work))
        pulsar, other = stack.enter_context(local_pulsar()), stack.enter_context(kafka.LocalKafka(SERVER_HEAP))
        sources = {
            "pulsar": Source("pulsar", pulsar.service_url, "pulsar"),
            "kafka": Source("kafka", other.servers, "kafka"),
            "rate": Source("rate", "none"),
        }
        for millis in _DELAYS_MILLIS:
            proxy = stack.enter_context(running_broker_proxy(pulsar.service_url))
            proxy.delay_seconds = millis / 1000
            sources[f"pulsar, delay {millis} ms"] = Source("pulsar", proxy.service_url, "pulsar", (_BURSTS,))
        servers = {"pulsar": pulsar.service_url, "kafka": other.servers}
        senders = {
            name: stack.enter_context(Worker([*java[name], server], work / f"{name}.log"))
            for name, server in servers.items()
        }
        senders["kafka"].ask("create", {"topic": _TOPIC, "partitions": 1})
        once = {"topic": _TOPIC, "rate": 1, "burst": 1, "seconds": 1, "linger": _LINGER_MILLIS}
        senders["pulsar"].ask("pace", once)  # makes the topic
        queries = stack.enter_context(running_queries("streams.latency_query", work / "queries.log"))
        found = {
            phase: {title: Figures() for title, source in sources.items() if phase in source.phases}
            for phase in _PHASES
        }
        idle = {title: IdleFigures() for title in sources}
        for number in range(-1, chosen.rounds):  # what the first turns of all take is Java's compilers' time
            for phase, pace in _PHASES.items():
                for title, kept in found[phase].items():
                    figures = kept if number >= 0 else Figures()
                    source = sources[title]
                    _measure(queries, source, senders.get(source.sender), pace, chosen.seconds, figures)
                    say(f"round {number + 1}, {phase}: {figures.row(title)}")
            for title, of_idle in idle.items():
                waiting = of_idle if number >= 0 else IdleFigures()
                _measure_idle(queries, sources[title], chosen.seconds, waiting)
                say(f"round {number + 1}, idle: {waiting.row(title)}")
    tables = [
        f"## {phase}\n\n{_COLUMNS}" + "\n".join(one.row(source) for source, one in figures.items())
        for phase, figures in found.items()
    ]
    tables.append(_IDLE + "\n".join(one.row(title) for title, one in idle.items()))
    head = _HEAD.format(
        rounds=chosen.rounds,
        seconds=chosen.seconds,
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        linger=_LINGER_MILLIS,
    )
    keep(chosen.output / "latency.md", head + "\n\n".join(tables) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
