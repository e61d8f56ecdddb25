"""A query in real-time mode whose partitions are full: ledgers are read where they are stored, then the tail."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from realtime.live import BATCH, accepting, start_live, wait_for_batches
from realtime.sending import PARTITIONS, Copy, assert_copied

from pulsar_spark import condition_of
from support.servers.offloading import ENTRIES_PER_LEDGER, running_offload
from support.spark.settings import session_settings
from support.spark.waiting import eventually
from support.topics.messages import produce
from support.topics.reading import by_level, running, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from support.servers.admin import Admin

_SHORTEST = "spark.sql.streaming.realTimeMode.minBatchDuration"
_LONG = "10 minutes"
_LEDGERS = 3
# More than 4 MiB of a partition, up to which the broker reads it.
_EACH, _BYTES, _BATCHED = 2000, 1000, 50
_SECONDS = 180
# The same text, for which a task pauses for a millisecond.
_SLOWLY = "if(java_method('java.lang.Thread', 'sleep', 1L) IS NULL, value, value) AS value"


@pytest.fixture(autouse=True)
def accepted(spark: SparkSession) -> Iterator[None]:
    with accepting(spark), session_settings(spark, {_SHORTEST: "100"}):
        yield


class _Filled:
    """A topic with a backlog in some of its partitions; the last one is quiet."""

    def __init__(self, admin: Admin, client: pulsar_client.Client, topic: str, each: int = _EACH) -> None:
        self.sent: list[str] = []
        self._client, self._topic = client, topic
        self._numbers = [0] * PARTITIONS
        admin.create_topic(topic, partitions=PARTITIONS)
        for partition in range(PARTITIONS - 1):
            for ledger in range(_LEDGERS):
                if ledger:
                    admin.unload(self.partition(partition))  # the next message is in another ledger
                self.send(partition, each, size=_BYTES)

    def partition(self, index: int) -> str:
        return f"{self._topic}-partition-{index}"

    def send(self, index: int, count: int, *, size: int = 0) -> None:
        values = [f"{index} {self._numbers[index] + i}" for i in range(count)]
        self._numbers[index] += count
        payloads = [f"{value} ".ljust(size, "x").encode() for value in values]
        produce(self._client, self.partition(index), payloads, batch_size=_BATCHED)
        self.sent += values


def _live(spark: SparkSession, service_url: str, admin: Admin, topic: str, **options: str) -> DataFrame:
    given = {"topic": topic, "startingOffsets": "earliest", "admin.url": admin.url, **options}
    return stream(spark, service_url, **given).selectExpr("substring_index(decode(value, 'UTF-8'), ' ', 2) AS value")


def _rows(query: StreamingQuery) -> dict[str, int]:
    """Rows by tier since the query started."""
    assert query.lastProgress is not None
    found = query.lastProgress.sources[0].metrics
    return by_level({name.removeprefix("pulsar"): int(n) for name, n in found.items() if name.endswith("Rows")}, "Rows")


@pytest.mark.parametrize("level", ["auto", pytest.param("segment", marks=pytest.mark.exhaustive)])
def test_every_message_is_one_row_in_order_and_the_quiet_partition_does_not_wait(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    level: str,
) -> None:
    filled, copy = _Filled(admin, client, topic), Copy(client, f"{topic}-copy")
    stored = len(filled.sent)
    frame = _live(spark, service_url, admin, topic, readLevel=level)
    with running(start_live(frame, tmp_path, service_url, f"{topic}-copy")) as query:
        for partition in range(PARTITIONS):
            filled.send(partition, _BATCHED + 7)
        eventually(lambda: len(copy.rows()) >= len(filled.sent), seconds=_SECONDS)
        wait_for_batches(query, 2)
        rows, levels = copy.rows(), _rows(query)
    assert_copied(rows, filled.sent)
    assert sum(levels.values()) == len(rows)
    assert levels["bookies"] >= stored * (_LEDGERS - 1) // _LEDGERS, "all ledgers that take no more entries"
    assert levels["broker"] > 0


def test_stops_inside_a_backlog(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    filled, copy = _Filled(admin, client, topic, each=5 * _EACH), Copy(client, f"{topic}-copy")
    frame = _live(spark, service_url, admin, topic)
    slow, read = frame.selectExpr(_SLOWLY), []
    for batches in (1, 2):
        with running(start_live(slow, tmp_path, service_url, f"{topic}-copy", batch="300 milliseconds")) as query:
            wait_for_batches(query, batches)
            read.append(eventually(lambda: _rows(query)["bookies"]))
    with running(start_live(frame, tmp_path, service_url, f"{topic}-copy", batch=_LONG)):
        filled.send(PARTITIONS - 1, 1)
        eventually(lambda: set(filled.sent) <= set(copy.rows()), seconds=_SECONDS)
    counts = Counter(copy.rows())
    assert set(counts) == set(filled.sent)
    assert max(counts.values()) <= 3, "a message is repeated once for each stop at most"
    assert_copied(list(dict.fromkeys(copy.rows())), filled.sent)
    assert 0 < sum(read) < len(filled.sent), read


def test_ledgers_that_are_deleted_between_two_runs_are_a_loss(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    filled, copy = _Filled(admin, client, topic), Copy(client, f"{topic}-copy")

    def start(batch: str = BATCH, **options: str) -> StreamingQuery:
        frame = _live(spark, service_url, admin, topic, **options)
        return start_live(frame, tmp_path, service_url, f"{topic}-copy", batch=batch)

    with running(start(_LONG)):
        eventually(lambda: len(copy.rows()) > 0, seconds=_SECONDS)
    before = len(copy.rows())
    admin.truncate(filled.partition(0))
    with running(start()) as query, pytest.raises(Exception, match="PULSAR_DATA_LOSS") as failure:
        query.awaitTermination(_SECONDS)
    assert condition_of(failure.value) == "PULSAR_DATA_LOSS.TRIMMED"
    with running(start(failOnDataLoss="false")) as query:
        eventually(lambda: set(copy.rows()[before:]) >= {v for v in filled.sent if v[0] in "12"}, seconds=_SECONDS)
        wait_for_batches(query, 2)
        assert query.lastProgress is not None
        assert int(query.lastProgress.sources[0].metrics["pulsarDataLoss"]) > 0


@pytest.mark.exhaustive  # FollowParitySuite has offloaded ledgers of both formats
def test_offloaded_ledgers(spark: SparkSession, tmp_path: Path) -> None:
    topic = "persistent://public/default/offloaded"
    with running_offload("mapfile", tmp_path / "server") as offloading:
        messages = [f"0 {number} ".ljust(30_000, "x").encode() for number in range(5 * ENTRIES_PER_LEDGER // 2)]
        produce(offloading.client, topic, messages)
        offloading.offload(topic)
        copy = Copy(offloading.client, f"{topic}-copy")
        url, storage = offloading.server.service_url, {"offload.location": offloading.location}
        frame = _live(spark, url, offloading.admin, topic, **storage)
        with running(start_live(frame, tmp_path / "checkpoint", url, f"{topic}-copy")) as query:
            eventually(lambda: len(copy.rows()) >= len(messages), seconds=_SECONDS)
            wait_for_batches(query, 2)
            assert copy.rows() == [f"0 {number}" for number in range(len(messages))]
            assert _rows(query)["tiered"] >= 2 * ENTRIES_PER_LEDGER
