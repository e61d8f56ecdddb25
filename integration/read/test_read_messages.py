"""Batch reads: every part of a message as the official client sees it, whatever way it was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulsar as pulsar_client
import pytest
from pyspark.errors import IllegalArgumentException

from support.spark.waiting import becomes
from support.topics.java_values import java_connection
from support.topics.levels import AT_BOTH_LEVELS
from support.topics.messages import Message, Received, produce, read_all
from support.topics.reading import assert_exactly_once, batch, existing, java_client, seen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

pytestmark = pytest.mark.usefixtures("read_level")

_KEYS = (None, "key", "schlüssel 鍵", "a" * 300, "=not/base64+")
_PROPERTIES: tuple[dict[str, str], ...] = ({}, {"a": "1"}, {"a": "", "ü": "é", "long": "x" * 500})
_PAYLOADS: tuple[bytes | None, ...] = (b"text", b"", None, bytes(range(256)), "ünï".encode(), b"repeat" * 200)


def _messages(count: int) -> list[Message]:
    """Messages in which every kind of key, value, time and property meets the others; each payload is its own."""
    return [
        Message(
            None if (payload := _PAYLOADS[number % 6]) is None else payload and payload + b" %d" % number,
            key=_KEYS[number % 5],
            event_time_ms=(0, 1, 1_700_000_000_123 + number, 4_102_444_800_999)[number % 4],
            properties=_PROPERTIES[number % 3],
        )
        for number in range(count)
    ]


_EVERYTHING = (
    "value",
    "__key",
    "__topic",
    "__messageId",
    "unix_millis(__publishTime) AS published",
    "unix_millis(__eventTime) AS event",
    "__messageProperties",
    "__position",
    "__partition",
    "__ledgerId",
    "__entryId",
    "__batchIndex",
    "__producerName",
)


def _without_id(one: Received) -> tuple[Any, ...]:
    return (
        None if one.is_null else one.payload,
        one.key.encode() or None,
        one.topic,
        one.publish_time_ms,
        one.event_time_ms or None,
        one.properties,
        one.id.position,
        one.id.partition if one.id.partition >= 0 else None,
        one.id.ledger,
        one.id.entry,
        one.id.batch if one.id.batch >= 0 else None,
        one.producer,
    )


@pytest.mark.parametrize(
    ("batch_size", "compression", "partitions"),
    [
        (None, "NONE", 0),
        (1, "NONE", 3),
        (1000, "NONE", 3),
        (7, "LZ4", 0),
        (2, "ZLib", 3),
        (7, "ZSTD", 3),
        (None, "SNAPPY", 3),
        pytest.param(2, "NONE", 0, marks=pytest.mark.exhaustive),
        pytest.param(7, "NONE", 3, marks=pytest.mark.exhaustive),
        pytest.param(None, "LZ4", 3, marks=pytest.mark.exhaustive),
        pytest.param(1000, "ZLib", 0, marks=pytest.mark.exhaustive),
        pytest.param(None, "ZSTD", 0, marks=pytest.mark.exhaustive),
        pytest.param(1000, "SNAPPY", 0, marks=pytest.mark.exhaustive),
    ],
)
def test_every_metadata_column_equals_the_official_clients_value(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    batch_size: int | None,
    compression: str,
    partitions: int,
) -> None:
    if partitions:
        admin.create_topic(topic, partitions=partitions)
    produce(client, topic, _messages(1300), batch_size=batch_size, compression=compression)
    received = read_all(client, topic)
    assert len(received) == 1300
    rows = batch(spark, service_url, topic=topic).selectExpr(*_EVERYTHING).collect()
    found = sorted(map(tuple, rows), key=lambda row: str(row[2]))  # keeps the order within a partition
    assert [row[:3] + row[4:] for row in found] == [_without_id(one) for one in received]
    # The official client leaves a batch size of 0 out, which the Java client writes.
    ids = [pulsar_client.MessageId.deserialize(bytes(row[3])).serialize() for row in found]
    assert ids == [one.id_bytes for one in received]


def test_empty_values_compressed_with_zlib(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    """The official client cannot read back what it sends here; what was sent is the oracle."""
    produce(client, topic, [b"a", b"", Message(None), b"b"], compression="ZLib")
    assert [one.payload for one in seen(batch(spark, service_url, topic=topic))] == [b"a", b"", None, b"b"]


@AT_BOTH_LEVELS
def test_keys_of_bytes_and_ids_as_the_java_client_has_them(spark: SparkSession, service_url: str, topic: str) -> None:
    keys = [bytes([0, 255, 128]), "text ü".encode(), b"aGVsbG8=", b""]
    # The official Python client has no keys of bytes; the Java client, which our jar carries, has.
    api = java_client(spark)
    with java_connection(spark, service_url) as java:
        producer = java.newProducer().topic(topic).create()
        for key in keys:
            producer.newMessage().keyBytes(key).value(key).send()
        producer.newMessage().key("aGVsbG8=").value(b"aGVsbG8=").send()
        producer.newMessage().value(b"none").send()
        reader = java.newReader().topic(topic).startMessageId(api.MessageId.earliest).create()
        ids = [bytes(reader.readNext().getMessageId().toByteArray()) for _ in range(6)]
    rows = batch(spark, service_url, topic=topic).selectExpr("value", "__key").collect()
    assert [(row[0], row[1]) for row in rows] == [(key, key) for key in [*keys, b"aGVsbG8="]] + [(b"none", None)]
    assert [bytes(row[0]) for row in batch(spark, service_url, topic=topic).select("__messageId").collect()] == ids


def test_message_ids_are_read_back_by_the_official_client(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, [b"%d" % number for number in range(20)], batch_size=7)
    rows = batch(spark, service_url, topic=topic).select("__messageId").collect()
    reader = client.create_reader(topic, pulsar_client.MessageId.deserialize(bytes(rows[9][0])))
    assert reader.read_next(timeout_millis=180_000).data() == b"10"
    reader.close()


def test_default_columns_and_all_columns(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, [Message(b"v", key="k")], producer_name="its name", initial_sequence_id=41)
    theirs = ["__key", "__topic", "__messageId", "__publishTime", "__eventTime", "__messageProperties"]
    shown = ["value", *theirs, "__keyIsText", "__orderingKey"]
    assert batch(spark, service_url, topic=topic).columns == shown
    every = batch(spark, service_url, topic=topic, metadataColumns="all")
    assert every.columns[:9] == shown
    assert {"__position", "__sequenceId", "__producerName", "__schemaVersion", "__index"} < set(every.columns)
    row = every.collect()[0].asDict()
    assert (row["__sequenceId"], row["__producerName"], row["__orderingKey"]) == (42, "its name", None)
    assert row["__keyIsText"] is True
    one = batch(spark, service_url, topic=topic, metadataColumns="__position")
    assert one.columns == [*shown, "__position"]
    hidden = batch(spark, service_url, topic=topic).select("__sequenceId", "__position").collect()
    assert [tuple(one) for one in hidden] == [(42, row["__position"])]


@AT_BOTH_LEVELS
def test_one_partition_several_topics_and_patterns(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    parted, plain, other = f"{topic}-parted", f"{topic}-plain", f"{topic}-other"
    admin.create_topic(parted, partitions=3)
    for name in (parted, plain, other):
        produce(client, name, [f"{name} {number}".encode() for number in range(100)], batch_size=7)
    there = {name: existing(read_all(client, name)) for name in (parted, plain, other)}
    second = f"{parted}-partition-1"
    namespace_and_test = topic.removeprefix("persistent://")
    for options, wanted in [
        ({"topic": second}, [one for one in there[parted] if one.topic == second]),
        ({"topics": f"{plain}, {parted}"}, there[parted] + there[plain]),
        ({"topics": f"{plain},{plain}"}, there[plain]),
        ({"topicsPattern": f"{namespace_and_test}-p.*"}, there[parted] + there[plain]),
        ({"topicsPattern": f"persistent://{namespace_and_test}-(other|plain)"}, there[other] + there[plain]),
    ]:
        assert_exactly_once(seen(batch(spark, service_url, **options)), wanted)


def test_a_short_name_is_one_of_the_default_namespace(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    short = topic.rpartition("/")[2]
    full = f"persistent://public/default/{short}"
    produce(client, full, [b"1", b"2"])
    try:
        wanted = existing(read_all(client, full))
        assert_exactly_once(seen(batch(spark, service_url, topic=short)), wanted)
        assert_exactly_once(seen(batch(spark, service_url, topicsPattern=f"{short[:-1]}.")), wanted)
    finally:
        admin.delete_topic(full)


@AT_BOTH_LEVELS
@pytest.mark.parametrize("partitions", [0, 2])
def test_names_that_need_escaping(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, partitions: int
) -> None:
    odd = f"{topic} ä%2F+?&=:#鍵"
    admin.create_topic(odd, partitions=partitions)
    produce(client, odd, [b"%d" % number for number in range(20)], batch_size=2)
    wanted = existing(read_all(client, odd))
    assert_exactly_once(seen(batch(spark, service_url, topic=odd)), wanted)
    assert_exactly_once(seen(batch(spark, service_url, topics=odd)), wanted)
    pattern = topic.removeprefix("persistent://") + r" ä%2F\+\?&=:#.*"
    assert_exactly_once(seen(batch(spark, service_url, topicsPattern=pattern)), wanted)


@AT_BOTH_LEVELS
@pytest.mark.parametrize("partitions", [0, 2])
def test_an_empty_topic_has_no_rows(
    spark: SparkSession, service_url: str, admin: Admin, topic: str, partitions: int
) -> None:
    admin.create_topic(topic, partitions=partitions)
    frame = batch(spark, service_url, topic=topic)
    assert frame.collect() == []
    assert frame.count() == 0


@AT_BOTH_LEVELS
def test_counts_and_metadata_need_no_payload(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    """The payloads are no Avro at all: only a query that opens them can notice."""
    produce(client, topic, [Message(b"\xff\xff garbage", key=f"k{number % 3}") for number in range(500)], batch_size=7)
    produce(client, topic, [b"\xff\xff garbage"] * 50)
    record = '{"type":"record","name":"R","fields":[{"name":"a","type":"string"},{"name":"b","type":"long"}]}'
    admin.upload_schema(topic, "AVRO", record)
    frame = batch(spark, service_url, topic=topic)
    assert frame.columns[:2] == ["a", "b"]
    assert frame.count() == 550
    assert frame.where("__publishTime > TIMESTAMP '2020-01-01 00:00:00Z'").count() == 550
    assert sorted(map(tuple, frame.groupBy("__key").count().collect()), key=str) == [
        (None, 50),
        (b"k0", 167),
        (b"k1", 167),
        (b"k2", 166),
    ]
    positions = [row[0] for row in frame.select("__position").collect()]
    assert positions == [one.id.position for one in read_all(client, topic)]
    with pytest.raises(Exception, match=r"PULSAR_VALUE_NOT_DECODABLE.*" + positions[0]):
        frame.select("a").collect()


@pytest.mark.parametrize("batch_size", [None, 7])
def test_messages_of_which_few_fit_into_the_read_ahead(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, batch_size: int | None
) -> None:
    sizes = [100_000, 10, 300_000, 60_000, 1] * 20
    produce(client, topic, [b"%d" % number + b"x" * size for number, size in enumerate(sizes)], batch_size=batch_size)
    wanted = existing(read_all(client, topic))
    for ahead in ("1", "200k", "1m"):
        options = {"readAheadBytes": ahead, "pollTimeoutMs": "60000"}
        assert_exactly_once(seen(batch(spark, service_url, topic=topic, **options)), wanted)


def test_an_unknown_topic_is_one_clear_error(
    spark: SparkSession, service_url: str, admin: Admin, namespace: str, topic: str
) -> None:
    with pytest.raises(IllegalArgumentException, match=r"\[PULSAR_TOPIC_NOT_FOUND\]"):
        batch(spark, service_url, topic=topic)
    with pytest.raises(IllegalArgumentException, match=r"\[PULSAR_NO_TOPIC_MATCHES\]"):
        batch(spark, service_url, topicsPattern=f"{namespace}/no-such-topic-.*")
    assert topic not in admin.topics(namespace), "asking must not make the topic"


@AT_BOTH_LEVELS
def test_no_subscription_is_left_behind(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, [b"%d" % number for number in range(200)], batch_size=7)
    frame = batch(spark, service_url, topic=topic)
    assert frame.count() == 200
    assert len(frame.limit(3).collect()) == 3
    batch(spark, service_url, topic=topic, startingTime="2020-01-01T00:00:00Z").collect()
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        frame.selectExpr("1 / (cast(value as string) - 50)").collect()
    becomes(lambda: admin.subscriptions(topic), [])
