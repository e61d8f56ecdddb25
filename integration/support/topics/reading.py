"""Reads with Spark, and the check that they return every message once and in order."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pulsar_spark.testing import run_to_end
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from support.topics.messages import Received

_QUERY_SECONDS = 300
_SHOWN = 5
_LEVELS = {"broker": "Broker", "bookies": "Bookie", "tiered": "Tiered"}


def batch(spark: SparkSession, service_url: str, **options: str) -> DataFrame:
    """A batch read; the options are those of the data source."""
    return spark.read.format("pulsar").options(**{"service.url": service_url, **options}).load()


def stream(spark: SparkSession, service_url: str, **options: str) -> DataFrame:
    """A streaming read that shows positions, which streams do not select unasked before Spark 4.2."""
    options = {"service.url": service_url, "metadataColumns": "__position", **options}
    return spark.readStream.format("pulsar").options(**options).load()


def _scan(frame: DataFrame) -> Any:  # noqa: ANN401 - py4j objects have no type
    """The part of a frame's own plan that reads."""
    jframe: Any = frame._jdf
    return jframe.queryExecution().executedPlan().collectLeaves().head()


def description(frame: DataFrame) -> str:
    """Plan a read; returns the connector's description of it."""
    scan = _scan(frame)
    scan.inputPartitions()
    return str(scan.scan().description())


def machines(frame: DataFrame) -> list[list[str]]:
    """Plan a read; returns the preferred hosts of each task."""
    tasks = _scan(frame).inputPartitions()
    return [list(tasks.apply(index).preferredLocations()) for index in range(tasks.size())]


def metrics(frame: DataFrame) -> dict[str, int]:
    """Run a read; the connector's metrics of it as Spark has them, by their names without ``pulsar``."""
    frame.collect()
    return metrics_of(frame)


def metrics_of(frame: DataFrame) -> dict[str, int]:
    """The same metrics of a frame that was collected already."""
    found: Any = _scan(frame).metrics()
    names = [name for name in str(found.keys().mkString(",")).split(",") if name.startswith("pulsar")]
    return {name.removeprefix("pulsar"): int(found.apply(name).value()) for name in names}


def by_level(found: Mapping[str, int], what: str) -> dict[str, int]:
    """``Entries``, ``Bytes`` or ``Rows`` by tier, from [`metrics`][]."""
    return {level: found[name + what] for level, name in _LEVELS.items()}


def entries_by_level(frame: DataFrame) -> dict[str, int]:
    """Run a read; returns the number of entries by tier, from Spark's metrics."""
    return by_level(metrics(frame), "Entries")


@dataclass(frozen=True, order=True)
class Seen:
    """The parts of a message that the check compares."""

    topic: str
    position: str
    payload: bytes | None


def seen(frame: DataFrame) -> list[Seen]:
    """Run a read of plain bytes; rows of a partition stay in their order. A count of the same read must agree."""
    counted, rows = frame.count(), read_rows(frame)
    assert counted == len(rows), f"count() gives {counted}, and there are {len(rows)} rows"
    return rows


def read_rows(frame: DataFrame) -> list[Seen]:
    """Run a read of plain bytes without the count, for topics that change meanwhile."""
    return [Seen(row[0], row[1], _bytes(row[2])) for row in frame.select("__topic", "__position", "value").collect()]


def existing(received: Iterable[Received]) -> list[Seen]:
    """Messages of the official client in the form of the check."""
    return [Seen(one.topic, one.id.position, None if one.is_null else one.payload) for one in received]


def assert_exactly_once(found: Sequence[Seen], wanted: Sequence[Seen]) -> None:
    """Every expected message was read once, nothing else, and each partition in order."""
    assert wanted, "a check against nothing proves nothing"
    problems = _difference("missing", wanted, found) + _difference("too many", found, wanted)
    if not problems:
        problems = [
            f"out of order: {topic}"
            for topic in {one.topic for one in wanted}
            if _of(topic, found) != _of(topic, wanted)
        ]
    assert not problems, f"{len(found)} rows for {len(wanted)} messages; " + "; ".join(problems)


def _difference(title: str, left: Sequence[Seen], right: Sequence[Seen]) -> list[str]:
    rest = sorted((Counter(left) - Counter(right)).elements(), key=str)
    return [f"{len(rest)} {title}, such as {', '.join(map(str, rest[:_SHOWN]))}"] if rest else []


def _of(topic: str, rows: Sequence[Seen]) -> list[Seen]:
    return [row for row in rows if row.topic == topic]


class Batches:
    """A sink that keeps the rows of each batch. A batch that is run again must have the same rows."""

    def __init__(self) -> None:
        self.by_id: dict[int, list[Seen]] = {}

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        rows = read_rows(frame)
        assert self.by_id.setdefault(batch_id, rows) == rows, f"batch {batch_id} has other rows in its second run"

    @property
    def rows(self) -> list[Seen]:
        return [row for _, rows in sorted(self.by_id.items()) for row in rows]


def start(frame: DataFrame, checkpoint: Path | str, sink: Callable[[DataFrame, int], None]) -> StreamingQuery:
    """Start a stream that runs until it is stopped."""
    return frame.writeStream.foreachBatch(sink).option("checkpointLocation", str(checkpoint)).start()


@contextmanager
def running(query: StreamingQuery, release: Callable[[], None] = lambda: None) -> Iterator[StreamingQuery]:
    """A started stream, which is stopped at the end; ``release`` is called before, for sinks that block."""
    try:
        yield query
    finally:
        release()
        query.stop()


def wait_for(count: int, query: StreamingQuery, sink: Batches) -> None:
    """Wait until a running stream has read so many rows; fails at once if it ends before."""

    def look() -> bool:
        failure = query.exception()
        assert failure is None, f"the query failed after {len(sink.rows)} rows: {failure}"
        return len(sink.rows) >= count

    eventually(look, seconds=_QUERY_SECONDS)
    assert len(sink.rows) == count


def read_available(
    frame: DataFrame, checkpoint: Path | str, sink: Callable[[DataFrame, int], None], *, seconds: int = _QUERY_SECONDS
) -> StreamingQuery:
    """Run a stream over the stored messages; raises the error of the query."""
    writer = frame.writeStream.foreachBatch(sink).option("checkpointLocation", str(checkpoint))
    return run_available(writer, seconds=seconds)


def run_available(writer: DataStreamWriter, *, seconds: int = _QUERY_SECONDS) -> StreamingQuery:
    """Run any stream over the stored messages; raises the error of the query."""
    return run_to_end(writer, seconds=seconds)


def java_client(spark: SparkSession) -> Any:  # noqa: ANN401 - py4j objects have no type
    """The package ``org.apache.pulsar.client.api`` of the Java client, which the connector's jar carries."""
    jvm: Any = spark.sparkContext._jvm
    return jvm.io.github.pulsarspark.shaded.org.apache.pulsar.client.api


def dice() -> random.Random:
    """Random numbers with a printed seed, which PULSAR_SPARK_TEST_SEED sets."""
    seed = int(os.environ.get("PULSAR_SPARK_TEST_SEED") or time.time_ns())
    print(f"PULSAR_SPARK_TEST_SEED={seed}")
    return random.Random(seed)


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)
