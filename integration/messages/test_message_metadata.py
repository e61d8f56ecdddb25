"""What messages say of themselves, beside those that the Java client writes for the same rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from support.spark.errors import failing
from support.spark.waiting import eventually
from support.topics.java_values import java_connection
from support.topics.keys import key_pair
from support.topics.reading import java_client

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from support.topics.writing import Target

_SECONDS = 180

# All of MessageMetadata but the producer's name and clock. The client merges those of single messages in.
_FLAGS = ["PartitionKeyB64Encoded", "NullValue", "NullPartitionKey"]
_FIELDS = [
    *("SequenceId", "HighestSequenceId", "NumMessagesInBatch", "PartitionKey", "OrderingKey", "EventTime", *_FLAGS),
    *("Compression", "UncompressedSize", "EncryptionAlgo", "EncryptionParam", "SchemaVersion", "SchemaId"),
    *("ReplicatedFrom", "DeliverAtTime", "MarkerType", "TxnidLeastBits", "TxnidMostBits"),
    *("Uuid", "ChunkId", "NumChunksFromMsg", "TotalChunkMsgSize"),
]
_CHANCE = ["Uuid", "EncryptionParam", "TxnidLeastBits", "TxnidMostBits"]  # no two have the same


class _Row(NamedTuple):
    value: str | None = "value"
    key: str | None = None
    bytes_key: bytes | None = None
    ordering_key: bytes | None = None
    event_time: int | None = None
    properties: Mapping[str, str] = {}
    deliver_at: int | None = None
    clusters: tuple[str, ...] | None = None


class _Way(NamedTuple):
    """A row, settings of the producer for both, those of the Java client alone, and options of the write alone."""

    row: _Row
    settings: Mapping[str, str] = {}
    theirs: Mapping[str, str] = {}
    options: Mapping[str, str] = {}


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
_SINGLE = {"batchingEnabled": "false"}
_WAYS = {
    "single": _Way(_Row(key="k", properties={"a": "b"}), _SINGLE),
    "chunks": _Way(_Row("x" * 5000, key="k"), {**_SINGLE, "chunkingEnabled": "true", "chunkMaxMessageSize": "1000"}),
    "delayed": _Way(_Row(key="k", deliver_at=4_102_444_800_123)),
    # the client's batches have the clusters of their first message, so ours has none of several
    "clusters": _Way(_Row(key="k", clusters=("standalone",)), theirs=_SINGLE),
    "no clusters": _Way(_Row(key="k", clusters=()), theirs=_SINGLE),
    "transaction": _Way(_Row(key="k", properties={"a": "b"}), options={"deliveryGuarantee": "exactly-once"}),
}


def _fields(message: Any) -> dict[str, Any]:  # noqa: ANN401 - py4j objects have no type
    metadata = message.getMessageBuilder()
    found: dict[str, Any] = {
        "Properties": dict(message.getProperties()),
        "ReplicateTo": list(message.getReplicateTo() or []),
        "EncryptionKeys": sorted(one.getKey() for one in metadata.getEncryptionKeysList()),
    }
    for name in _FIELDS:
        if not getattr(metadata, f"has{name}")():
            continue
        value = getattr(metadata, f"{'is' if name in _FLAGS else 'get'}{name}")()
        found[name] = bytes(value) if isinstance(value, bytearray) else str(value)
        if name in _CHANCE:
            found[name] = "some"
    return found


class _Java(NamedTuple):
    """A Java client for a whole module, as making one costs more than what a test sends."""

    target: Target
    client: Any  # py4j objects have no type


@pytest.fixture(scope="module")
def java(target: Target) -> Iterator[_Java]:
    with java_connection(target.spark, target.service_url, transactions=True) as client:
        yield _Java(target, client)


def _metadata(java: _Java, topic: str, private_key: Path | None = None) -> list[dict[str, Any]]:
    found = []
    builder = java.client.newReader().topic(topic).startMessageId(java_client(java.target.spark).MessageId.earliest)
    if private_key:
        builder.defaultCryptoKeyReader(f"file://{private_key}")
    reader = builder.create()
    while reader.hasMessageAvailable():
        found.append(_fields(reader.readNext()))
    reader.close()
    return found


def _write_by_client(
    java: _Java,
    topic: str,
    row: _Row,
    count: int,
    settings: Mapping[str, str],
    *,
    transactions: bool = False,
    public_key: Path | None = None,
) -> None:
    api = java_client(java.target.spark)
    jvm: Any = java.target.spark.sparkContext._jvm
    builder = java.client.newProducer(api.Schema.STRING).loadConf(dict(settings)).topic(topic)
    builder.batchingMaxPublishDelay(1, jvm.java.util.concurrent.TimeUnit.MINUTES)
    if public_key:
        builder.addEncryptionKey("app").defaultCryptoKeyReader(f"file://{public_key}")
    if transactions:
        # messages wait until the transaction knows the topic, and a flush before that misses them
        builder.sendTimeout(0, jvm.java.util.concurrent.TimeUnit.SECONDS)
        builder.batchingMaxPublishDelay(5, jvm.java.util.concurrent.TimeUnit.SECONDS)
    started = java.client.newTransaction().withTransactionTimeout(10, jvm.java.util.concurrent.TimeUnit.MINUTES)
    producer = builder.create()
    transaction = started.build().get() if transactions else None
    for _ in range(count):
        message = (producer.newMessage(transaction) if transactions else producer.newMessage()).value(row.value)
        if row.key is not None:
            message.key(row.key)
        if row.bytes_key is not None:
            message.keyBytes(bytearray(row.bytes_key))
        if row.ordering_key is not None:
            message.orderingKey(bytearray(row.ordering_key))
        if row.event_time is not None:
            message.eventTime(row.event_time)
        if row.deliver_at is not None:
            message.deliverAt(row.deliver_at)
        if row.clusters is not None:
            message.replicationClusters(list(row.clusters)) if row.clusters else message.disableReplication()
        for name, value in row.properties.items():
            message.property(name, value)
        message.sendAsync()
    producer.flush()
    if transaction:
        transaction.commit().get()
    producer.close()


def _write_by_spark(
    target: Target, topic: str, row: _Row, count: int, settings: Mapping[str, str], more: Mapping[str, str] = {}
) -> None:
    columns: dict[str, tuple[object, str]] = {"value": (row.value, "string")}
    if row.key is not None:
        columns["__key"] = (row.key, "string")
    if row.bytes_key is not None:
        columns["__key"] = (bytearray(row.bytes_key), "binary")
    if row.ordering_key is not None:
        columns["__orderingKey"] = (bytearray(row.ordering_key), "binary")
    if row.properties:
        columns["__messageProperties"] = (dict(row.properties), "map<string,string>")
    if row.clusters is not None:
        columns["__replicationClusters"] = (list(row.clusters), "array<string>")
    schema = ", ".join(f"{name} {kind}" for name, (_, kind) in columns.items())
    rows = target.spark.createDataFrame([tuple(value for value, _ in columns.values())] * count, schema).coalesce(1)
    if row.event_time is not None:
        rows = rows.selectExpr("*", f"timestamp_millis({row.event_time}) as __eventTime")
    if row.deliver_at is not None:
        rows = rows.selectExpr("*", f"timestamp_millis({row.deliver_at}) as __deliverAt")
    options = {**{f"pulsar.producer.{name}": value for name, value in settings.items()}, **more}
    target.append(rows, topic, {**options, "pulsar.producer.batchingMaxPublishDelayMicros": "60000000"})


@pytest.mark.parametrize(
    "compression", ["NONE", *(pytest.param(one, marks=pytest.mark.exhaustive) for one in ("LZ4", "ZSTD"))]
)
def test_messages_say_of_themselves_what_the_java_client_says(java: _Java, topic: str, compression: str) -> None:
    for name, row in _CASES.items():
        _compare(java, f"{topic}-{name.replace(' ', '-')}", _Way(row, {"compressionType": compression}))


@pytest.mark.parametrize("name", _WAYS)
def test_messages_sent_in_other_ways_say_what_the_java_client_says(java: _Java, topic: str, name: str) -> None:
    _compare(java, topic, _WAYS[name])


def _compare(java: _Java, topic: str, way: _Way) -> None:
    for count in (1, 3):
        ours, theirs = (f"{topic}-{count}-{who}" for who in ("ours", "theirs"))
        _write_by_spark(java.target, ours, way.row, count, way.settings, way.options)
        settings = {**way.settings, **way.theirs}
        _write_by_client(java, theirs, way.row, count, settings, transactions=bool(way.options))
        found, wanted = _metadata(java, ours), _metadata(java, theirs)
        assert len(found) == count
        assert found == wanted, f"{way}, {count} of them"


@pytest.mark.parametrize("compression", [pytest.param("NONE", marks=pytest.mark.exhaustive), "LZ4"])
def test_encrypted_messages_say_what_the_java_client_says(
    target: Target, java: _Java, topic: str, tmp_path: Path, compression: str
) -> None:
    private, public = key_pair(tmp_path, "app")
    # without a key: the client spends two bytes on saying that a text key is no base64, so its batch is longer
    settings, row = {"compressionType": compression}, _Row("x" * 5000, properties={"a": "b"})
    for count in (1, 3):
        ours, theirs = (f"{topic}-{count}-{who}" for who in ("ours", "theirs"))
        _write_by_spark(
            target, ours, row, count, settings, {"encryption.publicKeyFile": json.dumps({"app": str(public)})}
        )
        _write_by_client(java, theirs, row, count, settings, public_key=public)
        found, wanted = _metadata(java, ours, private), _metadata(java, theirs, private)
        assert len(found) == count
        assert found == wanted, f"{count} of them"


def test_a_copy_keeps_what_a_message_says_of_itself(target: Target, java: _Java, topic: str) -> None:
    rows = [*_CASES.values(), _Row(bytes_key=b"text"), _Row(None, bytes_key=b"k")]
    for row in rows:
        _write_by_client(java, topic, row, 1, {"compressionType": "NONE"})
    target.append(target.read(topic).select("*").coalesce(1), f"{topic}-copy")
    found, wanted = _metadata(java, f"{topic}-copy"), _metadata(java, topic)
    assert len(found) == len(rows)
    of_the_entry = ("SequenceId", "HighestSequenceId", "NumMessagesInBatch", "UncompressedSize")
    for one in (*found, *wanted):
        for name in of_the_entry:
            one.pop(name, None)
    assert found == wanted


def test_a_copy_says_the_schema_version_that_its_topic_has(target: Target, java: _Java, topic: str) -> None:
    """Both topics have the same schemas, by other numbers."""
    copy, narrow, wide = f"{topic}-copy", "select 1 as id", "select 2 as id, 'b' as name"
    fields: list[dict[str, object]] = [{"name": "id", "type": "int"}]
    for name, query in ((topic, narrow), (topic, wide), (copy, wide)):
        more = [{"name": "name", "type": ["null", "string"], "default": None}] if query == wide else []
        target.admin.upload_schema(name, "AVRO", json.dumps({"type": "record", "name": "Row", "fields": fields + more}))
        target.append_sql(query, name)
    source = target.read(topic)
    assert {row.id: _version(row) for row in source.select("id", "__schemaVersion").collect()} == {1: 0, 2: 1}
    target.append(source.select("*"), copy)
    rows = target.read(copy).select("id", "name", "__schemaVersion").collect()
    assert sorted((row.id, row.name or "", _version(row)) for row in rows) == [(1, "", 0), (2, "b", 0), (2, "b", 0)]
    assert _metadata(java, copy)[0]["SchemaVersion"] == _metadata(java, topic)[0]["SchemaVersion"], "version 0"


def _version(row: Any) -> int:  # noqa: ANN401 - a row of any columns
    return int.from_bytes(row["__schemaVersion"], "big")


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
