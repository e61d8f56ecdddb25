"""Ledgers that leave the bookie while they are read: read on from storage, or data loss when nothing is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from blocking_batch import LARGE, TAKEN_AT_MOST, blocking_batch
from errors import failing
from logs import warnings
from messages import produce, read_all
from offloading import Offloading, running_offload
from reading import Seen, assert_exactly_once, batch, description, entries_by_level, existing, metrics
from waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

_NAMESPACE = "persistent://public/default"
_ENTRIES_PER_LEDGER = TAKEN_AT_MOST + 80

# A bookie that looks every second for ledgers that nobody has any more; by default it takes some minutes.
_FORGETFUL = {"gcWaitTime": "1000"}
_FORGOTTEN_SECONDS = 120


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
        assert "looking up the ledger again" in warned()
        before = warned().count("looking up the ledger again")
        read.release()
        assert_exactly_once(read.rows.result(timeout=120), wanted)
        assert warned().count("looking up the ledger again") > before, "the read that was held did not notice"


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
