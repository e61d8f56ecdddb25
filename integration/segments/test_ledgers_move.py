"""Ledgers that leave the bookie while they are read: read on from storage, or data loss when nothing is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.proxies.admin_proxy import running_admin_proxy
from support.proxies.counting import counted
from support.servers.offloading import Offloading, running_offload
from support.spark.blocking_batch import LARGE, TAKEN_AT_MOST, blocking_batch
from support.spark.errors import failing
from support.spark.logs import warnings
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    Seen,
    assert_exactly_once,
    batch,
    description,
    entries_by_level,
    existing,
    metrics,
    read_available,
    stream,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

_NAMESPACE = "persistent://public/default"
_ENTRIES_PER_LEDGER = TAKEN_AT_MOST + 80

# A bookie that looks every second for ledgers that nobody has any more; by default it takes some minutes.
_FORGETFUL = {"gcWaitTime": "1000"}
_FORGOTTEN_SECONDS = 300


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offloading]:
    folder = tmp_path_factory.mktemp("moving")
    with running_offload("mapfile", folder, entries_per_ledger=_ENTRIES_PER_LEDGER, settings=_FORGETFUL) as running:
        yield running


def _planned(spark: SparkSession, server: Offloading, topic: str, **options: str) -> DataFrame:
    """A read that keeps to what is planned now: bookies."""
    chosen = {"topic": topic, "readLevel": "segment", "admin.url": server.server.admin_url, **options}
    frame = batch(spark, server.server.service_url, **chosen).select("__topic", "__position", "value")
    assert "bookies" in description(frame)
    return frame


def _looked_up(warned: str) -> list[str]:
    """The warnings of slices that look their ledger up again."""
    return [line for line in warned.splitlines() if "looking up the ledger again" in line]


def _rows(frame: DataFrame) -> list[Seen]:
    """Collected by the plan that there is."""
    return [Seen(row[0], row[1], bytes(row[2])) for row in frame.collect()]


def test_a_copy_that_is_deleted_in_the_middle_of_a_read(
    spark: SparkSession, server: Offloading, tmp_path: Path
) -> None:
    topic = f"{_NAMESPACE}/deleted"
    produce(server.client, topic, [LARGE + b"%d" % n for n in range(_ENTRIES_PER_LEDGER)])
    produce(server.client, topic, [b"next ledger"])
    wanted = existing(read_all(server.client, topic))
    frame = _planned(spark, server, topic, readAheadBytes="1m", minPartitions="1")
    other = _planned(spark, server, topic, maxBytesPerPartition="1m").limit(1)
    assert entries_by_level(other)["tiered"] == 0
    with warnings(spark, tmp_path) as warned, blocking_batch(frame, tmp_path) as read:
        server.offload(topic)
        eventually(lambda: entries_by_level(other)["tiered"] > 0, seconds=_FORGOTTEN_SECONDS)
        assert _looked_up(warned())
        read.release()
        assert_exactly_once(read.rows.result(timeout=300), wanted)
        # the read ahead may notice before the release
        last = f":{_ENTRIES_PER_LEDGER - 1}]"
        assert any(last in line for line in _looked_up(warned())), "the read that was held did not notice"


@pytest.mark.exhaustive
def test_copies_that_are_deleted_between_micro_batches(spark: SparkSession, server: Offloading, tmp_path: Path) -> None:
    """Tasks of one micro-batch look the ledgers up; the next ones are planned from storage, without requests."""
    topic = f"{_NAMESPACE}/streamed"
    produce(server.client, topic, [b"%d" % n for n in range(3 * _ENTRIES_PER_LEDGER + 10)])
    wanted = existing(read_all(server.client, topic))
    planned = _planned(spark, server, topic)
    requests: list[int] = []

    class Offloaded(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            requests.append(counts.to_plan())
            if batch_id == 0:
                server.offload(topic)
                # bookies forget one ledger after the other
                closed = 3 * _ENTRIES_PER_LEDGER
                eventually(lambda: entries_by_level(planned)["tiered"] >= closed, seconds=_FORGOTTEN_SECONDS)

    batches = Offloaded()
    with running_admin_proxy(server.server.admin_url) as proxy, counted(proxy) as counts:
        options = {"topic": topic, "readLevel": "segment", "admin.url": proxy.url, "startingOffsets": "earliest"}
        limit = {"maxMessagesPerTrigger": str(_ENTRIES_PER_LEDGER // 3)}
        query = read_available(stream(spark, server.server.service_url, **options, **limit), tmp_path, batches)
    assert_exactly_once(batches.rows, wanted)
    done = [one for one in query.recentProgress if one.numInputRows][-1]
    assert int(done.sources[0].metrics["pulsarTieredRows"]) > _ENTRIES_PER_LEDGER
    assert len(requests) > 8
    assert requests[0] == 1
    assert len(set(requests[3:-1])) == 1, f"requests up to each micro-batch: {requests}"


@pytest.mark.parametrize("level", ["segment", "auto"])
def test_ledgers_that_are_trimmed_between_plan_and_read(spark: SparkSession, server: Offloading, level: str) -> None:
    topic = f"{_NAMESPACE}/trimmed-{level}"
    produce(server.client, topic, [b"old %d" % n for n in range(30)])
    server.admin.unload(topic)
    produce(server.client, topic, [b"new %d" % n for n in range(10)])
    wanted = existing(read_all(server.client, topic))
    strict = _planned(spark, server, topic, readLevel=level)
    lenient = _planned(spark, server, topic, readLevel=level, failOnDataLoss="false")
    assert_exactly_once(_rows(strict), wanted)
    server.admin.truncate(topic)
    eventually(lambda: _rows(lenient) != wanted, seconds=_FORGOTTEN_SECONDS)
    assert_exactly_once(_rows(lenient), wanted[30:])
    assert metrics(lenient)["DataLoss"] == 1
    with failing("PULSAR_DATA_LOSS.TRIMMED", topic, wanted[0].position.partition(":")[0]):
        strict.collect()
