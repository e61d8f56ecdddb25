"""What writes cost: topics by row, exactly-once, small epochs, and reading them back: ``make bench-writing``.

With options:

    .venv-4.1/bin/python -m benchmarks.streams.writing [--scale 0.1] [--rounds 3] [--output FOLDER]

All rows have 100 bytes. Contenders take turns; a first round is not counted. Each part checks the number of messages in
its topics, and a wrong one ends the run. The parts:

- one million rows to one topic, and to 100 topics by the column ``__topic``; then 1,000 rows to the same topics
- streams with ``deliveryGuarantee=exactly-once`` beside at-least-once, in epochs of 100,000 and of 1,000 rows
- the time from the last row of an epoch to a consumer that reads along, by both guarantees
- epochs of 10 rows, beside Spark's Kafka sink
- reading the topics of the epochs of 1,000 rows, at both levels

``--scale`` shortens all of them, to that part of the rows or epochs. Writes ``writing.md``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar
from admin import Admin

from benchmarks import kafka
from benchmarks.arena import HERE, SERVER_HEAP, compiled, java_commands, local_pulsar, spark_kafka_jars
from benchmarks.processes import Answer, Worker
from benchmarks.report import keep, spread
from benchmarks.run import say
from benchmarks.workloads import Workload, write_content
from pulsar_spark import jar_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pulsar_spark.local import LocalPulsar

Runs = dict[str, list[Answer]]

_ROWS, _FEW_ROWS, _SIZE, _TOPICS, _PARTITIONS = 1_000_000, 1000, 100, 100, 4
_NAMESPACE = "persistent://public/default/"
_MEMORY = "2g"
_RECEIVE_MILLIS = 60_000
_AT_LEAST, _EXACTLY = "at-least-once", "exactly-once"
_GUARANTEES = (_AT_LEAST, _EXACTLY)
_ONE_TOPIC = "one topic"
_DELAY = {"write.pulsar.producer.batchingMaxPublishDelayMicros": 100_000}
_WAYS: dict[str, dict[str, object]] = {
    _ONE_TOPIC: {},
    "100 topics, in turn": {"order": "turn"},
    "100 topics, in turn, publish delay 100 ms": {"order": "turn", **_DELAY},
    "100 topics, one after the other": {"order": "sorted"},
}


@dataclass(frozen=True)
class Epochs:
    """A stream: the rows of each epoch, and how many epochs come before those that are measured."""

    rows: int
    warm: int
    counted: int


_LARGE, _SMALL, _TINY = Epochs(100_000, 2, 8), Epochs(1000, 20, 230), Epochs(10, 10, 60)
_WATCHED = Epochs(1000, 10, 60)


@dataclass(frozen=True)
class Bench:
    """The servers and processes of a run, and how many rows each topic has to have."""

    admin: Admin
    server: LocalPulsar
    spark: Worker
    spark_kafka: Worker
    kafka: Worker
    content: dict[str, object]
    rounds: int
    scale: float
    written: Counter[str] = field(default_factory=Counter)

    def turns(self, contenders: Mapping[str, Callable[[], Answer]]) -> Runs:
        """Each contender in turn, so many rounds after one that is not counted."""
        runs: Runs = {name: [] for name in contenders}
        for number in range(-1, self.rounds):
            for name, run in contenders.items():
                answer = run()
                say(f"round {number + 1}, {name}: {answer.rows:,} rows in {_seconds(answer):.2f} s")
                if number >= 0:
                    runs[name].append(answer)
        return runs

    def route(self, prefix: str, way: Mapping[str, object], count: int) -> Answer:
        """Write a batch to topics of this prefix."""
        one = {} if "order" in way else {"topic": f"{prefix}0"}
        self.written[prefix] += count
        return self.spark.ask("route", {**self.content, **way, **one, "count": count, "prefix": prefix})

    def epochs(self, topic: str, epochs: Epochs, guarantee: str = "", *, is_stamped: bool = False) -> Answer:
        """Run a stream; without a guarantee it is that of Spark's Kafka sink."""
        last = epochs.warm + max(2, round(epochs.counted * self.scale))
        arguments = {**self.content, "topic": topic, "rows": epochs.rows, "warm": epochs.warm, "epochs": last}
        given = {"write.deliveryGuarantee": guarantee} if guarantee else {}
        worker = self.spark if guarantee else self.spark_kafka
        self.written[topic] += epochs.rows * last
        return worker.ask("epochs", {**arguments, **given, "stamped": str(is_stamped).lower()})

    def check(self, place: str, *, of_kafka: bool = False) -> None:
        """See that a topic, or all topics of a prefix, have the rows that were written to them."""
        where = {"option.topicsPattern": f"{place}.*"} if place.endswith("-") else {"topic": place}
        arguments = {**where, "partitions": _PARTITIONS}
        rows = (self.kafka if of_kafka else self.spark).ask("count", arguments).rows
        if rows != self.written[place]:
            raise ValueError(f"{place} has {rows} rows of {self.written[place]}")

    def entries(self, topic: str) -> int:
        """How many entries, which are batches, a topic without partitions has."""
        return int(self.admin.internal_stats(topic)["numberOfEntries"])


