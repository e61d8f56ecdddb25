"""The parts of `writing.py`; each returns its section of the page."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import pulsar

from benchmarks.report import spread
from benchmarks.writes.bench import (
    AT_LEAST,
    GUARANTEES,
    NAMESPACE,
    PART_TITLES,
    PARTITIONS,
    Epochs,
    cpu,
    middle,
    parts,
    rate,
    ratio,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.processes import Answer, Worker
    from benchmarks.writes.bench import Bench, Runs

LARGE, SMALL = Epochs(100_000, 2, 8), Epochs(1000, 20, 130)
_WATCHED, _TINY = Epochs(1000, 10, 40), Epochs(10, 20, 130)
_ROWS, _FEW_ROWS, _TOPICS = 1_000_000, 1000, 100
_RECEIVE_MILLIS = 60_000
_WARM_READS = 5
_WARM = 4  # rounds, until Java has compiled what large writes run
_BY_OPTION, _ONE_TOPIC = "one topic, by the option", "one topic"
_WAYS: dict[str, dict[str, object]] = {
    _BY_OPTION: {"topic": f"{NAMESPACE}way0-0"},
    _ONE_TOPIC: {"topics": 1, "order": "turn"},
    f"{_TOPICS} topics, in turn": {"order": "turn"},
    f"{_TOPICS} topics, in turn, publish delay 1 ms": {
        "order": "turn",
        "write.pulsar.producer.batchingMaxPublishDelayMicros": 1000,
    },
    f"{_TOPICS} topics, one after the other": {"order": "sorted"},
}


def topics(bench: Bench, spark: Worker) -> str:
    """One topic by the option `topic`, or many by the column `__topic`."""
    count = max(1, round(_ROWS * bench.scale / _FEW_ROWS)) * _FEW_ROWS
    prefixes = {way: f"{NAMESPACE}way{number}-" for number, way in enumerate(_WAYS)}
    names = {
        way: [f"{prefixes[way]}{n}" for n in range(1 if way in (_BY_OPTION, _ONE_TOPIC) else _TOPICS)] for way in _WAYS
    }
    for name in (name for some in names.values() for name in some):
        bench.admin.create_topic(name)

    def written(rows: int) -> Runs:
        own = {"topics": _TOPICS}
        return bench.turns(
            {way: partial(bench.route, spark, prefixes[way], {**own, **given}, rows) for way, given in _WAYS.items()},
            warm=_WARM,
        )

    many = written(count)
    batches = {way: bench.written[prefixes[way]] / bench.entries(some) for way, some in names.items()}
    few = written(_FEW_ROWS)
    for prefix in prefixes.values():
        bench.check(spark, prefix)
    large = {
        way: [spread([*map(rate, runs)]), ratio(runs, many[_ONE_TOPIC]), cpu(runs), f"{batches[way]:,.0f}"]
        for way, runs in many.items()
    }
    small = {
        way: [spread([run.seconds for run in runs], 2), f"{statistics.median(1000 * run.cpu for run in runs):.0f}"]
        for way, runs in few.items()
    }
    title = f"Topics by row, a batch of {count:,} rows (goal: 0.7 of one topic)"
    first = table(title, f"rows to, rows/s, to {_ONE_TOPIC}, CPU us/row, rows in a batch", large)
    second = table(f"The same topics, a batch of {_FEW_ROWS:,} rows", "rows to, seconds, CPU ms", small)
    return f"{first}\n\n{second}"


def guarantees(bench: Bench, spark: Worker, epochs: Epochs, goal: float) -> str:
    """Streams by both guarantees."""
    places = {guarantee: bench.create(f"{guarantee}-{epochs.rows}") for guarantee in GUARANTEES}
    contenders = {one: partial(bench.epochs, spark, place, epochs, one) for one, place in places.items()}
    runs = bench.turns(contenders, warm=_WARM if epochs is LARGE else 1)
    for place in places.values():
        bench.check(spark, place)
    rows = {
        one: [spread([*map(rate, found)]), ratio(found, runs[AT_LEAST]), *parts(found)] for one, found in runs.items()
    }
    title = f"Epochs of {epochs.rows:,} rows (goal: {goal} of at-least-once)"
    return table(title, f"guarantee, rows/s, to {AT_LEAST}, {PART_TITLES}", rows)


def visible(bench: Bench, spark: Worker) -> str:
    """A consumer reads along and compares its clock with that of the tasks, in the rows."""
    with ExitStack() as stack:
        client = pulsar.Client(bench.server.service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
        stack.callback(client.close)
        reading = stack.enter_context(ThreadPoolExecutor(1))

        def run(place: str, consumer: pulsar.Consumer, guarantee: str) -> Answer:
            arrivals = reading.submit(_arrivals, consumer, _WATCHED.rows * bench.last(_WATCHED))
            answer = bench.epochs(spark, place, _WATCHED, guarantee, stamp=True)
            late = arrivals.result()[_WATCHED.warm :]
            return replace(answer, figures={**answer.figures, "late": statistics.median(late), "latest": max(late)})

        contenders = {}
        for guarantee in GUARANTEES:
            place = bench.create(f"watched-{guarantee}")
            consumer = client.subscribe(place, "watching", initial_position=pulsar.InitialPosition.Earliest)
            contenders[guarantee] = partial(run, place, consumer, guarantee)
        runs = bench.turns(contenders)
    rows = {one: [middle(found, "late"), middle(found, "latest"), *parts(found)] for one, found in runs.items()}
    title = f"From the last row of an epoch of {_WATCHED.rows:,} rows to a consumer"
    return table(title, f"guarantee, median ms, most ms, {PART_TITLES}", rows)


def _arrivals(consumer: pulsar.Consumer, rows: int) -> list[float]:
    """Milliseconds from the task's clock at the last row of each epoch to the arrival of all its rows."""
    made: dict[int, int] = {}
    arrived: dict[int, float] = {}
    seen = set()
    for _ in range(rows):
        clock, number = consumer.receive(_RECEIVE_MILLIS).data().split()
        now, epoch = time.time() * 1000, int(number) // _WATCHED.rows
        seen.add(number)
        arrived[epoch] = now
        made[epoch] = max(made.get(epoch, 0), int(clock))
    if len(seen) != rows:
        raise ValueError(f"a consumer received {len(seen)} of {rows} rows, some of them twice")
    return [arrived[epoch] - made[epoch] for epoch in sorted(made)]


