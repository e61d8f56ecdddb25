"""Streams with limits per trigger, on a server whose ledgers are short: no micro-batch exceeds a limit, none loses or
repeats a message, and no partition starves."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from admin_proxy import running_admin_proxy
from counting import counted
from errors import failing
from messages import produce, read_all
from reading import (
    Batches,
    assert_exactly_once,
    batch,
    by_level,
    existing,
    read_available,
    running,
    start,
    stream,
    wait_for,
)
from servers import Addresses
from waiting import eventually

from pulsar_spark.local import LocalPulsar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from admin import Admin
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from transactions import Sender

_MIXED = (1, 2, 7, 1000)
_TWO_LEDGERS = 100


@pytest.fixture(scope="module")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """A server that begins a ledger after a few entries."""
    limits = {"managedLedgerMaxEntriesPerLedger": "50", "managedLedgerMinLedgerRolloverTimeMinutes": "0"}
    with LocalPulsar(data_dir=tmp_path_factory.mktemp("limits"), transactions=True, config=limits) as server:
        yield Addresses(server.service_url, server.admin_url)


def _numbers(first: int, count: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


def _earliest(spark: SparkSession, service_url: str, topic: str, **limits: str) -> DataFrame:
    return stream(spark, service_url, topic=topic, startingOffsets="earliest", **limits)


def _sizes(batches: Batches) -> list[int]:
    return [len(rows) for _, rows in sorted(batches.by_id.items())]


def _rows_of(query: StreamingQuery) -> list[int]:
    return [one.numInputRows for one in query.recentProgress if one.numInputRows > 0]


@pytest.mark.parametrize(
    ("most", "largest"), [(10, 60), (300, 1000), pytest.param(10, 1000, marks=pytest.mark.exhaustive)]
)
@pytest.mark.usefixtures("read_level")
def test_no_micro_batch_exceeds_a_number_of_messages(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    most: int,
    largest: int,
) -> None:
    sent = 0
    for size in (*_MIXED, 1, 1000, 2):
        count = min(2 * size + 1, largest)
        produce(client, topic, _numbers(sent, count), batch_size=size)
        sent += count
    batches = Batches()
    query = read_available(_earliest(spark, service_url, topic, maxMessagesPerTrigger=str(most)), tmp_path, batches)
    assert max(_rows_of(query)) <= most
    sizes = _sizes(batches)
    assert sizes[:-1] == [most] * (sent // most)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.parametrize("level", ["auto", pytest.param("segment", marks=pytest.mark.exhaustive)])
def test_a_backlog_of_many_ledgers_is_read_from_bookies_with_one_admin_request_at_most_for_a_micro_batch(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    level: str,
) -> None:
    sent, most = 1000, 130
    produce(client, topic, _numbers(0, sent))

    requests: list[int] = []

    class Writing(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            requests.append(counts.to_plan())
            if batch_id < 10:
                produce(client, topic, _numbers(sent + 60 * batch_id, 60))

    batches = Writing()
    with running_admin_proxy(admin.url) as proxy, counted(proxy) as counts:
        options = {"readLevel": level, "admin.url": proxy.url, "maxMessagesPerTrigger": str(most)}
        with running(start(_earliest(spark, service_url, topic, **options), tmp_path, batches)) as query:
            wait_for(sent + 600, query, batches)
            query.processAllAvailable()
        done = [one for one in query.recentProgress if one.numInputRows > 0][-1]
    found = by_level({name.removeprefix("pulsar"): int(n) for name, n in done.sources[0].metrics.items()}, "Rows")
    assert max(_sizes(batches)) <= most
    assert found["bookies"] >= sent
    steps = [after - before for before, after in pairwise([0, *requests])]
    assert max(steps) == 1, f"requests by micro-batch: {steps}"
    assert sum(steps) <= len(steps) // 2, f"what is known is requested again: {steps}"
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.usefixtures("read_level")
def test_markers_and_aborted_messages_are_no_ends_and_do_not_count(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, sender: Sender, topic: str, tmp_path: Path
) -> None:
    producer = sender.producer(topic, batch_size=1)
    for number in range(60):
        transaction = sender.begin()
        producer.newMessage(transaction).value(b"%d" % number).send()
        sender.end(transaction, commit=number % 3 != 1 and number < 55)
    producer.close()
    wanted = existing(read_all(client, topic))
    batches = Batches()
    frame = _earliest(spark, service_url, topic, maxMessagesPerTrigger="7")
    read_available(frame, tmp_path, batches)
    assert _sizes(batches) == [7] * (len(wanted) // 7) + [len(wanted) % 7][: len(wanted) % 7]
    assert_exactly_once(batches.rows, wanted)
    produce(client, topic, _numbers(100, 9), batch_size=4)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_partitions_share_a_limit(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=4)
    names = [f"{topic}-partition-{number}" for number in range(4)]
    for name, count, size in zip(names, (400, 40, 3, 0), (100, 7, 1, 1), strict=True):
        produce(client, name, _numbers(0, count), batch_size=size)
    batches = Batches()
    frame = _earliest(spark, service_url, topic, maxMessagesPerTrigger="30")
    with running(start(frame, tmp_path, batches)) as query:
        wait_for(443, query, batches)
        admin.set_partitions(topic, 5)
        produce(client, f"{topic}-partition-4", _numbers(0, 100), batch_size=33)
        wait_for(543, query, batches)
        assert admin.subscriptions(names[0])
    sizes = _sizes(batches)
    assert max(sizes) == 30
    assert sizes[:14] == [30] * 14
    assert {row.topic for row in batches.by_id[0]} == set(names[:3]), "each partition with messages has a share"
    assert all(any(row.topic == names[0] for row in rows) for rows in list(batches.by_id.values())[:14])
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    eventually(lambda: admin.subscriptions(names[0]) == [])


def test_fewer_messages_than_partitions(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=5)
    for number in range(5):
        produce(client, f"{topic}-partition-{number}", _numbers(0, 4), batch_size=4)
    batches = Batches()
    frame = _earliest(spark, service_url, topic, maxMessagesPerTrigger="2")
    read_available(frame, tmp_path, batches)
    assert _sizes(batches) == [2] * 10
    assert len({row.topic for number in range(3) for row in batches.by_id[number]}) == 5, "all in three micro-batches"
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_the_broker_sends_the_driver_no_more_than_a_limit_needs(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _numbers(0, 2000))
    sent = []

    class Looking(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            found = admin.stats(topic)["subscriptions"].items()
            sent.append(sum(one["msgOutCounter"] for name, one in found if "-driver-" in name))

    batches = Looking()
    with running(start(_earliest(spark, service_url, topic, maxMessagesPerTrigger="10"), tmp_path, batches)) as query:
        eventually(lambda: len(sent) > 3 or query.exception())
    for number, count in enumerate(sent, start=1):
        assert 10 * number <= count <= 10 * number + 40
    assert_exactly_once(batches.rows, existing(read_all(client, topic))[: len(batches.rows)])


def test_a_limit_of_messages_counts_a_backlog_where_it_is_stored(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _numbers(0, 1020))
    batches = Batches()
    options = {"readLevel": "segment", "admin.url": admin.url, "maxMessagesPerTrigger": "100"}
    read_available(_earliest(spark, service_url, topic, **options), tmp_path, batches)
    assert _sizes(batches) == [100] * 10 + [20]
    # the ledger that is being written, with what the first permits bring besides
    assert admin.stats(topic)["msgOutCounter"] < 1020 / 4, "the broker sends the driver whole ledgers"
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.parametrize("level", ["auto", "segment"])
def test_a_backlog_that_is_trimmed_while_it_is_counted(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    level: str,
) -> None:
    """A task may find a ledger on bookies that the driver does not count any more, so sizes are not compared."""
    produce(client, topic, _numbers(0, 500))
    everything = existing(read_all(client, topic))

    class Trimming(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            if batch_id == 1:
                admin.truncate(topic)
                eventually(lambda: len(read_all(client, topic)) < len(everything))
                produce(client, topic, _numbers(500, 30))

    batches = Trimming()
    options = {"readLevel": level, "admin.url": admin.url, "maxMessagesPerTrigger": "30", "failOnDataLoss": "false"}
    with running(start(_earliest(spark, service_url, topic, **options), tmp_path, batches)) as query:
        eventually(lambda: query.exception() or any(row.payload == b"529" for row in batches.rows), seconds=120)
    left = existing(read_all(client, topic))
    before = [row for row in batches.rows if row not in left]
    assert_exactly_once(before, everything[: len(before)])
    assert_exactly_once([row for row in batches.rows if row in left], left)


def test_bytes_limit_a_micro_batch(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"x" * 1000] * 60)
    batches = Batches()
    frame = _earliest(spark, service_url, topic, maxBytesPerTrigger="10k")
    read_available(frame, tmp_path, batches)
    sizes = _sizes(batches)
    assert all(9 <= size <= 11 for size in sizes[:-1]), sizes
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    one_each = Batches()
    produce(client, f"{topic}-few", [b"x" * 1000] * 5)
    read_available(_earliest(spark, service_url, f"{topic}-few", maxBytesPerTrigger="1"), tmp_path / "few", one_each)
    assert _sizes(one_each) == [1] * 5


def test_a_limit_of_bytes_goes_by_whole_ledgers_that_the_driver_does_not_read(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"%100d" % number for number in range(1020)])
    batches = Batches()
    with running_admin_proxy(admin.url) as proxy, counted(proxy) as counts:
        options = {"readLevel": "segment", "admin.url": proxy.url, "maxBytesPerTrigger": "15k"}
        query = read_available(_earliest(spark, service_url, topic, **options), tmp_path, batches)
        assert counts.to_plan() == 1, "the list of ledgers serves the limit and the plan"
    sizes = _sizes(batches)
    assert sizes == [_TWO_LEDGERS] * 10 + [20]
    bytes_read = [int(one.sources[0].metrics["pulsarBookieBytes"]) for one in query.recentProgress if one.numInputRows]
    assert max(after - before for before, after in pairwise([0, *bytes_read])) <= 15 * 1024
    # the last entry of each micro-batch, with what the first permits bring besides
    assert admin.stats(topic)["msgOutCounter"] < 1020 / 2, "the driver reads whole ledgers"
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.exhaustive
def test_a_limit_of_bytes_ends_at_messages_where_ledgers_end_with_markers(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    sender: Sender,
    topic: str,
    tmp_path: Path,
) -> None:
    producer = sender.producer(topic, batch_size=1)
    for number in range(120):
        transaction = sender.begin()
        producer.newMessage(transaction).value(b"%d" % number).send()
        sender.end(transaction, commit=number % 3 != 1)
    producer.close()
    assert len(admin.internal_stats(topic)["ledgers"]) > 4
    batches = Batches()
    options = {"readLevel": "segment", "admin.url": admin.url, "maxBytesPerTrigger": "8k"}
    read_available(_earliest(spark, service_url, topic, **options), tmp_path, batches)
    assert len(batches.by_id) > 1
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_a_trigger_waits_for_a_minimum_at_most_a_time(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _numbers(0, 1))
    batches = Batches()
    limits = {"minMessagesPerTrigger": "10", "maxMessagesPerTrigger": "20"}
    with running(start(_earliest(spark, service_url, topic, **limits), tmp_path, batches)) as query:
        wait_for(1, query, batches)
        produce(client, topic, _numbers(1, 6), batch_size=4)
        query.processAllAvailable()
        assert len(batches.rows) == 1, "six are too few"
        produce(client, topic, _numbers(7, 30), batch_size=30)
        wait_for(37, query, batches)
    assert _sizes(batches) == [1, 20, 16]
    frame = _earliest(spark, service_url, topic, **limits)
    produce(client, topic, _numbers(37, 3), batch_size=3)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    with running(
        start(_earliest(spark, service_url, topic, **limits, maxTriggerDelay="6s"), tmp_path, batches)
    ) as query:
        produce(client, topic, _numbers(40, 1))
        wait_for(41, query, batches)  # the first micro-batch of a query does not wait
        for number in (41, 42):
            produce(client, topic, _numbers(number, 1))
        wait_for(43, query, batches)
    assert _sizes(batches)[-2:] == [1, 2], "the second micro-batch waits for more"
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.usefixtures("read_level")
def test_restarts_with_other_limits_repeat_a_planned_range(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    for number in range(2):
        produce(client, f"{topic}-partition-{number}", _numbers(0, 50), batch_size=9)

    class Failing(Batches):
        last = -1

        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            if batch_id == self.last:
                raise RuntimeError("the sink fails")

    batches = Failing()
    for batches.last, limits in ((1, {"maxMessagesPerTrigger": "7"}), (3, {"maxMessagesPerTrigger": "13"})):
        with pytest.raises(Exception, match="the sink fails"):
            read_available(_earliest(spark, service_url, topic, **limits), tmp_path, batches)
    batches.last = -1
    read_available(_earliest(spark, service_url, topic, maxBytesPerTrigger="300"), tmp_path, batches)
    sizes = _sizes(batches)
    assert sizes[:4] == [7, 7, 13, 13]
    assert len(sizes) > 5
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_unloads_between_triggers_cost_time_alone(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    produce(client, topic, _numbers(0, 120), batch_size=7)

    class Unloading(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            if batch_id in (1, 3):
                admin.unload(f"{topic}-partition-{batch_id % 2}")
                produce(client, topic, _numbers(1000 * batch_id, 20), batch_size=3)

    batches = Unloading()
    frame = _earliest(spark, service_url, topic, maxMessagesPerTrigger="20")
    with running(start(frame, tmp_path, batches)) as query:
        wait_for(160, query, batches)
    assert max(_sizes(batches)) == 20
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_a_batch_read_has_no_limit_per_trigger(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, _numbers(0, 1))
    with failing("PULSAR_OPTION_WRONG_MODE", "maxMessagesPerTrigger"):
        batch(spark, service_url, topic=topic, maxMessagesPerTrigger="5").collect()
