"""What the messages of whole batches say of themselves, beside those that the Java client writes for the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from errors import failing
from java_values import java_connection
from reading import java_client
from waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping

    from writing import Target

_SECONDS = 60

# All of MessageMetadata but the producer's name and clock. The client merges those of single messages in.
_FLAGS = ["PartitionKeyB64Encoded", "NullValue", "NullPartitionKey"]
_FIELDS = [
    *("SequenceId", "HighestSequenceId", "NumMessagesInBatch", "PartitionKey", "OrderingKey", "EventTime", *_FLAGS),
    *("Compression", "UncompressedSize", "EncryptionAlgo", "EncryptionParam", "SchemaVersion", "SchemaId"),
    *("ReplicatedFrom", "DeliverAtTime", "MarkerType", "TxnidLeastBits", "TxnidMostBits"),
    *("Uuid", "ChunkId", "NumChunksFromMsg", "TotalChunkMsgSize"),
]


class _Row(NamedTuple):
    value: str | None = "value"
    key: str | None = None
    bytes_key: bytes | None = None
    ordering_key: bytes | None = None
    event_time: int | None = None
    properties: Mapping[str, str] = {}


_CASES = {
    "value": _Row(),
    "long value": _Row("x" * 5000),
    "empty value": _Row(""),
    "text key": _Row(key="k"),
    "bytes key": _Row(bytes_key=b"\x00\xff"),
    "ordering key": _Row(ordering_key=b"o"),
    "event time": _Row(event_time=1_700_000_000_123),
    "properties": _Row(properties={"a": "b"}),
    "tombstone": _Row(None, key="k"),
    "null without key": _Row(None),
}


def _fields(message: Any) -> dict[str, Any]:  # noqa: ANN401 - py4j objects have no type
    metadata = message.getMessageBuilder()
    found: dict[str, Any] = {
        "Properties": sorted((one.getKey(), one.getValue()) for one in metadata.getPropertiesList())
    }
    for name in _FIELDS:
        if not getattr(metadata, f"has{name}")():
            continue
        value = getattr(metadata, f"{'is' if name in _FLAGS else 'get'}{name}")()
        found[name] = bytes(value) if isinstance(value, bytearray) else str(value)
    return found


def _metadata(target: Target, topic: str) -> list[dict[str, Any]]:
    found = []
    with java_connection(target.spark, target.service_url) as client:
        earliest = java_client(target.spark).MessageId.earliest
        reader = client.newReader().topic(topic).startMessageId(earliest).create()
        while reader.hasMessageAvailable():
            found.append(_fields(reader.readNext()))
    return found


def _write_by_client(target: Target, topic: str, row: _Row, count: int, settings: Mapping[str, str]) -> None:
    java = java_client(target.spark)
    with java_connection(target.spark, target.service_url) as client:
        builder = client.newProducer(java.Schema.STRING).topic(topic)
        jvm: Any = target.spark.sparkContext._jvm
        builder.batchingMaxPublishDelay(1, jvm.java.util.concurrent.TimeUnit.MINUTES)
        builder.compressionType(java.CompressionType.valueOf(settings["compressionType"]))
        producer = builder.create()
        for _ in range(count):
            message = producer.newMessage().value(row.value)
            if row.key is not None:
                message.key(row.key)
            if row.bytes_key is not None:
                message.keyBytes(bytearray(row.bytes_key))
            if row.ordering_key is not None:
                message.orderingKey(bytearray(row.ordering_key))
            if row.event_time is not None:
                message.eventTime(row.event_time)
            for name, value in row.properties.items():
                message.property(name, value)
            message.sendAsync()
        producer.flush()
        producer.close()


def _write_by_spark(target: Target, topic: str, row: _Row, count: int, settings: Mapping[str, str]) -> None:
    columns: dict[str, tuple[object, str]] = {"value": (row.value, "string")}
    if row.key is not None:
        columns["__key"] = (row.key, "string")
    if row.bytes_key is not None:
        columns["__key"] = (bytearray(row.bytes_key), "binary")
    if row.ordering_key is not None:
        columns["__orderingKey"] = (bytearray(row.ordering_key), "binary")
    if row.properties:
        columns["__messageProperties"] = (dict(row.properties), "map<string,string>")
    schema = ", ".join(f"{name} {kind}" for name, (_, kind) in columns.items())
    rows = target.spark.createDataFrame([tuple(value for value, _ in columns.values())] * count, schema).coalesce(1)
    if row.event_time is not None:
        rows = rows.selectExpr("*", f"timestamp_millis({row.event_time}) as __eventTime")
    options = {f"pulsar.producer.{name}": value for name, value in settings.items()}
    target.append(rows, topic, {**options, "pulsar.producer.batchingMaxPublishDelayMicros": "60000000"})


@pytest.mark.parametrize("compression", ["NONE", "LZ4", pytest.param("ZSTD", marks=pytest.mark.exhaustive)])
def test_messages_say_of_themselves_what_the_java_client_says(target: Target, topic: str, compression: str) -> None:
    settings = {"compressionType": compression}
    for name, row in _CASES.items():
        for count in (1, 3):
            ours, theirs = (f"{topic}-{name.replace(' ', '-')}-{count}-{who}" for who in ("ours", "theirs"))
            _write_by_spark(target, ours, row, count, settings)
            _write_by_client(target, theirs, row, count, settings)
            found, wanted = _metadata(target, ours), _metadata(target, theirs)
            assert len(found) == count
            assert found == wanted, f"{name}, {count} of them"


def test_compaction_removes_what_a_tombstone_alone_in_its_batch_deletes(target: Target, topic: str) -> None:
    target.append_sql("select concat('key ', id) as __key, string(id) as value from range(0, 4, 1, 1)", topic)
    target.append_sql("select 'key 1' as __key, cast(null as string) as value", topic)
    target.append_sql("select concat('key ', id) as __key, cast(null as string) as value from range(2, 4, 1, 1)", topic)
    target.admin.compact(topic)
    eventually(lambda: target.admin.is_compacted(topic), seconds=_SECONDS)
    found = target.read(topic, {"readCompacted": "true"}).selectExpr("string(__key)", "value").collect()
    assert [tuple(row) for row in found] == [("key 0", "0")]


def test_a_row_whose_properties_make_it_too_large_is_refused_at_once(target: Target, topic: str) -> None:
    query = "select repeat('x', 5242000) as value, map('a', repeat('y', 20000)) as __messageProperties"
    with failing("PULSAR_MESSAGE_TOO_LARGE", topic):
        target.append_sql(query, topic)
    target.append_sql("select 'small' as value", topic)
    assert [message.payload for message in target.messages(topic)] == [b"small"]
