"""Many rows: small queues make a task wait instead of failing, order holds for each key, partitions share the load."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.topics.writing import Target

ROWS = 30_000


def test_a_tiny_queue_makes_the_task_wait(target: Target, topic: str) -> None:
    settings = {"pulsar.producer.maxPendingMessages": "10", "pulsar.producer.batchingMaxPublishDelayMicros": "100"}
    target.append(target.spark.range(0, ROWS, 1, 2).selectExpr("string(id) as value"), topic, settings)
    times = Counter(int(message.payload) for message in target.messages(topic))
    assert times == Counter(range(ROWS))


def test_order_holds_for_each_key_in_a_partitioned_topic(target: Target, topic: str) -> None:
    target.admin.create_topic(topic, partitions=3)
    rows = target.spark.range(0, 30_000, 1, 1).selectExpr("string(id % 17) as __key", "id as value")
    target.append(rows, topic, {"pulsar.producer.maxPendingMessages": "50"})
    by_key = defaultdict(list)
    for message in target.messages(topic):
        by_key[message.key, message.id.partition].append(int.from_bytes(message.payload, "big"))
    assert len(by_key) == 17, "each key in one partition"
    for (key, _), numbers in by_key.items():
        assert numbers == list(range(int(key), 30_000, 17))
    assert {partition for _, partition in by_key} == {0, 1, 2}
    assert target.read(topic).count() == 30_000


def test_rows_without_keys_are_spread_over_the_partitions(target: Target, topic: str) -> None:
    target.admin.create_topic(topic, partitions=4)
    target.append(target.spark.range(0, 20_000, 1, 2).selectExpr("id as value"), topic)
    messages = target.messages(topic)
    assert Counter(int.from_bytes(message.payload, "big") for message in messages) == Counter(range(20_000))
    assert len({message.id.partition for message in messages}) == 4


def test_one_partition_can_be_written_by_its_name(target: Target, topic: str) -> None:
    target.admin.create_topic(topic, partitions=3)
    target.append(target.spark.range(100).selectExpr("string(id) as __key", "id as value"), f"{topic}-partition-1")
    messages = target.messages(topic)
    assert len(messages) == 100
    assert {message.id.partition for message in messages} | {message.topic for message in messages} == {
        messages[0].id.partition,
        f"{topic}-partition-1",
    }


@pytest.mark.parametrize("compression", ["LZ4", "ZSTD", "ZLIB", "SNAPPY"])
def test_producer_settings_reach_the_producer(target: Target, topic: str, compression: str) -> None:
    rows = target.spark.range(0, 2_000, 1, 1).selectExpr("concat('the same text again and again ', id) as value")
    settings = {"compressionType": compression, "producerName": f"writer of {compression}"}
    target.append(rows, topic, {f"pulsar.producer.{name}": value for name, value in settings.items()})
    assert [message.payload.decode() for message in target.messages(topic)] == [row[0] for row in rows.collect()]
    stored = target.admin.internal_stats(topic)
    assert stored["totalSize"] < 2_000 * 34, "the broker keeps it compressed"
    names = target.read(topic).select("__producerName").distinct().collect()
    assert [row[0] for row in names] == [f"writer of {compression}"]


def test_a_row_over_the_limit_can_be_written_in_chunks(target: Target, topic: str) -> None:
    settings = {"pulsar.producer.chunkingEnabled": "true", "pulsar.producer.batchingEnabled": "false"}
    target.append_sql("select repeat('x', 6000000) as value", topic, settings)
    assert [len(message.payload) for message in target.messages(topic)] == [6_000_000]
    assert [len(row.value) for row in target.read(topic).collect()] == [6_000_000]