def tiny(bench: Bench) -> str:
    """Epochs of a few rows, each contender in a new Spark process, which is as warm as the others."""
    with ExitStack() as stack:
        bench.kafka.ask("create", {"topic": "tiny", "partitions": PARTITIONS})
        other = stack.enter_context(bench.spark("tiny-kafka", of_kafka=True))
        contenders: dict[str, Callable[[], Answer]] = {}
        checks = [partial(bench.check, bench.kafka, "tiny")]
        for guarantee in GUARANTEES:
            spark, place = stack.enter_context(bench.spark(f"tiny-{guarantee}")), bench.create(f"tiny-{guarantee}")
            contenders[f"pulsar-spark, {guarantee}"] = partial(bench.epochs, spark, place, _TINY, guarantee)
            checks.append(partial(bench.check, spark, place))
        runs = bench.turns({**contenders, "Spark-Kafka": partial(bench.epochs, other, "tiny", _TINY)})
        for check in checks:
            check()
    title = f"Epochs of {_TINY.rows} rows (goal: at-least-once takes no longer than Spark-Kafka)"
    return table(title, f"sink, {PART_TITLES}", {name: parts(found) for name, found in runs.items()})


def reads(bench: Bench, spark: Worker) -> str:
    """What `guarantees` wrote in small epochs, read as a batch."""

    def read(place: str, level: str) -> Answer:
        options = {"option.readLevel": level, "option.admin.url": bench.server.admin_url}
        answer = spark.ask("scan", {"topic": place, **options})
        if answer.rows != bench.written[place]:
            raise ValueError(f"{place} has {bench.written[place]} rows, {level} read {answer.rows}")
        return answer

    places = {one: f"{NAMESPACE}{one}-{SMALL.rows}" for one in GUARANTEES}
    ways = {f"{level}, {one}": (level, one) for level, one in product(("broker", "segment"), GUARANTEES)}
    runs = bench.turns({way: partial(read, places[one], level) for way, (level, one) in ways.items()}, warm=_WARM_READS)
    in_entry = {
        one: bench.written[place] / bench.entries([f"{place}-partition-{n}" for n in range(PARTITIONS)])
        for one, place in places.items()
    }
    rows = {
        way: [
            spread([*map(rate, runs[way])]),
            ratio(runs[way], runs[f"{level}, {AT_LEAST}"]),
            cpu(runs[way]),
            f"{in_entry[one]:.0f}",
        ]
        for way, (level, one) in ways.items()
    }
    title = f"Reading {bench.written[places[AT_LEAST]]:,} rows of epochs of {SMALL.rows:,} rows"
    head = f"level and guarantee of the write, rows/s, to {AT_LEAST}, CPU us/row, rows in an entry"
    return table(title, head, rows)
