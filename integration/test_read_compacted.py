"""The compacted view of a topic, as the official client's reader has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest
from failing import refused
from messages import Message, produce
from reading import Batches, batch, read_available, seen, stream
from waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from admin import Admin
    from pyspark.sql import SparkSession
    from servers import Addresses


def _updates(count: int, keys: int) -> list[Message]:
    """Values of some keys, the last one of each; every fifth key ends deleted."""
    sent = [Message(b"%d" % number, key=f"key {number % keys}") for number in range(count)]
    return sent + [Message(None, key=f"key {number}") for number in range(0, keys, 5)]


def _compacted(client: pulsar_client.Client, topic: str) -> list[tuple[str, bytes]]:
    reader = client.create_reader(topic, pulsar_client.MessageId.earliest, is_read_compacted=True)
    found = []
    while reader.has_message_available():
        message = reader.read_next(timeout_millis=10_000)
        if (
            message.partition_key()
        ):  # this client hands out the places of removed messages in a batch, without key or value
            found.append((message.partition_key(), message.data()))
    reader.close()
    return found


def _pairs(spark: SparkSession, pulsar: Addresses, topic: str, **options: str) -> list[tuple[str, bytes]]:
    frame = batch(spark, pulsar.service_url, topic=topic, readCompacted="true", **options)
    return [(bytes(key).decode(), bytes(value or b"")) for key, value in frame.select("__key", "value").collect()]


@pytest.mark.parametrize("batch_size", [None, 1, 7])
def test_the_compacted_view_and_what_came_after_it(
    spark: SparkSession,
    pulsar: Addresses,
    client: pulsar_client.Client,
    admin: Admin,
    topic: str,
    batch_size: int | None,
) -> None:
    produce(client, topic, _updates(200, 20), batch_size=batch_size)
    assert len(_pairs(spark, pulsar, topic)) == 204, "nothing is compacted yet"
    admin.compact(topic)
    eventually(lambda: admin.is_compacted(topic), seconds=60)
    compacted = _pairs(spark, pulsar, topic)
    newest = {(f"key {number}", b"%d" % (180 + number)) for number in range(20) if number % 5}
    assert {pair for pair in compacted if pair[1]} == newest
    assert compacted == _compacted(client, topic)
    produce(client, topic, [Message(b"later", key="key 1"), Message(b"new", key="key 99")], batch_size=batch_size)
    assert _pairs(spark, pulsar, topic) == _compacted(client, topic)
    assert _pairs(spark, pulsar, topic, **{"admin.url": pulsar.admin_url}) == _compacted(client, topic)
    assert len(seen(batch(spark, pulsar.service_url, topic=topic))) == 206, "the whole topic is still there"


def test_a_stream_begins_with_the_compacted_view(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _updates(100, 10))
    admin.compact(topic)
    eventually(lambda: admin.is_compacted(topic), seconds=60)
    sink = Batches()
    frame = stream(spark, pulsar.service_url, topic=topic, startingOffsets="earliest", readCompacted="true")
    read_available(frame, tmp_path, sink)
    assert [row.payload or b"" for row in sink.rows] == [payload for _, payload in _compacted(client, topic)]
    produce(client, topic, [Message(b"later", key="key 1")])
    read_available(frame, tmp_path, sink)
    assert sink.rows[-1].payload == b"later"


def test_segments_have_no_compacted_view(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, _updates(5, 5))
    with refused("PULSAR_SEGMENT_UNAVAILABLE", topic, "the compacted view is the broker's"):
        _pairs(spark, pulsar, topic, readLevel="segment", **{"admin.url": pulsar.admin_url})
