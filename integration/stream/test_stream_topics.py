"""Streams while they run: messages as they come, partitions and topics as they are made, and what the broker sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pulsar.schema import StringSchema

from support.spark.waiting import becomes, eventually
from support.topics.levels import AT_BOTH_LEVELS
from support.topics.messages import Message, produce, read_all
from support.topics.offsets import positions
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
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin

pytestmark = pytest.mark.usefixtures("read_level")


def _numbers(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


def test_messages_are_read_as_they_arrive(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    with running(start(frame, tmp_path, batches)) as query:
        for turn in range(1, 6):
            produce(client, topic, _numbers(70), batch_size=7)
            wait_for(70 * turn, query, batches)
        eventually(lambda: sum(one.numInputRows for one in query.recentProgress) == 350)
        progress = [one for one in query.recentProgress if one.numInputRows > 0]
        assert len(progress) >= 5
        assert f"{topic}-partition-0" in positions(progress[-1].sources[0].endOffset)
    assert query.exception() is None
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_only_cursors_that_last_no_longer_than_the_stream(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _numbers(100))
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", subscriptionPrefix="its-name")
    with running(start(frame, tmp_path, batches)) as query:
        wait_for(100, query, batches)
        # the driver asks for positions with a consumer
        subscriptions = eventually(lambda: admin.stats(topic)["subscriptions"])
        assert all(name.startswith("its-name-") for name in subscriptions)
        assert not any(one["isDurable"] for one in subscriptions.values())
    becomes(lambda: admin.subscriptions(topic), [])

    def fail(frame: DataFrame, _: int) -> None:
        raise RuntimeError(f"after {len(seen(frame))} rows")

    with pytest.raises(Exception, match="after 100 rows"):
        read_available(stream(spark, service_url, topic=topic, startingOffsets="earliest"), tmp_path / "fails", fail)
    becomes(lambda: admin.subscriptions(topic), [])


def test_new_partitions_are_found_while_running_and_after_a_restart(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=1)
    produce(client, topic, _numbers(20), batch_size=7)
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    with running(start(frame, tmp_path, batches)) as query:
        wait_for(20, query, batches)
        admin.set_partitions(topic, 2)
        produce(client, f"{topic}-partition-1", _numbers(30), batch_size=7)
        wait_for(50, query, batches)
    admin.set_partitions(topic, 4)
    for partition in range(4):
        produce(client, f"{topic}-partition-{partition}", _numbers(10), batch_size=7)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@AT_BOTH_LEVELS
@pytest.mark.parametrize("starting", ["earliest", "latest"])
def test_new_topics_of_a_pattern_start_at_their_first_message(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    starting: str,
) -> None:
    first, second, third = (f"{topic}-{number}" for number in (1, 2, 3))
    produce(client, first, _numbers(10), batch_size=7)
    old = existing(read_all(client, first)) if starting == "latest" else []
    batches = Batches()
    pattern = topic.removeprefix("persistent://") + "-.*"
    frame = stream(spark, service_url, topicsPattern=pattern, startingOffsets=starting)
    with running(start(frame, tmp_path, batches)) as query:
        eventually(lambda: list(tmp_path.glob("sources/0/initial-offset.json")))
        produce(client, second, _numbers(20), batch_size=7)
        wait_for(30 - len(old), query, batches)
    admin.create_topic(third, partitions=2)
    produce(client, third, _numbers(30), batch_size=7)
    produce(client, first, _numbers(5), batch_size=7)
    read_available(frame, tmp_path, batches)
    there = [one for name in (first, second, third) for one in existing(read_all(client, name))]
    assert_exactly_once(batches.rows, [one for one in there if one not in old])


@pytest.mark.parametrize(
    ("selection", "starting"), [("name", "earliest"), ("pattern", "latest"), ("one of two", "earliest")]
)
def test_a_stream_waits_for_topics_that_do_not_exist(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    selection: str,
    starting: str,
) -> None:
    batches = Batches()
    there = f"{topic}-there"
    options = {
        "name": {"topic": topic},
        "pattern": {"topicsPattern": topic.removeprefix("persistent://") + ".*"},
        "one of two": {"topics": f"{there},{topic}"},
    }[selection]
    if selection == "one of two":
        admin.create_topic(there)
    with pytest.raises(Exception, match=r"PULSAR_TOPIC_NOT_FOUND|PULSAR_NO_TOPIC_MATCHES"):
        stream(spark, service_url, **options)
    frame = stream(spark, service_url, startingOffsets=starting, waitingForNonExistedTopic="true", **options)
    assert dict(frame.dtypes)["value"] == "binary"
    assert batch(spark, service_url, allowMissingTopics="true", **options).count() == 0
    with running(start(frame, tmp_path, batches)) as query:
        eventually(lambda: list(tmp_path.glob("sources/0/initial-offset.json")))
        admin.create_topic(topic, partitions=2)
        produce(client, f"{topic}-partition-1", _numbers(20), batch_size=7)
        wait_for(20, query, batches)
    produce(client, f"{topic}-partition-0", _numbers(10), batch_size=7)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_a_topic_whose_schema_does_not_fit_the_columns_of_a_waiting_stream_fails_it(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", allowMissingTopics="true")
    read_available(frame, tmp_path, Batches())
    produce(client, topic, [Message("text")], schema=StringSchema())
    with pytest.raises(Exception, match="PULSAR_USER_SCHEMA_MISMATCH"):
        read_available(frame, tmp_path, Batches())


def test_a_micro_batch_may_lack_the_topics_that_some_columns_come_from(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    for number, row in enumerate(["1 as id, 'x' as n, named_struct('a', 1) as s", "2 as id, 1.5D as z"]):
        rows = spark.sql(f"select {row}").write.format("pulsar").mode("append")
        rows.options(**{"service.url": service_url, "topic": f"{topic}-{number}"}).save()
    pattern = topic.removeprefix("persistent://") + "-.*"
    options = {"topicsPattern": pattern, "startingOffsets": "earliest", "maxMessagesPerTrigger": "1"}
    frame = stream(spark, service_url, **options).select("id", "n", "s.a", "z")
    found: list[list[tuple[object, ...]]] = []
    writer = frame.writeStream.foreachBatch(lambda rows, _: found.append([tuple(row) for row in rows.collect()]))
    query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
    assert query.awaitTermination(120)
    assert sorted(found) == [[(1, "x", 1, None)], [(2, None, None, 1.5)]]


@AT_BOTH_LEVELS
def test_an_available_now_trigger_stops_at_the_stored_messages(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _numbers(100), batch_size=7)

    class Adding(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            produce(client, topic, [b"later"])

    batches = Adding()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    read_available(frame, tmp_path, batches)
    assert len(batches.rows) == 100
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)[:101]))
