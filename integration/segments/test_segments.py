"""Direct reads: that they are, what makes them impossible, what happens when ledgers change under them."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pulsar as pulsar_client
import pytest

from pulsar_spark.local import LocalPulsar
from support.proxies.bookie_relay import bookie_of, running_bookie_relay
from support.servers.admin import Admin
from support.spark.errors import failing
from support.spark.waiting import eventually
from support.topics.messages import Message, produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    by_level,
    description,
    entries_by_level,
    existing,
    machines,
    metrics,
    read_available,
    read_rows,
    seen,
    stream,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from support.servers.servers import Addresses


def _messages(count: int, size: int = 20) -> list[Message]:
    return [Message(b"%08d" % number + b"x" * size) for number in range(count)]


def _rows_in_progress(query: StreamingQuery) -> dict[str, int]:
    """By who delivered them, since the query started, from its last progress report."""
    assert query.lastProgress is not None
    found = query.lastProgress.sources[0].metrics
    return by_level({name.removeprefix("pulsar"): int(value) for name, value in found.items()}, "Rows")


def _ledgers(admin: Admin, topic: str) -> list[int]:
    return [int(ledger["ledgerId"]) for ledger in admin.internal_stats(topic)["ledgers"]]


def test_segments_are_read_from_bookies_and_the_writer_goes_on(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str
) -> None:
    produce(client, topic, _messages(2000), batch_size=50)
    before = _ledgers(admin, topic)
    frame = batch(spark, pulsar.service_url, topic=topic, readLevel="segment", **{"admin.url": pulsar.admin_url})
    assert_exactly_once(seen(frame), existing(read_all(client, topic)))
    found = metrics(frame)
    assert by_level(found, "Entries") == {"broker": 0, "bookies": 40, "tiered": 0}
    assert by_level(found, "Rows") == {"broker": 0, "bookies": 2000, "tiered": 0}
    assert by_level(found, "Bytes") == {"broker": 0, "bookies": found["Bytes"], "tiered": 0}
    assert found["Bytes"] > 2000 * 28
    produce(client, topic, _messages(10))
    assert _ledgers(admin, topic) == before, "reading made the broker open another ledger"


def test_a_ledger_is_split_into_the_requested_tasks(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, _messages(3000), batch_size=10)
    options = {"topic": topic, "readLevel": "segment", "admin.url": pulsar.admin_url}
    parts = batch(spark, pulsar.service_url, minPartitions="7", **options)
    assert parts.rdd.getNumPartitions() >= 7
    assert_exactly_once(seen(parts), existing(read_all(client, topic)))
    small = batch(spark, pulsar.service_url, maxBytesPerPartition="8k", **options)
    assert small.rdd.getNumPartitions() > 10
    assert_exactly_once(seen(small), existing(read_all(client, topic)))
    assert batch(spark, pulsar.service_url, **options).rdd.getNumPartitions() == 1, "there is no use in tiny tasks"


def test_a_task_connects_once_to_a_bookie_however_many_ledgers_it_reads(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str
) -> None:
    for _ in range(12):
        produce(client, topic, _messages(20), batch_size=3)
        admin.unload(topic)
    with running_bookie_relay(bookie_of(admin, topic)) as relay:
        options = {"topic": topic, "minPartitions": "1", "admin.url": pulsar.admin_url}
        options["bookieAddresses"] = f"{relay.bookie}={relay.address}"
        frame = batch(spark, pulsar.service_url, readLevel="segment", **options)
        assert_exactly_once(read_rows(frame), existing(read_all(client, topic)))
        assert relay.connections == 1


def test_tasks_run_best_where_the_bookies_are(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str
) -> None:
    produce(client, topic, _messages(100))
    options = {"topic": topic, "minPartitions": "2", "admin.url": pulsar.admin_url}
    bookie = bookie_of(admin, topic)
    by_segments = batch(spark, pulsar.service_url, readLevel="segment", **options)
    assert machines(by_segments) == [[bookie.rpartition(":")[0]]] * 2
    assert machines(batch(spark, pulsar.service_url, readLevel="broker", **options)) == [[]]


def test_plug_ins_of_bookkeeper_are_known_by_the_names_they_have_there(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, _messages(10))
    plug_in = "org.apache.bookkeeper.auth.AuthProviderFactoryFactory$NullClientAuthProviderFactory"
    options = {"admin.url": pulsar.admin_url, "bookkeeper.clientAuthProviderFactoryClass": plug_in}
    frame = batch(spark, pulsar.service_url, topic=topic, readLevel="segment", **options)
    assert_exactly_once(seen(frame), existing(read_all(client, topic)))


def test_bookkeepers_client_is_used_where_it_is_required(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, _messages(10))

    def started_by(**setting: str) -> bool:
        options = {"admin.url": pulsar.admin_url, **setting}
        before = _client_threads(spark)
        frame = batch(spark, pulsar.service_url, topic=topic, readLevel="segment", **options)
        assert_exactly_once(seen(frame), existing(read_all(client, topic)))
        return bool(_client_threads(spark) - before)

    assert not started_by()
    assert started_by(**{"bookkeeper.clientConnectTimeoutMillis": "4711"})


def _client_threads(spark: SparkSession) -> set[int]:
    jvm: Any = spark.sparkContext._jvm
    threads = jvm.java.lang.Thread.getAllStackTraces().keySet()
    return {thread.getId() for thread in threads if "BookKeeperClient" in thread.getName()}


@pytest.mark.parametrize("settings", [{}, {"bookkeeper.numIOThreads": "2"}], ids=["wire", "client"])
def test_entries_may_become_much_larger(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str, settings: dict[str, str]
) -> None:
    """After thousands of small entries thousands are asked for at once, but not so many megabytes are kept."""
    produce(client, topic, [*_messages(2500), *_messages(30, size=1_000_000), *_messages(100)])
    options = {"admin.url": pulsar.admin_url, **settings}
    frame = batch(spark, pulsar.service_url, topic=topic, readLevel="segment", **options)
    assert_exactly_once(seen(frame), existing(read_all(client, topic)))
    assert 1_000_000 < metrics(frame)["DirectMemory"] < 100_000_000, "in the one JVM there is, by its one task"


def test_messages_of_a_broker_may_become_much_larger(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str
) -> None:
    """The same of a broker, which counts messages: a thousand are allowed to come when the large ones begin."""
    produce(client, topic, _messages(2500))
    for _ in range(5):  # the server has little memory of its own
        produce(client, topic, _messages(30, size=1_000_000))
    produce(client, topic, _messages(100))
    frame = batch(spark, pulsar.service_url, topic=topic, readLevel="broker", readAheadBytes="8m")
    pause = "java_method('java.lang.Thread', 'sleep', 1L)"  # a task that is slower than the broker
    slow = frame.selectExpr("__position", f"length(CASE WHEN {pause} IS NULL THEN value ELSE value END) AS size")
    rows = slow.collect()
    assert len({row["__position"] for row in rows}) == len(rows) == 2750
    assert sum(row["size"] for row in rows) == 2600 * 28 + 150 * 1_000_008
    found = metrics(slow)
    assert 1_000_000 < found["DirectMemory"] < 100_000_000, "in the one JVM there is, by its one task"


def test_auto_takes_segments_and_leaves_short_tails_of_streams_to_the_broker(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _messages(1200, size=4000))  # more than the 4 MiB that are left to the broker
    options = {"topic": topic, "admin.url": pulsar.admin_url}
    frame = batch(spark, pulsar.service_url, **options)
    assert entries_by_level(frame) == {"broker": 0, "bookies": 1200, "tiered": 0}
    sink = Batches()
    streamed = stream(spark, pulsar.service_url, startingOffsets="earliest", **options)
    assert _rows_in_progress(read_available(streamed, tmp_path, sink)) == {"broker": 0, "bookies": 1200, "tiered": 0}
    produce(client, topic, _messages(30))
    assert _rows_in_progress(read_available(streamed, tmp_path, sink)) == {"broker": 30, "bookies": 0, "tiered": 0}
    assert_exactly_once(sink.rows, existing(read_all(client, topic)))


def test_auto_goes_to_the_broker_when_the_admin_service_or_the_bookies_do_not_answer(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str
) -> None:
    produce(client, topic, _messages(20))
    nowhere = {"admin.url": "http://127.0.0.1:1", "operationTimeoutMs": "8000"}
    assert entries_by_level(batch(spark, pulsar.service_url, topic=topic, **nowhere))["broker"] == 20
    with failing("PULSAR_UNREACHABLE", topic):
        batch(spark, pulsar.service_url, topic=topic, readLevel="segment", **nowhere).collect()
    bookie = admin.internal_stats(topic)["ledgers"][0]["metadata"].split("0=[")[1].split("]")[0]
    lost = {"admin.url": pulsar.admin_url, "bookieAddresses": f"{bookie}=127.0.0.1:1"}
    assert entries_by_level(batch(spark, pulsar.service_url, topic=topic, **lost)) == {
        "broker": 20,
        "bookies": 0,
        "tiered": 0,
    }


@pytest.fixture
def rolling(tmp_path: Path) -> Iterator[LocalPulsar]:
    """A server that begins a new ledger every 20 entries."""
    config = {"managedLedgerMaxEntriesPerLedger": "20", "managedLedgerMinLedgerRolloverTimeMinutes": "0"}
    with LocalPulsar(data_dir=tmp_path / "pulsar", config=config) as server:
        yield server


def test_many_small_ledgers_are_put_together_and_change_under_a_plan(
    spark: SparkSession, rolling: LocalPulsar, tmp_path: Path
) -> None:
    admin, topic = Admin(rolling.admin_url), "persistent://public/default/rolled"
    admin.set_retention("public/default", minutes=-1, megabytes=-1)
    logger = pulsar_client.FileLogger(pulsar_client.LoggerLevel.Warn, str(tmp_path / "client.log"))
    with closing(pulsar_client.Client(rolling.service_url, logger=logger, operation_timeout_seconds=180)) as client:
        produce(client, topic, _messages(200))
        wanted = existing(read_all(client, topic))
        assert len(_ledgers(admin, topic)) >= 10
        options = {"topic": topic, "admin.url": rolling.admin_url}
        frame = batch(spark, rolling.service_url, readLevel="segment", **options)
        assert frame.rdd.getNumPartitions() == 1
        assert_exactly_once(seen(frame), wanted)
        assert_exactly_once(seen(batch(spark, rolling.service_url, minPartitions="5", **options)), wanted)

        planned = batch(spark, rolling.service_url, **options)
        assert "bookies" in description(planned)
        admin.unload(topic)
        assert_exactly_once(seen(planned), wanted)

        start = {"startingOffsets": json.dumps({topic: wanted[5].position})}
        assert_exactly_once(seen(batch(spark, rolling.service_url, **options, **start)), wanted[5:])
        admin.truncate(topic)
        eventually(lambda: len(_ledgers(admin, topic)) < 3)
        with failing("PULSAR_DATA_LOSS.TRIMMED", topic):
            batch(spark, rolling.service_url, **options, **start).collect()
        with failing("PULSAR_DATA_LOSS.TRIMMED", topic, "the topic now begins with ledger"):
            batch(spark, rolling.service_url, **options, **start, readLevel="segment").collect()


def test_what_is_left_after_a_trimmed_start_is_read_from_bookies(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str
) -> None:
    produce(client, topic, _messages(20), batch_size=5)
    start = json.dumps({topic: read_all(client, topic)[5].id.position})
    admin.unload(topic)
    produce(client, topic, _messages(30), batch_size=5)
    admin.truncate(topic)
    left = eventually(lambda: left if len(left := read_all(client, topic)) == 30 else [])
    options = {"topic": topic, "admin.url": pulsar.admin_url, "startingOffsets": start}
    frame = batch(spark, pulsar.service_url, failOnDataLoss="false", **options)
    assert_exactly_once(seen(frame), existing(left))
    counts = entries_by_level(frame)
    assert counts["bookies"] == len({message.id.entry for message in left})
    assert counts.get("broker", 0) == 0, counts
    assert metrics(frame)["DataLoss"] == 1
    with failing("PULSAR_DATA_LOSS.TRIMMED", topic):
        batch(spark, pulsar.service_url, **options).collect()


def test_a_topic_is_read_while_it_is_written(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _messages(100))
    ledgers = _ledgers(admin, topic)
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            produce(client, topic, _messages(50), batch_size=5)

    writer = threading.Thread(target=write)
    writer.start()
    sink = Batches()
    try:
        options = {"topic": topic, "admin.url": pulsar.admin_url, "readLevel": "segment", "startingOffsets": "earliest"}
        for _ in range(5):
            read_available(stream(spark, pulsar.service_url, **options), tmp_path, sink)
    finally:
        done.set()
        writer.join()
    read_available(stream(spark, pulsar.service_url, **options), tmp_path, sink)
    assert_exactly_once(sink.rows, existing(read_all(client, topic)))
    assert _ledgers(admin, topic) == ledgers, "reading made the broker open another ledger"