def _seconds(answer: Answer) -> float:
    return answer.figures.get("seconds", answer.seconds)


def _rate(answer: Answer) -> float:
    return answer.rows / _seconds(answer)


def _ratio(runs: list[Answer], others: list[Answer]) -> str:
    return f"{statistics.median(map(_rate, runs)) / statistics.median(map(_rate, others)):.2f}"


def _middle(runs: list[Answer], name: str, unit: float = 1) -> str:
    return f"{statistics.median(run.figures[name] * unit for run in runs):.0f}"


def _table(head: str, rows: Mapping[str, list[str]]) -> str:
    titles = head.split(", ")
    lines = [f"| {' | '.join(titles)} |", f"|---|{'--:|' * (len(titles) - 1)}"]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())])


def topics(bench: Bench) -> str:
    """One topic by the option `topic`, or many by the column `__topic`."""
    count = max(1, round(_ROWS * bench.scale / _FEW_ROWS)) * _FEW_ROWS
    prefixes = {name: f"{_NAMESPACE}way{number}-" for number, name in enumerate(_WAYS)}
    names = {way: [f"{prefixes[way]}{n}" for n in range(_TOPICS if given else 1)] for way, given in _WAYS.items()}
    for name in sum(names.values(), []):
        bench.admin.create_topic(name)

    def written(rows: int) -> Runs:
        return bench.turns({way: partial(bench.route, prefixes[way], given, rows) for way, given in _WAYS.items()})

    many = written(count)
    batches = {way: bench.written[prefixes[way]] / sum(map(bench.entries, found)) for way, found in names.items()}
    few = written(_FEW_ROWS)
    for prefix in prefixes.values():
        bench.check(prefix)
    large = {
        way: [
            spread([*map(_rate, runs)]),
            _ratio(runs, many[_ONE_TOPIC]),
            f"{statistics.median(1e6 * run.cpu / run.rows for run in runs):.2f}",
            f"{batches[way]:,.0f}",
        ]
        for way, runs in many.items()
    }
    small = {
        way: [spread([run.seconds for run in runs], 2), f"{statistics.median(1000 * run.cpu for run in runs):.0f}"]
        for way, runs in few.items()
    }
    return "\n\n".join(
        [
            f"## Topics by row, a batch of {count:,} rows (goal: 0.7 of one topic)",
            _table(f"rows to, rows/s, to {_ONE_TOPIC}, CPU us/row, rows in a batch", large),
            f"## The same, a batch of {_FEW_ROWS:,} rows",
            _table("rows to, seconds, CPU ms", small),
        ]
    )


