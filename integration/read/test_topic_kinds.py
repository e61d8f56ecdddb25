"""Kinds of topics: the rows are the same, and a read ends, at both levels."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from support.servers.admin import Admin
from support.spark.errors import failing
from support.spark.waiting import eventually
from support.topics.levels import AT_BOTH_LEVELS
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    existing,
    read_available,
    running,
    seen,
    start,
    stream,
    wait_for,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.servers import Addresses

pytestmark = pytest.mark.usefixtures("read_level")


def _numbered(first: int, count: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


def test_delayed_messages_are_read_at_once(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    """As readers do: a broker keeps them back from shared subscriptions only."""
    producer = client.create_producer(topic, send_timeout_millis=0)
    for payload in _numbered(0, 20):
        producer.send(payload, deliver_after=timedelta(hours=1) if payload[-1] % 2 else None)
    producer.close()
    wanted = existing(read_all(client, topic))
    assert [one.payload for one in wanted] == _numbered(0, 20)
    frame = batch(spark, service_url, topic=topic)
    assert_exactly_once(seen(frame), wanted)
    sink = Batches()
    read_available(stream(spark, service_url, topic=topic, startingOffsets="earliest"), tmp_path, sink)
    assert_exactly_once(sink.rows, wanted)


@AT_BOTH_LEVELS
def test_a_terminated_topic(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _numbered(0, 30), batch_size=4)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    sink, again = Batches(), Batches()
    with running(start(frame, tmp_path / "running", sink)) as query:
        wait_for(30, query, sink)
        produce(client, topic, _numbered(30, 10), batch_size=4)
        admin.terminate(topic)
        wait_for(40, query, sink)
        admin.unload(topic)
        wanted = existing(read_all(client, topic))
        assert query.exception() is None
    assert len(wanted) == 40
    assert_exactly_once(sink.rows, wanted)
    assert_exactly_once(seen(batch(spark, service_url, topic=topic)), wanted)
    assert batch(spark, service_url, topic=topic).count() == 40
    for _ in range(2):
        read_available(frame, tmp_path / "available", again)
    assert_exactly_once(again.rows, wanted)


@AT_BOTH_LEVELS
def test_a_topic_that_was_terminated_before_it_had_a_message(
    spark: SparkSession, service_url: str, admin: Admin, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic)
    admin.terminate(topic)
    assert batch(spark, service_url, topic=topic).collect() == []
    sink = Batches()
    read_available(stream(spark, service_url, topic=topic, startingOffsets="earliest"), tmp_path, sink)
    assert sink.rows == []


@AT_BOTH_LEVELS
def test_empty_ledgers_before_between_and_behind_messages(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    sink = Batches()
    sent = 0
    for count in (7, 0, 1, 12, 0):
        for _ in range(3):
            admin.unload(topic)
            if not sent:
                assert seen(batch(spark, service_url, topic=topic)) == []
        produce(client, topic, _numbered(sent, count), batch_size=3)
        sent += count
        wanted = existing(read_all(client, topic))
        assert len(wanted) == sent
        assert_exactly_once(seen(batch(spark, service_url, topic=topic)), wanted)
        read_available(frame, tmp_path, sink)
        assert_exactly_once(sink.rows, wanted)


@AT_BOTH_LEVELS
def test_partitions_that_were_never_written_to(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=4)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    sink = Batches()
    read_available(frame, tmp_path, sink)
    assert sink.rows == []
    produce(client, f"{topic}-partition-2", _numbered(0, 15), batch_size=4)
    wanted = existing(read_all(client, topic))
    assert_exactly_once(seen(batch(spark, service_url, topic=topic)), wanted)
    read_available(frame, tmp_path, sink)
    assert_exactly_once(sink.rows, wanted)


@AT_BOTH_LEVELS
def test_a_shadow_topic_is_the_brokers(
    spark: SparkSession,
    service_url: str,
    pulsar: Addresses,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    read_level: str,
) -> None:
    """Its ledgers are those of the topic that it shows."""
    admin, shadow = Admin(pulsar.admin_url), f"{topic}-shadow"
    produce(client, topic, _numbered(0, 10), batch_size=3)
    admin.create_shadow(shadow, topic)
    # The broker shows what arrives once its cursor for the shadow is there, and what came before with the next message.
    eventually(lambda: any(name.startswith("pulsar.repl") for name in admin.internal_stats(topic)["cursors"]))
    produce(client, topic, _numbered(10, 10), batch_size=3)
    source = [(one.position, one.payload) for one in existing(read_all(client, topic))]
    eventually(lambda: [one.id.position for one in read_all(client, shadow)] == [position for position, _ in source])
    wanted = existing(read_all(client, shadow))
    assert [(one.position, one.payload) for one in wanted] == source
    if read_level == "segment":
        with failing("PULSAR_SEGMENT_UNAVAILABLE", shadow, "belongs to"):
            seen(batch(spark, service_url, topic=shadow))
    options = {"topic": shadow} if read_level == "broker" else {"topic": shadow, "readLevel": "auto"}
    assert_exactly_once(seen(batch(spark, service_url, **options)), wanted)
    sink = Batches()
    read_available(stream(spark, service_url, startingOffsets="earliest", **options), tmp_path, sink)
    assert_exactly_once(sink.rows, wanted)


@AT_BOTH_LEVELS
def test_a_topic_that_is_named_like_a_partition(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    twin = f"{topic}-partition-7"
    for number, name in enumerate((topic, twin)):
        produce(client, name, _numbered(10 * number, 3))
    pattern = f"{topic}.*"
    frame = batch(spark, service_url, topicsPattern=pattern)
    wanted = existing([*read_all(client, topic), *read_all(client, twin)])
    assert_exactly_once(seen(frame), wanted)
    assert_exactly_once(seen(batch(spark, service_url, topic=twin)), existing(read_all(client, twin)))
    sink = Batches()
    with running(start(stream(spark, service_url, topicsPattern=pattern), tmp_path, sink)) as query:
        query.processAllAvailable()
        for number, name in enumerate((topic, twin)):
            produce(client, name, _numbered(100 + 10 * number, 3))
        wait_for(6, query, sink)
    assert {one.payload for one in sink.rows} == {b"%d" % number for number in (100, 101, 102, 110, 111, 112)}


def test_control_topics_of_sinks_match_no_pattern(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, namespace: str, topic: str
) -> None:
    produce(client, topic, _numbered(0, 3))
    own = topic.rpartition("/")[2]
    sink = f"pulsar-spark-sink-{own}"
    for kind in ("log", "open", "mark"):
        produce(client, f"{namespace}/{sink}-{kind}", [b"record"])
    matching = batch(spark, service_url, topicsPattern=f"{namespace}/.*{own}.*")
    assert {row[0] for row in matching.select("__topic").collect()} == {topic}
    named = batch(spark, service_url, topicsPattern=f"{namespace}/{sink}-.*")
    assert named.count() == 3
