"""Real queries whose checkpoints are topics: counts are exact over stops and kills, and a second driver is refused."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest
from checkpoints.stores import (
    APART,
    KEYS,
    PARTITIONS,
    ROCKSDB,
    counted,
    counts,
    last_commit,
    publish,
    start_counting,
    topic_of,
)

from pulsar_spark.testing import run_to_end
from support.spark.errors import assert_says
from support.spark.files import names, read_file, write_file
from support.spark.programs import running_program
from support.spark.settings import hadoop_settings, session_settings, stores_of
from support.spark.waiting import eventually
from support.topics.reading import Batches, read_available, running, stream

if TYPE_CHECKING:
    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

_DRIVER = Path(__file__).with_name("counting_driver.py")
_STREAMING = "org.apache.spark.sql.execution.streaming"
_MANAGERS = _STREAMING if pyspark.__version__.startswith("4.0.") else f"{_STREAMING}.checkpointing"
_OVERWRITING = {"spark.sql.streaming.checkpointFileManagerClass": f"{_MANAGERS}.FileContextBasedCheckpointFileManager"}
_STATES = [
    pytest.param({**ROCKSDB, **_OVERWRITING}, id="rocksdb-changelog"),
    pytest.param({}, id="default", marks=pytest.mark.exhaustive),
    pytest.param(_OVERWRITING, id="default-by-context", marks=pytest.mark.exhaustive),
    pytest.param(
        {**ROCKSDB, "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "false"},
        id="rocksdb-snapshots",
        marks=pytest.mark.exhaustive,
    ),
]


def test_a_query_without_state_goes_on_after_stops(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, checkpoint: str
) -> None:
    sink = Batches()
    for start in (0, 30, 60):
        publish(client, topic, 30, start)
        frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", maxMessagesPerTrigger="20")
        read_available(frame.select("__topic", "__position", "value"), checkpoint, sink)
    assert Counter(row.payload for row in sink.rows) == Counter(b"%d" % number for number in range(90))
    assert names(spark, f"{checkpoint}/offsets") == names(spark, f"{checkpoint}/commits")
    assert {"commits", "metadata", "offsets", "sources"} <= set(names(spark, checkpoint))


@pytest.mark.parametrize("state", _STATES)
def test_counts_are_exact_over_a_stop_and_the_state_is_read(
    spark: SparkSession,
    client: pulsar_client.Client,
    service_url: str,
    topic: str,
    checkpoint: str,
    state: dict[str, str],
) -> None:
    with session_settings(spark, {**PARTITIONS, **state}), hadoop_settings(spark, APART):
        for start in (0, 100):
            publish(client, topic, 100, start)
            run_to_end(start_counting(counted(spark, service_url, topic, 40), checkpoint, to_end=True))
            assert counts(spark, checkpoint) == dict.fromkeys(range(KEYS), (start + 100) // KEYS)


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.exhaustive)])
def test_a_second_driver_is_refused_and_kills_lose_and_repeat_nothing(
    spark: SparkSession,
    client: pulsar_client.Client,
    pulsar: Addresses,
    connector_jar: Path,
    topic: str,
    checkpoint: str,
    tmp_path: Path,
    kills: int,
) -> None:
    total = 2000 * (kills + 1)
    publish(client, topic, total)
    hadoop = {f"spark.hadoop.{name}": value for name, value in {**stores_of(pulsar), **APART}.items()}
    task = {
        "settings": {**hadoop, **PARTITIONS, **ROCKSDB, "spark.jars": str(connector_jar)},
        "service_url": pulsar.service_url,
        "topic": topic,
        "checkpoint": checkpoint,
        "limit": 10,
    }

    with session_settings(spark, {**PARTITIONS, **ROCKSDB}), hadoop_settings(spark, APART):
        for _ in range(kills):
            with running_program(_DRIVER, task, tmp_path) as driver:
                before = last_commit(spark, checkpoint)
                eventually(lambda before=before: last_commit(spark, checkpoint) > before + 5)  # type: ignore[misc]
                query = start_counting(counted(spark, pulsar.service_url, topic, 10), checkpoint, to_end=False)
                with running(query):
                    eventually(lambda query=query: driver.poll() is not None or not query.isActive)  # type: ignore[misc]
                    seen = last_commit(spark, checkpoint)
                    eventually(lambda seen=seen: last_commit(spark, checkpoint) > seen + 3)  # type: ignore[misc]
                    assert query.isActive != (driver.poll() is None), "one of both goes on"
                    loser = (tmp_path / "driver.log").read_text() if query.isActive else str(query.exception())
                    assert "CONCURRENT_STREAM_LOG_UPDATE" in loser
                    if driver.poll() is None:
                        os.killpg(driver.pid, signal.SIGKILL)
        run_to_end(start_counting(counted(spark, pulsar.service_url, topic, 1000), checkpoint, to_end=True))
        assert counts(spark, checkpoint) == dict.fromkeys(range(KEYS), total // KEYS)


def test_brokers_delete_the_log_before_a_snapshot(
    spark: SparkSession,
    client: pulsar_client.Client,
    admin: Admin,
    service_url: str,
    topic: str,
    checkpoint: str,
) -> None:
    log = topic_of(checkpoint)
    sink = Batches()

    def run(start: int, snapshot_after: int) -> None:
        publish(client, topic, 100, start)
        # with another setting this JVM reads the log anew
        with hadoop_settings(spark, {"pulsar-fs.snapshotAfterRecords": str(snapshot_after)}):
            frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", maxMessagesPerTrigger="5")
            read_available(frame.select("__topic", "__position", "value"), checkpoint, sink)

    def ledgers() -> set[int]:
        admin.trim(log)
        return {ledger["ledgerId"] for ledger in admin.internal_stats(log)["ledgers"]}

    with session_settings(spark, {"spark.sql.streaming.minBatchesToRetain": "2"}):
        run(0, 50)
        first = ledgers()
        admin.unload(log)
        run(100, 51)
        eventually(lambda: not first & ledgers())
        run(200, 52)
    assert Counter(row.payload for row in sink.rows) == Counter(b"%d" % number for number in range(300))


def test_brokers_delete_contents_that_no_file_has(spark: SparkSession, admin: Admin, checkpoint: str) -> None:
    kept, busy, contents = f"{checkpoint}/kept", f"{checkpoint}/busy", f"{topic_of(checkpoint)}-content"

    def ledgers() -> set[int]:
        admin.trim(contents)
        return {ledger["ledgerId"] for ledger in admin.internal_stats(contents)["ledgers"]}

    with hadoop_settings(spark, {"pulsar-fs.snapshotAfterRecords": "10"}):
        write_file(spark, kept, b"kept" * 1000)
        write_file(spark, busy, b"busy" * 1000)
        first = ledgers()
        admin.unload(contents)

        def are_deleted() -> bool:
            write_file(spark, busy, os.urandom(40_000))
            return not first & ledgers()

        eventually(are_deleted)
        assert read_file(spark, kept) == b"kept" * 1000
    with hadoop_settings(spark, {"pulsar-fs.snapshotAfterRecords": "11"}):
        assert read_file(spark, kept) == b"kept" * 1000, "by a store that is opened anew"
        assert names(spark, checkpoint) == ["busy", "kept"]


def test_policies_that_would_lose_a_checkpoint_are_refused(
    spark: SparkSession, admin: Admin, client: pulsar_client.Client, service_url: str, topic: str, stores: str
) -> None:
    namespace = f"{stores}-bad"
    admin.create_namespace(namespace)
    admin.set_policy(namespace, "messageTTL", 3600)
    admin.set_policy(
        namespace,
        "backlogQuota",
        {"limitSize": 1000, "limitTime": -1, "policy": "consumer_backlog_eviction"},
    )
    publish(client, topic, 1)
    frame = stream(spark, service_url, topic=topic)
    with pytest.raises(Exception, match="messageTTL=3600") as failure:
        start_counting(frame, f"pulsar-fs://{namespace}/store/query", to_end=True).awaitTermination()
    assert_says(failure.value, "PULSAR_CHECKPOINT_STORE_POLICY", "backlogQuota", "messageTTL=3600")


def test_a_partitioned_topic_is_refused(spark: SparkSession, admin: Admin, checkpoint: str) -> None:
    admin.create_topic(topic_of(checkpoint), partitions=2)
    with pytest.raises(Exception, match=r"PULSAR_CHECKPOINT_STORE_TOPIC.*it is partitioned"):
        names(spark, checkpoint)


def test_a_topic_that_is_deleted_under_a_store_is_named(
    spark: SparkSession, admin: Admin, client: pulsar_client.Client, service_url: str, topic: str, checkpoint: str
) -> None:
    publish(client, topic, 10)
    run_to_end(start_counting(counted(spark, service_url, topic, 10), checkpoint, to_end=True))
    admin.delete_topic(topic_of(checkpoint))
    publish(client, topic, 10)

    with pytest.raises(Exception, match="PULSAR_CHECKPOINT_STORE_REPLACED"):
        run_to_end(start_counting(counted(spark, service_url, topic, 10), checkpoint, to_end=True))
