"""Streams with a limit or a minimum of messages: no micro-batch exceeds it, none loses or repeats a message, and no
partition starves."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from limits.limited import earliest, numbers, rows_of, sizes_of

from support.spark.errors import failing
from support.spark.waiting import becomes, eventually
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    existing,
    read_available,
    running,
    start,
    wait_for,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.topics.transactions import Sender

_MIXED = (1, 2, 7, 1000)


@pytest.mark.parametrize(
    ("most", "largest"), [(10, 60), *(pytest.param(most, 1000, marks=pytest.mark.exhaustive) for most in (300, 10))]
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
        produce(client, topic, numbers(sent, count), batch_size=size)
        sent += count
    batches = Batches()
    limited = earliest(spark, service_url, topic, maxMessagesPerTrigger=str(most))
    query = read_available(limited, tmp_path, batches, seconds=300 + sent // most)  # a second more for each
    assert max(rows_of(query)) <= most
    sizes = sizes_of(batches)
    assert sizes[:-1] == [most] * (sent // most)
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
    frame = earliest(spark, service_url, topic, maxMessagesPerTrigger="7")
    read_available(frame, tmp_path, batches)
    assert sizes_of(batches) == [7] * (len(wanted) // 7) + [len(wanted) % 7][: len(wanted) % 7]
    assert_exactly_once(batches.rows, wanted)
    produce(client, topic, numbers(100, 9), batch_size=4)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_partitions_share_a_limit(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=4)
    names = [f"{topic}-partition-{number}" for number in range(4)]
    for name, count, size in zip(names, (400, 40, 3, 0), (100, 7, 1, 1), strict=True):
        produce(client, name, numbers(0, count), batch_size=size)
    batches = Batches()
    frame = earliest(spark, service_url, topic, maxMessagesPerTrigger="30")
    with running(start(frame, tmp_path, batches)) as query:
        wait_for(443, query, batches)
        admin.set_partitions(topic, 5)
        produce(client, f"{topic}-partition-4", numbers(0, 100), batch_size=33)
        wait_for(543, query, batches)
        eventually(lambda: admin.subscriptions(names[0]))
    sizes = sizes_of(batches)
    assert max(sizes) == 30
    assert sizes[:14] == [30] * 14
    assert {row.topic for row in batches.by_id[0]} == set(names[:3]), "each partition with messages has a share"
    assert all(any(row.topic == names[0] for row in rows) for rows in list(batches.by_id.values())[:14])
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    becomes(lambda: admin.subscriptions(names[0]), [])


def test_fewer_messages_than_partitions(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=5)
    for number in range(5):
        produce(client, f"{topic}-partition-{number}", numbers(0, 4), batch_size=4)
    batches = Batches()
    frame = earliest(spark, service_url, topic, maxMessagesPerTrigger="2")
    read_available(frame, tmp_path, batches)
    assert sizes_of(batches) == [2] * 10
    assert len({row.topic for number in range(3) for row in batches.by_id[number]}) == 5, "all in three micro-batches"
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_the_broker_sends_the_driver_no_more_than_a_limit_needs(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, numbers(0, 2000))
    sent = []

    class Looking(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            found = admin.stats(topic)["subscriptions"].items()
            sent.append(sum(one["msgOutCounter"] for name, one in found if "-driver-" in name))

    batches = Looking()
    with running(start(earliest(spark, service_url, topic, maxMessagesPerTrigger="10"), tmp_path, batches)) as query:
        eventually(lambda: len(sent) > 3 or query.exception())
    for number, count in enumerate(sent, start=1):
        assert 10 * number <= count <= 10 * number + 40
    assert_exactly_once(batches.rows, existing(read_all(client, topic))[: len(batches.rows)])


def test_a_trigger_waits_for_a_minimum_at_most_a_time(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, numbers(0, 1))
    batches = Batches()
    limits = {"minMessagesPerTrigger": "10", "maxMessagesPerTrigger": "20"}
    with running(start(earliest(spark, service_url, topic, **limits), tmp_path, batches)) as query:
        wait_for(1, query, batches)
        produce(client, topic, numbers(1, 6), batch_size=4)
        query.processAllAvailable()
        assert len(batches.rows) == 1, "six are too few"
        produce(client, topic, numbers(7, 30), batch_size=30)
        wait_for(37, query, batches)
    assert sizes_of(batches) == [1, 20, 16]
    frame = earliest(spark, service_url, topic, **limits)
    produce(client, topic, numbers(37, 3), batch_size=3)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    with running(
        start(earliest(spark, service_url, topic, **limits, maxTriggerDelay="10s"), tmp_path, batches)
    ) as query:
        produce(client, topic, numbers(40, 1))
        wait_for(41, query, batches)  # the first micro-batch of a query does not wait
        with closing(client.create_producer(topic, send_timeout_millis=0)) as producer:
            for number in (41, 42):  # a busy machine takes seconds to begin a producer for each
                producer.send(b"%d" % number)
        wait_for(43, query, batches)
    assert sizes_of(batches)[-2:] == [1, 2], "the second micro-batch waits for more"
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.usefixtures("read_level")
def test_restarts_with_other_limits_repeat_a_planned_range(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    for number in range(2):
        produce(client, f"{topic}-partition-{number}", numbers(0, 50), batch_size=9)

    class Failing(Batches):
        last = -1

        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            if batch_id == self.last:
                raise RuntimeError("the sink fails")

    batches = Failing()
    for batches.last, limits in ((1, {"maxMessagesPerTrigger": "7"}), (3, {"maxMessagesPerTrigger": "13"})):
        with pytest.raises(Exception, match="the sink fails"):
            read_available(earliest(spark, service_url, topic, **limits), tmp_path, batches)
    batches.last = -1
    read_available(earliest(spark, service_url, topic, maxBytesPerTrigger="300"), tmp_path, batches)
    sizes = sizes_of(batches)
    assert sizes[:4] == [7, 7, 13, 13]
    assert len(sizes) > 5
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_unloads_between_triggers_cost_time_alone(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    produce(client, topic, numbers(0, 120), batch_size=7)

    class Unloading(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            if batch_id in (1, 3):
                admin.unload(f"{topic}-partition-{batch_id % 2}")
                produce(client, topic, numbers(1000 * batch_id, 20), batch_size=3)

    batches = Unloading()
    frame = earliest(spark, service_url, topic, maxMessagesPerTrigger="20")
    with running(start(frame, tmp_path, batches)) as query:
        wait_for(160, query, batches)
    assert max(sizes_of(batches)) == 20
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_a_batch_read_has_no_limit_per_trigger(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, numbers(0, 1))
    with failing("PULSAR_OPTION_WRONG_MODE", "maxMessagesPerTrigger"):
        batch(spark, service_url, topic=topic, maxMessagesPerTrigger="5").collect()
