"""Batches that the connector builds, as the official clients, the broker and the connector itself read them."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pulsar as pulsar_client
import pytest

from support.proxies.broker_proxy import running_broker_proxy
from support.spark.errors import failing, no_job, refused
from support.spark.waiting import eventually
from support.topics.java_values import java_connection
from support.topics.keys import key_pair
from support.topics.messages import read_encrypted
from support.topics.reading import run_available

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, Row

    from support.servers.servers import Addresses
    from support.topics.writing import Target

_SECONDS = 180


@pytest.fixture
def deduplicating(target: Target, namespace: str, topic: str) -> str:
    """A topic that drops what it has already. Brokers learn of the policy in the background."""
    target.admin.set_policy(namespace, "deduplication", True)
    target.admin.create_topic(topic)
    eventually(lambda: target.admin.stats(topic)["deduplicationStatus"] == "Enabled", seconds=_SECONDS)
    return topic


def _rows(target: Target, topic: str, *columns: str, **options: str) -> list[Row]:
    return list(target.read(topic, options).select(*columns).orderBy("__sequenceId").collect())


@pytest.mark.parametrize(
    ("batch", "compression"),
    [
        (2, "NONE"),
        (1000, "LZ4"),
        pytest.param(2, "LZ4", marks=pytest.mark.exhaustive),
        pytest.param(1000, "NONE", marks=pytest.mark.exhaustive),
    ],
)
def test_everything_of_a_message_is_read_at_both_levels(
    target: Target, pulsar: Addresses, topic: str, batch: int, compression: str
) -> None:
    rows = target.spark.range(0, 100, 1, 1).selectExpr(
        "if(id % 7 = 0, null, repeat(string(id), int(id))) as value",
        "if(id % 5 = 0, null, cast(concat('key ', id) as binary)) as __key",
        "if(id % 3 = 0, timestamp_millis(1700000000000 + id), null) as __eventTime",
        "map('n', string(id), 'ü', 'ß') as __messageProperties",
        "if(id % 2 = 0, null, cast(string(id) as binary)) as __orderingKey",
    )
    options = {"pulsar.producer.batchingMaxMessages": str(batch), "pulsar.producer.compressionType": compression}
    target.append(rows, topic, {**options, "pulsar.producer.batchingMaxPublishDelayMicros": "60000000"})
    columns = ["value", "__key", "__eventTime", "__messageProperties", "__orderingKey", "__sequenceId", "__batchIndex"]
    past_broker = {"readLevel": "segment", "admin.url": pulsar.admin_url}
    wanted = [tuple(row) for row in rows.collect()]
    for level in ({}, past_broker):
        found = _rows(target, topic, *columns, **level)
        assert [tuple(row)[:5] for row in found] == wanted, level
        assert [row["__sequenceId"] for row in found] == list(range(100))
        assert [row["__batchIndex"] for row in found] == [number % batch for number in range(100)]
    messages = target.messages(topic)
    assert [message.payload.decode() for message in messages] == [value or "" for value, *_ in wanted]
    assert [message.is_null for message in messages] == [value is None for value, *_ in wanted]
    assert [message.properties for message in messages] == [properties for _, _, _, properties, _ in wanted]


def test_a_single_row_is_no_batch(target: Target, topic: str) -> None:
    target.append_sql("select 'x' as value, 'k' as __key, map('a', 'b') as __messageProperties", topic)
    [row] = target.read(topic).select("value", "__key", "__messageProperties", "__batchIndex").collect()
    assert tuple(row) == ("x", b"k", {"a": "b"}, None)


def test_a_batch_over_the_brokers_limit_is_split(target: Target, topic: str) -> None:
    rows = target.spark.range(0, 20, 1, 1).selectExpr("string(id) as __key", "repeat(uuid(), 27000) as value")
    options = {"pulsar.producer.batchingMaxBytes": "100000000", "pulsar.producer.batchingMaxMessages": "1000"}
    target.append(rows, topic, {**options, "pulsar.producer.batchingMaxPublishDelayMicros": "60000000"})
    found = target.messages(topic)
    assert [message.key for message in found] == [str(number) for number in range(20)]
    assert {len(message.payload) for message in found} == {36 * 27_000}
    assert 4 <= len({message.id.entry for message in found}) < 20


def test_rows_without_keys_are_spread_when_bytes_fill_their_batches(target: Target, topic: str) -> None:
    target.admin.create_topic(topic, partitions=4)
    target.append(target.spark.range(0, 400, 1, 1).selectExpr("repeat(string(id % 10), 10000) as value"), topic)
    messages = target.messages(topic)
    assert len(messages) == 400
    assert {message.id.partition for message in messages} == {0, 1, 2, 3}
    assert len({(message.id.partition, message.id.entry) for message in messages}) < 100


def test_a_slow_row_sends_those_before_it(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    pause = "java_method('java.lang.Thread', 'sleep', 20L)"
    rows = target.spark.range(0, 10, 1, 1).selectExpr(f"if({pause} is null, string(id), string(id)) as value")
    target.append(rows, topic)
    assert [row["__batchIndex"] for row in target.read(topic).select("__batchIndex").collect()] == [None] * 10


def test_a_row_does_not_wait_for_the_next_one(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    pause = "java_method('java.lang.Thread', 'sleep', 5000L)"
    value = f"if(id = 0, 'first', if({pause} is null, 'second', 'second'))"
    target.append(target.spark.range(0, 2, 1, 1).selectExpr(f"{value} as value"), topic)
    found = target.read(topic).selectExpr("value", "unix_millis(__publishTime)").collect()
    sent = {row[0]: row[1] for row in found}
    assert sent["second"] - sent["first"] > 1000


def test_deduplication_takes_nothing_from_a_producer_that_begins_again(target: Target, deduplicating: str) -> None:
    topic = f"{deduplicating}-partitioned"
    target.admin.create_topic(topic, partitions=2)
    options = {"pulsar.producer.producerName": "one of several", "pulsar.producer.batchingMaxMessages": "7"}
    for first in range(0, 300, 100):
        rows = target.spark.range(first, first + 100, 1, 1).selectExpr("string(id % 9) as __key", "string(id) as value")
        target.append(rows, topic, options)
    found = target.read(topic).select("value", "__partition", "__sequenceId").collect()
    assert Counter(int(row.value) for row in found) == Counter(range(300))
    for partition in (0, 1):
        ids = sorted(row["__sequenceId"] for row in found if row["__partition"] == partition)
        assert ids == list(range(len(ids)))


@pytest.mark.parametrize("partitions", [0, 8])
def test_ids_of_rows_skip_what_an_earlier_run_wrote_and_nothing_else(
    target: Target, deduplicating: str, partitions: int
) -> None:
    topic = f"{deduplicating}-{partitions}"
    target.admin.create_topic(topic, partitions=partitions)
    options = {"pulsar.producer.producerName": "loader", "pulsar.producer.batchingMaxPublishDelayMicros": "60000000"}
    for count in (10, 15):
        rows = target.spark.range(0, count, 1, 1).selectExpr("id as __sequenceId", "string(id) as value")
        target.append(rows, topic, options)
    assert sorted(int(message.payload) for message in target.messages(topic)) == list(range(15))


def test_rows_between_those_with_ids_are_not_lost(target: Target, deduplicating: str) -> None:
    rows = target.spark.range(0, 10, 1, 1).selectExpr("if(id % 2 = 0, id + 100, null) as __sequenceId", "'x' as value")
    with failing("PULSAR_WRITE_VALUE_NOT_ALLOWED", "__sequenceId", "null after a number"):
        target.append(rows, deduplicating)


def _ids(rows: DataFrame) -> DataFrame:
    return rows.selectExpr("id as __sequenceId", "string(id) as value")


@pytest.mark.parametrize(
    ("tasks", "setting", "words"),
    [
        (2, ("initialSequenceId", "-1"), "2 tasks"),
        (2, ("compressionType", "LZ4"), "2 tasks"),
        (1, ("lazyStartPartitionedProducers", "true"), "lazyStartPartitionedProducers"),
    ],
)
def test_ids_of_a_name_that_would_lose_rows_are_refused(
    target: Target, topic: str, tasks: int, setting: tuple[str, str], words: str
) -> None:
    options = {"pulsar.producer.producerName": "one", f"pulsar.producer.{setting[0]}": setting[1]}
    with refused("PULSAR_WRITE_SEQUENCE_IDS", words), no_job(target.spark):
        target.append(_ids(target.spark.range(0, 10, 1, tasks)), topic, options)


def test_micro_batches_do_not_begin_at_the_same_id(target: Target, topic: str, tmp_path: Path) -> None:
    name = {"pulsar.producer.producerName": "one", "pulsar.producer.initialSequenceId": "-1"}
    rows = target.spark.readStream.format("rate").load().selectExpr("string(value) as value")
    writer = rows.writeStream.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    with failing("PULSAR_WRITE_SEQUENCE_IDS", "each micro-batch"):
        run_available(writer.format("pulsar").options(**target.options(topic, name)))
    each = writer.foreachBatch(lambda frame, _: target.append(frame, topic, name))
    with failing("PULSAR_WRITE_SEQUENCE_IDS", "each micro-batch"):
        run_available(each)


def test_consumers_that_share_keys_get_all_rows_of_a_key(target: Target, deduplicating: str) -> None:
    topic = deduplicating
    kind = pulsar_client.ConsumerType.KeyShared
    consumers = [target.client.subscribe(topic, "shared", consumer_type=kind) for _ in range(3)]
    rows = target.spark.range(0, 600, 1, 1).selectExpr("concat('key ', id % 20) as __key", "string(id) as value")
    more = {"batchBuilder": "key_based", "pulsar.producer.batchingMaxPublishDelayMicros": "60000000"}
    target.append(rows, topic, more)
    found: list[tuple[str, int, int]] = []

    def is_all_received() -> bool:
        for number, consumer in enumerate(consumers):
            with suppress(pulsar_client.Timeout):
                while message := consumer.receive(timeout_millis=50):
                    found.append((message.partition_key(), number, int(message.data())))
        return len(found) >= 600

    eventually(is_all_received, seconds=_SECONDS)
    assert sorted(value for _, _, value in found) == list(range(600))
    assert len({(key, number) for key, number, _ in found}) == 20
    assert len({number for _, number, _ in found}) > 1
    for key in {key for key, _, _ in found}:
        values = [value for one, _, value in found if one == key]
        assert values == sorted(values)
    entries = target.read(topic).select("__entryId", "__key").distinct().collect()
    assert len(entries) == len({row["__entryId"] for row in entries}) == 20
    for consumer in consumers:
        consumer.close()


def test_an_initial_id_skips_what_the_broker_has_and_nothing_else(target: Target, deduplicating: str) -> None:
    more = {"pulsar.producer.batchingMaxPublishDelayMicros": "60000000", "pulsar.producer.producerName": "resumed"}
    for count in (10, 15):
        rows = target.spark.range(0, count, 1, 1).selectExpr("string(id) as value")
        target.append(rows, deduplicating, {**more, "pulsar.producer.initialSequenceId": "-1"})
    assert [int(message.payload) for message in target.messages(deduplicating)] == list(range(15))


def test_cut_connections_repeat_batches_that_the_broker_drops(target: Target, deduplicating: str) -> None:
    topic = deduplicating
    rows = target.spark.range(0, 80_000, 1, 1).selectExpr("string(id) as value")
    with running_broker_proxy(target.service_url) as proxy, proxy.cutting_after(500) as cuts:
        options = {"service.url": proxy.service_url, "pulsar.producer.batchingMaxMessages": "50"}
        more = {"pulsar.producer.maxPendingMessages": "500", "sendTimeoutMs": "180000"}
        target.append(rows, topic, {**options, **more})
    assert sum(cuts) > 1
    assert [int(message.payload) for message in target.messages(topic)] == list(range(80_000))


def test_compaction_keeps_the_last_of_each_key(target: Target, topic: str) -> None:
    rows = target.spark.range(0, 1000, 1, 1).selectExpr(
        "if(id % 50 = 7, null, concat('key ', id % 10)) as __key", "if(id = 999, null, string(id)) as value"
    )
    target.append(rows, topic, {"pulsar.producer.batchingMaxMessages": "100"})
    target.admin.compact(topic)
    eventually(lambda: target.admin.is_compacted(topic), seconds=_SECONDS)
    found = target.read(topic, {"readCompacted": "true"}).select("__key", "value").collect()
    keyed = {bytes(row["__key"]).decode(): row.value for row in found if row["__key"] is not None}
    assert keyed == {f"key {number % 10}": str(number) for number in range(990, 999)}


def test_messages_of_a_batch_are_acknowledged_one_by_one(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    subscribed = {"consumer_type": pulsar_client.ConsumerType.Shared, "batch_index_ack_enabled": True}
    consumer = target.client.subscribe(topic, "half", **subscribed)
    target.append(target.spark.range(0, 100, 1, 1).selectExpr("string(id) as value"), topic)
    for _ in range(100):
        message = consumer.receive(timeout_millis=_SECONDS * 1000)
        if int(message.data()) % 2:
            consumer.acknowledge(message)
    consumer.close()
    consumer = target.client.subscribe(topic, "half", **subscribed)
    again = [int(consumer.receive(timeout_millis=_SECONDS * 1000).data()) for _ in range(50)]
    consumer.close()
    assert sorted(again) == list(range(0, 100, 2))


@pytest.mark.parametrize("messages", [1, 3])
def test_a_batch_is_encrypted_as_a_whole(target: Target, topic: str, tmp_path: Path, messages: int) -> None:
    """No option names a key for writes, so the test hands a batch to a producer that has one."""
    private, public = key_pair(tmp_path, "key")
    jvm: Any = target.spark.sparkContext._jvm
    root = jvm.io.github.pulsarspark.shaded
    with java_connection(target.spark, target.service_url) as java:
        builder = java.newProducer().topic(topic).addEncryptionKey("app").defaultCryptoKeyReader(f"file://{public}")
        builder = builder.batcherBuilder(root.org.apache.pulsar.client.impl.WholeBatchContainer.BUILDER)
        builder = builder.compressionType(root.org.apache.pulsar.client.api.CompressionType.LZ4)
        producer = builder.create()
        # the length of the metadata, and the payload's size as its only field
        content = b"".join(b"\0\0\0\2\x18\x03" + b"%03d" % number for number in range(messages))
        buffer = root.io.netty.buffer.Unpooled.wrappedBuffer(bytearray(content))
        whole = root.org.apache.pulsar.client.impl.WholeBatch
        whole.send(producer, buffer, messages, 0, None).get()
        producer.close()
    secret = target.read(topic, {"encryption.privateKeyFile": str(private)}).collect()
    assert [bytes(row.value) for row in secret] == [b"%03d" % number for number in range(messages)]
    found = read_encrypted(target.client, topic, private, public, messages)
    assert found == [b"%03d" % number for number in range(messages)]
