"""Limits of messages where brokers number messages: the driver reads a few entries of a backlog instead of all."""

from __future__ import annotations

import random
from itertools import count, islice
from typing import TYPE_CHECKING

import pytest
from limits.limited import NUMBERING, earliest, numbers, rows_of, sizes_of

from support.servers.servers import Addresses, own_server
from support.topics.messages import produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, read_available

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.topics.transactions import Sender

_MOST = 12_345  # no multiple of a batch


@pytest.fixture(scope="module")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with own_server(tmp_path_factory.mktemp("indexed"), NUMBERING) as addresses:
        yield addresses


@pytest.mark.parametrize("level", ["auto", "segment"])
def test_a_limit_of_messages_goes_by_the_numbers_that_the_broker_gave_them(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    level: str,
) -> None:
    produce(client, topic, numbers(0, 60_000), batch_size=100)
    batches = Batches()
    options = {"readLevel": level, "admin.url": admin.url, "maxMessagesPerTrigger": str(_MOST)}
    read_available(earliest(spark, service_url, topic, **options), tmp_path, batches)
    first, *sizes = sizes_of(batches)
    assert _MOST * 0.95 <= first <= _MOST
    assert first % 100 == 0, "a count of every message would end inside a batch"
    assert max(sizes) <= _MOST
    assert len(sizes) == 4, sizes
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_messages_of_transactions_count_though_the_broker_does_not_number_them(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    whole = {"pulsar.producer.batchingMaxPublishDelayMicros": "60000000"}  # only full batches
    once = {"service.url": service_url, "topic": topic, "deliveryGuarantee": "exactly-once", "sinkId": "numbered"}
    for version in range(5):  # a ledger each, which begins and ends with numbered messages
        produce(client, topic, numbers(0, 2200), batch_size=100)
        more = spark.range(0, 5000, 1, 1).selectExpr("binary(string(id)) as value")
        more.write.format("pulsar").mode("append").options(**once, **whole, txnVersion=str(version)).save()
        produce(client, topic, numbers(0, 2200), batch_size=100)
    ledgers = [one["entries"] for one in admin.internal_stats(topic)["ledgers"]]
    assert ledgers == [50] * 5 + [0], ledgers
    batches = Batches()
    options = {"readLevel": "auto", "admin.url": admin.url, "maxMessagesPerTrigger": str(_MOST)}
    query = read_available(earliest(spark, service_url, topic, **options), tmp_path, batches)
    assert rows_of(query) == [_MOST] * 3 + [47_000 - 3 * _MOST]


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.exhaustive), pytest.param(3, marks=pytest.mark.exhaustive)]
)
def test_batches_of_all_sizes_transactions_and_a_short_partition(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    sender: Sender,
    topic: str,
    tmp_path: Path,
    seed: int,
) -> None:
    chance = random.Random(seed)
    admin.create_topic(topic, partitions=3)
    left = (b"%d" % number for number in count())

    def batches_of(size: int, most: int, partition: int) -> None:
        messages = islice(left, size * chance.randint(1, most))
        produce(client, f"{topic}-partition-{partition}", messages, batch_size=size)

    for partition in (0, 1):
        for _ in range(20):
            batches_of(chance.choice([1, 7, 100, 1000, 1000]), 9, partition)
        if partition == 1:
            producer = sender.producer(f"{topic}-partition-1", batch_size=1)
            for number in range(30):
                transaction = sender.begin()
                producer.newMessage(transaction).value(next(left)).send()
                sender.end(transaction, commit=number % 3 != 1)
        for _ in range(10):
            batches_of(chance.choice([100, 1000]), 9, partition)
    batches_of(10, 3, 2)

    most = 31_000
    batches = Batches()
    options = {"readLevel": "auto", "admin.url": admin.url, "maxMessagesPerTrigger": str(most)}
    query = read_available(earliest(spark, service_url, topic, **options), tmp_path, batches)
    sizes = rows_of(query)
    assert max(sizes) <= most
    assert min(sizes[:-1], default=most) >= most * 0.95, sizes
    wanted = [row for n in range(3) for row in existing(read_all(client, f"{topic}-partition-{n}"))]
    assert_exactly_once(batches.rows, wanted)