def guarantees(bench: Bench, epochs: Epochs, goal: float) -> str:
    """Streams by both guarantees."""
    places = {guarantee: f"{_NAMESPACE}{guarantee}-{epochs.rows}" for guarantee in _GUARANTEES}
    for place in places.values():
        bench.admin.create_topic(place, partitions=_PARTITIONS)
    runs = bench.turns({one: partial(bench.epochs, place, epochs, one) for one, place in places.items()})
    for place in places.values():
        bench.check(place)
    rows = {
        guarantee: [spread([*map(_rate, found)]), _ratio(found, runs[_AT_LEAST]), *_parts(found)]
        for guarantee, found in runs.items()
    }
    title = f"## Epochs of {epochs.rows:,} rows (goal: {goal} of at-least-once)"
    return f"{title}\n\n" + _table(f"guarantee, rows/s, to {_AT_LEAST}, {_PART_TITLES}", rows)


_PART_TITLES = "micro-batch ms, addBatch ms, CPU ms each"


def _parts(runs: list[Answer]) -> list[str]:
    return [_middle(runs, "triggerExecution"), _middle(runs, "addBatch"), _middle(runs, "cpu", 1000)]


def visible(bench: Bench) -> str:
    """A consumer reads along and compares its clock with that of the tasks, in the rows."""
    with ExitStack() as stack:
        client = pulsar.Client(bench.server.service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
        stack.callback(client.close)
        reading = stack.enter_context(ThreadPoolExecutor(1))

        def run(place: str, consumer: pulsar.Consumer, guarantee: str) -> Answer:
            written = bench.written[place]
            rows = _WATCHED.rows * (_WATCHED.warm + max(2, round(_WATCHED.counted * bench.scale)))
            arrivals = reading.submit(_arrivals, consumer, rows)
            answer = bench.epochs(place, _WATCHED, guarantee, is_stamped=True)
            assert bench.written[place] == written + rows
            late = arrivals.result()[_WATCHED.warm :]
            return replace(answer, figures={**answer.figures, "late": statistics.median(late), "latest": max(late)})

        contenders = {}
        for guarantee in _GUARANTEES:
            place = f"{_NAMESPACE}watched-{guarantee}"
            bench.admin.create_topic(place, partitions=_PARTITIONS)
            consumer = client.subscribe(place, "watching", initial_position=pulsar.InitialPosition.Earliest)
            contenders[guarantee] = partial(run, place, consumer, guarantee)
        runs = bench.turns(contenders)
        rows = {one: [_middle(found, "late"), _middle(found, "latest"), *_parts(found)] for one, found in runs.items()}
    title = f"## From the last row of an epoch of {_WATCHED.rows:,} rows to a consumer"
    return f"{title}\n\n" + _table(f"guarantee, median ms, most ms, {_PART_TITLES}", rows)


def _arrivals(consumer: pulsar.Consumer, rows: int) -> list[float]:
    """Milliseconds from the task's clock at the last row of each epoch to the arrival of all its rows."""
    made: dict[int, int] = {}
    arrived: dict[int, float] = {}
    for _ in range(rows):
        clock, number = consumer.receive(_RECEIVE_MILLIS).data().split()
        epoch = int(number) // _WATCHED.rows
        made[epoch] = max(made.get(epoch, 0), int(clock))
        arrived[epoch] = time.time() * 1000
    return [arrived[epoch] - made[epoch] for epoch in sorted(made)]


def tiny(bench: Bench) -> str:
    """Epochs of a few rows, beside Spark's Kafka sink."""
    runs_of: dict[str, Callable[[], Answer]] = {}
    for guarantee in _GUARANTEES:
        place = f"{_NAMESPACE}tiny-{guarantee}"
        bench.admin.create_topic(place, partitions=_PARTITIONS)
        runs_of[f"pulsar-spark, {guarantee}"] = partial(bench.epochs, place, _TINY, guarantee)
    bench.kafka.ask("create", {"topic": "tiny", "partitions": _PARTITIONS})
    runs = bench.turns({**runs_of, "Spark-Kafka": partial(bench.epochs, "tiny", _TINY)})
    for guarantee in _GUARANTEES:
        bench.check(f"{_NAMESPACE}tiny-{guarantee}")
    bench.check("tiny", of_kafka=True)
    title = f"## Epochs of {_TINY.rows} rows (goal: at-least-once takes no longer than Spark-Kafka)"
    return f"{title}\n\n" + _table(f"sink, {_PART_TITLES}", {name: _parts(found) for name, found in runs.items()})


def reads(bench: Bench) -> str:
    """What `guarantees` wrote in small epochs, read as a batch."""

    def read(place: str, level: str) -> Answer:
        options = {"option.readLevel": level, "option.admin.url": bench.server.admin_url}
        answer = bench.spark.ask("scan", {"topic": place, **options})
        if answer.rows != bench.written[place]:
            raise ValueError(f"{place} has {bench.written[place]} rows, {level} read {answer.rows}")
        return answer

    places = {one: f"{_NAMESPACE}{one}-{_SMALL.rows}" for one in _GUARANTEES}
    levels = ("broker", "segment")
    runs = bench.turns(
        {f"{level}, {one}": partial(read, place, level) for level in levels for one, place in places.items()}
    )
    rows = {
        f"{level}, {one}": [
            spread([*map(_rate, found)]),
            _ratio(found, runs[f"{level}, {_AT_LEAST}"]),
            f"{statistics.median(1e6 * run.cpu / run.rows for run in found):.2f}",
        ]
        for level in levels
        for one in _GUARANTEES
        for found in [runs[f"{level}, {one}"]]
    }
    title = f"## Reading {bench.written[places[_EXACTLY]]:,} rows of epochs of {_SMALL.rows:,} rows"
    return f"{title}\n\n" + _table(f"read level and guarantee of the write, rows/s, to {_AT_LEAST}, CPU us/row", rows)


_HEAD = """# Writing

Made by `make bench-writing`, not by hand: rows of {size} B in Spark `local[2]`, {rounds} rounds in turns after one that
is not counted. Servers and Spark share {cores} cores; load average {load:.1f} at the end. Rows per second are medians
(least to most). Topics of streams have {partitions} partitions.

- **Topics by row**: two tasks write; the topics exist. Rows come in turn, one for each topic, or sorted by topic. "Rows
  in a batch" is over all batches that the topics have.
- **Epochs**: Spark's `rate-micro-batch` source without a trigger, so an epoch begins when the one before ends. Rates are
  from the begin of the first counted epoch to the end of the last, at most {epochs} epochs. Milliseconds are medians of
  Spark's `durationMs`; `addBatch` has the tasks and the commit of an epoch in it. CPU is that of the whole Spark process
  for each epoch.
- **To a consumer**: from the task's clock when it has the last row of an epoch, to the clock of the official Python
  client when it has received all rows of the epoch, on the same machine. Its loop over the rows is in the figures.
- **Reading**: a batch of all columns to `noop`.

"""


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure writes.")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the rows or epochs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, help="the folder for the results")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulsar-spark-")))
        write_content(work, {_SIZE})
        java = java_commands(compiled(work))
        server = stack.enter_context(local_pulsar(transactions=True))
        other = stack.enter_context(kafka.LocalKafka(SERVER_HEAP))
        spark = [sys.executable, "-m", "benchmarks.streams.writing_query", "--memory", _MEMORY]
        commands = {
            "spark": [*spark, "pulsar", server.service_url, str(jar_path())],
            "spark-kafka": [*spark, "kafka", other.servers, ",".join(map(str, spark_kafka_jars()))],
            "kafka": [*java["kafka"], other.servers],
        }
        workers = [stack.enter_context(Worker(one, work / f"{name}.log")) for name, one in commands.items()]
        content = {**Workload(_SIZE, 1000, _PARTITIONS, "NONE", _ROWS).arguments(work), "topics": _TOPICS}
        bench = Bench(Admin(server.admin_url), server, *workers, content, chosen.rounds, chosen.scale)
        parts = [
            topics(bench),
            guarantees(bench, _LARGE, 0.85),
            guarantees(bench, _SMALL, 0.6),
            visible(bench),
            tiny(bench),
            reads(bench),
        ]
    head = _HEAD.format(
        size=_SIZE,
        rounds=chosen.rounds,
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        partitions=_PARTITIONS,
        epochs=_SMALL.counted,
    )
    folder = HERE / "results" if chosen.scale == 1 else HERE.parent / "target" / "benchmark"
    keep((chosen.output or folder) / "writing.md", head + "\n\n".join(parts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
