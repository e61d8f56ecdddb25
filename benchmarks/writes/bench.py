"""What the parts of `writing.py` share: servers and processes, turns, checks, tables."""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.arena import spark_kafka_jars
from benchmarks.processes import Answer, Worker
from benchmarks.run import say
from benchmarks.workloads import Workload
from pulsar_spark import jar_path
from support.servers.admin import Admin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchmarks.kafka import LocalKafka
    from pulsar_spark.local import LocalPulsar

Runs = dict[str, list[Answer]]

SIZE, PARTITIONS = 100, 4
NAMESPACE = "persistent://public/default/"
AT_LEAST, EXACTLY = "at-least-once", "exactly-once"
GUARANTEES = (AT_LEAST, EXACTLY)
_MEMORY = "2g"


@dataclass(frozen=True)
class Epochs:
    """A stream: the rows of each epoch, and how many epochs come before those that are measured."""

    rows: int
    warm: int
    counted: int


@dataclass(frozen=True)
class Bench:
    """The servers of a run, its own Spark process, and how many rows each topic has to have."""

    server: LocalPulsar
    other: LocalKafka
    kafka: Worker
    work: Path
    rounds: int
    warm: int
    scale: float
    written: Counter[str] = field(default_factory=Counter)

    @property
    def admin(self) -> Admin:
        """Of Pulsar."""
        return Admin(self.server.admin_url)

    def spark(self, name: str, *, of_kafka: bool = False) -> Worker:
        """A new Spark process; the caller ends it."""
        jars = ",".join(map(str, spark_kafka_jars())) if of_kafka else str(jar_path())
        place = ["kafka", self.other.servers] if of_kafka else ["pulsar", self.server.service_url]
        command = [sys.executable, "-m", "benchmarks.writes.query", *place, jars, "--memory", _MEMORY]
        return Worker(command, self.work / f"spark-{name}.log")

    def create(self, name: str) -> str:
        """A topic of some partitions for a stream."""
        topic = f"{NAMESPACE}{name}"
        self.admin.create_topic(topic, partitions=PARTITIONS)
        return topic

    def turns(self, contenders: Mapping[str, Callable[[], Answer]], *, warm: int = 1) -> Runs:
        """Each contender in turn, in rounds of which the first ones, at least `warm`, are not counted."""
        runs: Runs = {name: [] for name in contenders}
        for number in range(-max(warm, self.warm), self.rounds):
            for name, run in contenders.items():
                answer = run()
                say(f"round {number + 1}, {name}: {answer.rows:,} rows in {_seconds(answer):.2f} s")
                if number >= 0:
                    runs[name].append(answer)
        return runs

    def route(self, spark: Worker, prefix: str, way: Mapping[str, object], count: int) -> Answer:
        """Write a batch to topics of this prefix."""
        self.written[prefix] += count
        return spark.ask("route", {**self._content(count), **way, "prefix": prefix})

    def last(self, epochs: Epochs) -> int:
        """How many epochs a stream of this run has."""
        return epochs.warm + max(2, round(epochs.counted * self.scale))

    def epochs(self, spark: Worker, topic: str, epochs: Epochs, guarantee: str = "", *, stamp: bool = False) -> Answer:
        """Run a stream; Spark's Kafka sink has no guarantee to select."""
        last = self.last(epochs)
        self.written[topic] += epochs.rows * last
        own = {"topic": topic, "rows": epochs.rows, "warm": epochs.warm, "epochs": last, "stamped": str(stamp).lower()}
        given = {"write.deliveryGuarantee": guarantee} if guarantee else {}
        return spark.ask("epochs", {**self._content(epochs.rows), **own, **given})

    def check(self, counting: Worker, place: str) -> None:
        """See that a topic, or all topics of a prefix, have the rows that were written to them."""
        where = {"option.topicsPattern": f"{place}.*"} if place.endswith("-") else {"topic": place}
        rows = counting.ask("count", {**where, "partitions": PARTITIONS}).rows
        if rows != self.written[place]:
            raise ValueError(f"{place} has {rows} rows of {self.written[place]}")

    def entries(self, topics: list[str]) -> int:
        """How many entries the topics or partitions have: batches, and markers of transactions."""
        return sum(int(self.admin.internal_stats(topic)["numberOfEntries"]) for topic in topics)

    def _content(self, count: int) -> dict[str, object]:
        return Workload(SIZE, 1000, PARTITIONS, "NONE", count).arguments(self.work)


def _seconds(answer: Answer) -> float:
    return answer.figures.get("seconds", answer.seconds)


def rate(answer: Answer) -> float:
    """Rows per second: of the epochs that count, or of the whole action."""
    return answer.rows / _seconds(answer)


def ratio(runs: list[Answer], others: list[Answer]) -> str:
    """Of rows per second."""
    return f"{statistics.median(map(rate, runs)) / statistics.median(map(rate, others)):.2f}"


def cpu(runs: list[Answer]) -> str:
    """Microseconds for each row."""
    return f"{statistics.median(1e6 * run.cpu / run.rows for run in runs):.2f}"


def middle(runs: list[Answer], name: str, unit: float = 1) -> str:
    """The median of a figure that the process measured itself."""
    return f"{statistics.median(run.figures[name] * unit for run in runs):.0f}"


PART_TITLES = "micro-batch ms, addBatch ms, CPU ms each"


def parts(runs: list[Answer]) -> list[str]:
    """The cells for `PART_TITLES`."""
    return [middle(runs, "triggerExecution"), middle(runs, "addBatch"), middle(runs, "cpu", 1000)]


def table(title: str, head: str, rows: Mapping[str, list[str]]) -> str:
    """A section with a table; ``head`` has the titles of the columns, with commas between them."""
    titles = head.split(", ")
    lines = [f"## {title}\n", f"| {' | '.join(titles)} |", f"|---|{'--:|' * (len(titles) - 1)}"]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())])
