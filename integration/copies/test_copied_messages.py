"""Ways to copy a topic: what the Java client sees in the copy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support.topics.java_values import java_connection
from support.topics.reading import java_client, run_available

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.topics.writing import Target

RIDE = {
    "type": "record",
    "name": "Ride",
    "namespace": "org.example",
    "doc": "what a copy by columns would not have",
    "fields": [{"name": "city", "type": ["null", "string"], "default": None}],
}
RAW = {"schemaMode": "raw"}, {"schemaType": "bytes"}


def _by_batch(target: Target, source: str, copy: str, _: Path) -> None:
    target.append(target.read(source), copy)


def _by_stream(target: Target, source: str, copy: str, folder: Path) -> None:
    reader = target.spark.readStream.format("pulsar").options(**target.options(source), startingOffsets="earliest")
    writer = reader.load().writeStream.format("pulsar").options(**target.options(copy))
    run_available(writer.option("checkpointLocation", str(folder)))


def _by_bytes(target: Target, source: str, copy: str, _: Path) -> None:
    reading, writing = RAW
    target.append(target.read(source, reading), copy, writing)


@pytest.mark.parametrize("copied", [_by_batch, _by_stream, _by_bytes])
def test_a_copy_has_the_value_key_ordering_key_event_time_and_properties_of_each_message(
    spark: SparkSession,
    target: Target,
    topic: str,
    tmp_path: Path,
    copied: Callable[[Target, str, str, Path], None],
) -> None:
    api = java_client(spark)
    with java_connection(spark, target.service_url) as java:
        producer = java.newProducer(api.Schema.STRING).topic(topic).create()
        for number in range(20):
            message = producer.newMessage().value(None if number == 7 else f"v{number}").property("n", str(number))
            if number % 3 == 0:
                message.key(f"text {number}")
            if number % 3 == 1:
                message.keyBytes(bytes([number, 0, 255]))
            if number % 4 == 0:
                message.orderingKey(bytes([number, 255])).eventTime(1_700_000_000_000 + number)
            message.sendAsync()
        producer.flush()
        sent = _received(java, api, topic)
        copied(target, topic, f"{topic}-copy", tmp_path)
        assert len(sent) == 20
        assert {one[2] for one in sent} == {None, False, True}, "no key, a text, bytes"
        assert _received(java, api, f"{topic}-copy") == sent


def test_a_copy_of_bytes_keeps_the_definition_and_tombstones_of_records(
    spark: SparkSession, target: Target, topic: str, tmp_path: Path
) -> None:
    """A copy by columns makes a record of nulls of a tombstone, where the fields allow it."""
    by_columns, by_bytes = f"{topic}-columns", f"{topic}-bytes"
    for name in (topic, by_columns, by_bytes):
        target.admin.upload_schema(name, "AVRO", json.dumps(RIDE))
    rides = "select * from values ('Berlin', map('n', '0')), (null, map('n', '1')) as (city, __messageProperties)"
    target.append_sql(rides, topic)
    api = java_client(spark)
    with java_connection(spark, target.service_url) as java:
        producer = java.newProducer(api.Schema.BYTES).topic(topic).create()
        producer.newMessage().value(None).property("n", "2").send()
        sent = _received(java, api, topic)
        _by_batch(target, topic, by_columns, tmp_path)
        _by_bytes(target, topic, by_bytes, tmp_path)
        assert _received(java, api, by_bytes) == sent
        values = [one[0] for one in _received(java, api, by_columns)]
    assert [one[0] for one in sent][2] is None
    assert values == [sent[0][0], sent[1][0], sent[1][0]]
    assert target.schema(by_bytes) == target.schema(topic)
    read = [target.read(name).select("city").collect() for name in (topic, by_bytes)]
    assert sorted(map(str, read[0])) == sorted(map(str, read[1]))
    assert [row[0] for row in target.read(by_bytes).select("__schemaVersion").distinct().collect()] == [None]


def _received(java: Any, api: Any, topic: str) -> list[tuple[Any, ...]]:  # noqa: ANN401 - py4j
    """Data, key and its kind, ordering key, event time, and properties, by the property `n`."""
    reader = java.newReader().topic(topic).startMessageId(api.MessageId.earliest).create()
    found = []
    while reader.hasMessageAvailable():
        one = reader.readNext()
        data = one.getData()
        found.append(
            (
                None if data is None else bytes(data),
                bytes(one.getKeyBytes()) if one.hasKey() else None,
                one.hasBase64EncodedKey() if one.hasKey() else None,
                bytes(one.getOrderingKey()) if one.hasOrderingKey() else None,
                one.getEventTime(),
                dict(one.getProperties()),
            )
        )
    reader.close()
    return sorted(found, key=lambda one: int(one[5]["n"]))
