"""Limits over a backlog of many ledgers: of messages, counted where they are stored, and of bytes, by the sizes of
ledgers."""

from __future__ import annotations

import random
from itertools import count, islice, pairwise
from typing import TYPE_CHECKING

import pytest
from limits.limited import earliest, numbers, rows_of, sizes_of

from support.proxies.admin_proxy import running_admin_proxy
from support.proxies.counting import counted
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    by_level,
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

_TWO_LEDGERS = 100


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
    produce(client, topic, numbers(0, sent))

    requests: list[int] = []

    class Writing(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            requests.append(counts.to_plan())
            if batch_id < 10:
                produce(client, topic, numbers(sent + 60 * batch_id, 60))

    batches = Writing()
    with running_admin_proxy(admin.url) as proxy, counted(proxy) as counts:
        options = {"readLevel": level, "admin.url": proxy.url, "maxMessagesPerTrigger": str(most)}
        with running(start(earliest(spark, service_url, topic, **options), tmp_path, batches)) as query:
            wait_for(sent + 600, query, batches)
            query.processAllAvailable()
        done = [one for one in query.recentProgress if one.numInputRows > 0][-1]
    found = by_level({name.removeprefix("pulsar"): int(n) for name, n in done.sources[0].metrics.items()}, "Rows")
    assert max(sizes_of(batches)) <= most
    assert found["bookies"] >= sent
    steps = [after - before for before, after in pairwise([0, *requests])]
    assert max(steps) == 1, f"requests by micro-batch: {steps}"
    assert sum(steps) <= len(steps) // 2, f"what is known is requested again: {steps}"
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_a_limit_of_messages_counts_a_backlog_where_it_is_stored(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, numbers(0, 1020))
    batches = Batches()
    options = {"readLevel": "segment", "admin.url": admin.url, "maxMessagesPerTrigger": "100"}
    read_available(earliest(spark, service_url, topic, **options), tmp_path, batches)
    assert sizes_of(batches) == [100] * 10 + [20]
    # the ledger that is being written, with what the first permits bring besides
    assert admin.stats(topic)["msgOutCounter"] < 1020 / 4, "the broker sends the driver whole ledgers"
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_a_large_limit_of_messages_is_exact(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, numbers(0, 40_000), batch_size=100)
    batches = Batches()
    options = {"readLevel": "auto", "admin.url": admin.url, "maxMessagesPerTrigger": "12345"}
    read_available(earliest(spark, service_url, topic, **options), tmp_path, batches)
    assert sizes_of(batches) == [12_345] * 3 + [40_000 - 3 * 12_345]
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


# In the gate a third of the messages, and of the limit.
@pytest.mark.parametrize(
    ("seed", "share"), [(1, 3), *(pytest.param(seed, 1, marks=pytest.mark.exhaustive) for seed in (1, 2, 3))]
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
    share: int,
) -> None:
    chance = random.Random(seed)
    admin.create_topic(topic, partitions=3)
    left = (b"%d" % number for number in count())

    def batches_of(size: int, most: int, partition: int) -> None:
        messages = islice(left, size * chance.randint(1, most))
        produce(client, f"{topic}-partition-{partition}", messages, batch_size=size)

    for partition in (0, 1):
        for _ in range(20 // share):
            batches_of(chance.choice([1, 7, 100, 1000, 1000]), 9, partition)
        if partition == 1:
            producer = sender.producer(f"{topic}-partition-1", batch_size=1)
            for number in range(30):
                transaction = sender.begin()
                producer.newMessage(transaction).value(next(left)).send()
                sender.end(transaction, commit=number % 3 != 1)
        for _ in range(10 // share):
            batches_of(chance.choice([100, 1000]), 9, partition)
    batches_of(10, 3, 2)

    most = 31_000 // share
    batches = Batches()
    options = {"readLevel": "auto", "admin.url": admin.url, "maxMessagesPerTrigger": str(most)}
    query = read_available(earliest(spark, service_url, topic, **options), tmp_path, batches)
    sizes = rows_of(query)
    assert set(sizes[:-1]) == {most}, sizes
    wanted = [row for n in range(3) for row in existing(read_all(client, f"{topic}-partition-{n}"))]
    assert_exactly_once(batches.rows, wanted)


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
    produce(client, topic, numbers(0, 500))
    everything = existing(read_all(client, topic))

    class Trimming(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            if batch_id == 1:
                admin.truncate(topic)
                eventually(lambda: len(read_all(client, topic)) < len(everything))
                produce(client, topic, numbers(500, 30))

    batches = Trimming()
    options = {"readLevel": level, "admin.url": admin.url, "maxMessagesPerTrigger": "30", "failOnDataLoss": "false"}
    with running(start(earliest(spark, service_url, topic, **options), tmp_path, batches)) as query:
        eventually(lambda: query.exception() or any(row.payload == b"529" for row in batches.rows))
    left = existing(read_all(client, topic))
    before = [row for row in batches.rows if row not in left]
    assert_exactly_once(before, everything[: len(before)])
    assert_exactly_once([row for row in batches.rows if row in left], left)


def test_bytes_limit_a_micro_batch(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"x" * 1000] * 60)
    batches = Batches()
    frame = earliest(spark, service_url, topic, maxBytesPerTrigger="10k")
    read_available(frame, tmp_path, batches)
    sizes = sizes_of(batches)
    assert all(9 <= size <= 11 for size in sizes[:-1]), sizes
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    one_each = Batches()
    produce(client, f"{topic}-few", [b"x" * 1000] * 5)
    read_available(earliest(spark, service_url, f"{topic}-few", maxBytesPerTrigger="1"), tmp_path / "few", one_each)
    assert sizes_of(one_each) == [1] * 5


def test_a_limit_of_bytes_goes_by_whole_ledgers(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    """``LedgerStepsSuite`` counts what the driver reads: the last entry of each micro-batch."""
    produce(client, topic, [b"%100d" % number for number in range(1020)])
    batches = Batches()
    with running_admin_proxy(admin.url) as proxy, counted(proxy) as counts:
        options = {"readLevel": "segment", "admin.url": proxy.url, "maxBytesPerTrigger": "15k"}
        query = read_available(earliest(spark, service_url, topic, **options), tmp_path, batches)
        assert counts.to_plan() == 1, "the list of ledgers serves the limit and the plan"
    assert sizes_of(batches) == [_TWO_LEDGERS] * 10 + [20], "a count of bytes would not end with ledgers"
    bytes_read = [int(one.sources[0].metrics["pulsarBookieBytes"]) for one in query.recentProgress if one.numInputRows]
    assert max(after - before for before, after in pairwise([0, *bytes_read])) <= 15 * 1024
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
    read_available(earliest(spark, service_url, topic, **options), tmp_path, batches)
    assert len(batches.by_id) > 1
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
