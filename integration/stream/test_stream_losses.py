"""Messages that are gone before they were read: the query fails and names them, or goes on and counts when told to."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import condition_of
from support.spark.errors import failing
from support.spark.waiting import becomes, eventually
from support.topics.messages import Received, produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    description,
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

    from support.servers.admin import Admin
    from support.servers.servers import Addresses


def _produce_and_trim(admin: Admin, client: pulsar_client.Client, topic: str) -> tuple[list[Received], list[Received]]:
    """Fill two ledgers and delete the first; returns what is gone and what is left."""
    produce(client, topic, [b"gone %d" % number for number in range(50)], batch_size=7)
    before = read_all(client, topic)
    admin.unload(topic)
    produce(client, topic, [b"left %d" % number for number in range(30)], batch_size=7)
    admin.truncate(topic)
    return before, eventually(lambda: left if (left := read_all(client, topic))[0].payload == b"left 0" else [])


def test_a_stream_fails_when_unread_messages_were_trimmed(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"read %d" % number for number in range(20)], batch_size=7)
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    read_available(frame, tmp_path, batches)
    last = read_all(client, topic)[-1].id
    _, left = _produce_and_trim(admin, client, topic)
    with pytest.raises(Exception, match="PULSAR_DATA_LOSS") as failure:
        read_available(frame, tmp_path, batches)
    assert f"{topic}: messages after position {last.ledger}:{last.entry} up to {left[0].id.ledger}:0 are gone" in str(
        failure.value
    )
    assert len(batches.rows) == 20, "nothing is taken after what is missing"
    read = batches.rows
    going_on = stream(spark, service_url, topic=topic, failOnDataLoss="false")
    query = read_available(going_on, tmp_path, batches)
    assert_exactly_once(batches.rows, [*read, *existing(left)])
    becomes(lambda: _lost_ranges(spark), 1)
    assert query.lastProgress is not None
    metrics = query.lastProgress.sources[0].metrics
    assert metrics["pulsarDataLoss"] == "1", "a task found it"
    (loss,) = json.loads(metrics["pulsarDataLossRanges"])
    assert loss["condition"] == "PULSAR_DATA_LOSS.TRIMMED"
    assert (loss["topic"], loss["from"]) == (topic, f"{last.ledger}:{last.entry}")
    assert loss["to"].startswith(f"{left[0].id.ledger}:0")
    assert [json.loads(file.read_text()) for file in tmp_path.glob("sources/0/losses/*.json")] == [[loss]]


def test_a_batch_read_fails_when_its_start_was_trimmed(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    gone, left = _produce_and_trim(admin, client, topic)
    assert_exactly_once(seen(batch(spark, service_url, topic=topic)), existing(left))
    start = json.dumps({topic: gone[9].id.position})
    with pytest.raises(Exception, match=rf"PULSAR_DATA_LOSS.*{re.escape(topic)}") as failure:
        seen(batch(spark, service_url, topic=topic, startingOffsets=start))
    assert condition_of(failure.value) == "PULSAR_DATA_LOSS.TRIMMED"
    going_on = batch(spark, service_url, topic=topic, startingOffsets=start, failOnDataLoss="false")
    assert_exactly_once(seen(going_on), existing(left))
    becomes(lambda: _lost_ranges(spark), 1)
    only_gone = {"startingOffsets": start, "endingOffsets": json.dumps({topic: gone[20].id.position})}
    with pytest.raises(Exception, match="PULSAR_DATA_LOSS"):
        seen(batch(spark, service_url, topic=topic, **only_gone))
    assert seen(batch(spark, service_url, topic=topic, failOnDataLoss="false", **only_gone)) == []


@pytest.mark.parametrize("partitions", [0, 2])
@pytest.mark.parametrize("again", ["no", "empty", "filled"])
def test_a_topic_that_was_deleted_or_recreated(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    partitions: int,
    again: str,
) -> None:
    admin.create_topic(topic, partitions=partitions)
    produce(client, topic, [b"%d" % number for number in range(40)], batch_size=7)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    batches = Batches()
    read_available(frame, tmp_path, batches)
    old = batches.rows
    admin.delete_topic(topic)
    if again != "no":
        admin.create_topic(topic, partitions=partitions)
    if again == "filled":
        produce(client, topic, [b"new %d" % number for number in range(60)], batch_size=7)
    with pytest.raises(Exception, match=r"PULSAR_DATA_LOSS|PULSAR_TOPIC_NOT_FOUND") as failure:
        read_available(frame, tmp_path, batches)
    assert topic in str(failure.value)
    if again == "filled":
        going_on = stream(spark, service_url, topic=topic, failOnDataLoss="false")
        read_available(going_on, tmp_path, batches)
        assert_exactly_once(batches.rows, [*old, *existing(read_all(client, topic))])


@pytest.mark.parametrize(
    ("minutes", "condition"), [(6, "PULSAR_DATA_LOSS.TOPIC_RECREATED"), (0, "PULSAR_DATA_LOSS.TRIMMED")]
)
def test_a_topic_that_is_younger_than_the_stream_was_created_again(
    spark: SparkSession,
    pulsar: Addresses,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    minutes: int,
    condition: str,
) -> None:
    """Within the minutes by which clocks may differ nobody knows."""
    options = {"topic": topic, "admin.url": pulsar.admin_url, "startingOffsets": "earliest"}
    produce(client, topic, [b"%d" % number for number in range(40)], batch_size=7)
    batches = Batches()
    read_available(stream(spark, pulsar.service_url, **options), tmp_path, batches)
    old, last = batches.rows, read_all(client, topic)[-1].id
    beginning = tmp_path / "sources/0/initial-offset.json"
    before = beginning.stat().st_mtime - 60 * minutes
    os.utime(beginning, (before, before))
    admin.delete_topic(topic)
    produce(client, topic, [b"new %d" % number for number in range(60)], batch_size=7)
    with failing(condition, topic, f"after position {last.ledger}:{last.entry}"):
        read_available(stream(spark, pulsar.service_url, **options), tmp_path, batches)
    read_available(stream(spark, pulsar.service_url, failOnDataLoss="false", **options), tmp_path, batches)
    assert_exactly_once(batches.rows, [*old, *existing(read_all(client, topic))])
    (kept,) = [json.loads(file.read_text()) for file in tmp_path.glob("sources/0/losses/*.json")]
    assert [loss["condition"] for loss in kept] == [condition]


def test_a_topic_that_is_deleted_while_it_is_read(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    left, gone = f"{topic}-1", f"{topic}-2"
    for name in (left, gone):
        produce(client, name, [b"%d" % number for number in range(20)], batch_size=7)
    batches = Batches()
    pattern = topic.removeprefix("persistent://") + "-.*"
    frame = stream(spark, service_url, topicsPattern=pattern, startingOffsets="earliest")
    with running(start(frame, tmp_path, batches)) as query:
        wait_for(40, query, batches)
        admin.delete_topic(gone)
        with pytest.raises(Exception, match=rf"PULSAR_DATA_LOSS.TOPIC_DELETED.*{re.escape(gone)}"):
            query.awaitTermination(300)
    assert not query.isActive


def test_a_stream_that_goes_on_without_a_deleted_topic_counts_it(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    left, gone = f"{topic}-1", f"{topic}-2"
    for name in (left, gone):
        produce(client, name, [b"%d" % number for number in range(20)], batch_size=7)
    batches = Batches()
    pattern = topic.removeprefix("persistent://") + "-.*"
    frame = stream(spark, service_url, topicsPattern=pattern, startingOffsets="earliest", failOnDataLoss="false")
    query = start(frame, tmp_path, batches)

    def lost() -> str | None:
        last = query.lastProgress
        return last.sources[0].metrics["pulsarDataLoss"] if last and last.sources else None

    with running(query):
        wait_for(40, query, batches)
        eventually(lambda: lost() == "0")
        admin.delete_topic(gone)
        eventually(lambda: lost() == "1")
        produce(client, left, [b"more"])
        wait_for(41, query, batches)
        eventually(lambda: query.lastProgress is not None and query.lastProgress.batchId >= max(batches.by_id))
        assert lost() == "1", "it is lost once"
    (kept,) = tmp_path.glob("sources/0/losses/*.json")
    assert [loss["condition"] for loss in json.loads(kept.read_text())] == ["PULSAR_DATA_LOSS.TOPIC_DELETED"]


def test_a_topic_that_the_options_no_longer_select_is_not_called_deleted(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    one, other = f"{topic}-1", f"{topic}-2"
    for name in (one, other):
        produce(client, name, [b"%d" % number for number in range(20)], batch_size=7)
    batches = Batches()
    read_available(stream(spark, service_url, topics=f"{one},{other}", startingOffsets="earliest"), tmp_path, batches)
    last = read_all(client, other)[-1].id
    for name in (one, other):
        produce(client, name, [b"more"])
    with failing("PULSAR_DATA_LOSS.TOPIC_NOT_SELECTED", other, f"{last.ledger}:{last.entry}", "no longer select"):
        read_available(stream(spark, service_url, topics=one), tmp_path, batches)
    read_available(stream(spark, service_url, topics=one, failOnDataLoss="false"), tmp_path, batches)
    assert len(batches.rows) == 41
    read_available(stream(spark, service_url, topics=f"{one},{other}"), tmp_path, batches)
    assert_exactly_once(batches.rows, existing([*read_all(client, one), *read_all(client, other)]))


def test_trimming_messages_that_were_read_is_no_loss(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    """Trimming in the ledger that a stream has read a part of loses nothing as long as the rest is there."""
    produce(client, topic, [b"old %d" % number for number in range(20)], batch_size=7)
    admin.unload(topic)
    produce(client, topic, [b"read %d" % number for number in range(20)], batch_size=7)
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    read_available(frame, tmp_path, batches)
    there = existing(read_all(client, topic))
    admin.truncate(topic)
    eventually(lambda: len(read_all(client, topic)) == 20)
    produce(client, topic, [b"new %d" % number for number in range(20)], batch_size=7)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, [*there, *existing(read_all(client, topic)[20:])])


def _lost_ranges(spark: SparkSession) -> int | None:
    """The metric of the last query that has it, as Spark's own user interface shows it, some time after the query."""
    session: Any = spark
    store = session._jsparkSession.sharedState().statusStore()
    for number in range(store.executionsCount() - 1, -1, -1):
        execution = store.executionsList(number, 1).apply(0)
        metrics = execution.metrics()
        for index in range(metrics.size()):
            if metrics.apply(index).name() == "Pulsar ranges lost":
                value = store.executionMetrics(execution.executionId()).get(metrics.apply(index).accumulatorId())
                return int(value.get()) if value.isDefined() else None
    return None


def test_a_topic_that_is_deleted_between_planning_and_reading(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    for fails in (True, False):
        produce(client, topic, [b"%d" % number for number in range(20)], batch_size=7)
        frame = batch(spark, service_url, topic=topic, failOnDataLoss=str(fails).lower())
        description(frame)  # plans the read
        admin.delete_topic(topic)
        if fails:
            with pytest.raises(Exception, match=rf"PULSAR_DATA_LOSS.*{re.escape(topic)}.*was deleted") as failure:
                frame.collect()
            assert condition_of(failure.value) == "PULSAR_DATA_LOSS.TOPIC_DELETED"
        else:
            assert frame.collect() == []
            becomes(lambda: _lost_ranges(spark), 1)


def test_a_partition_that_does_not_exist_is_empty(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    """Brokers delete inactive topics, which a partition that nobody writes to is."""
    admin.create_topic(topic, partitions=3)
    gone = f"{topic}-partition-1"
    for partition in (0, 2):
        produce(client, f"{topic}-partition-{partition}", [b"%d" % number for number in range(20)], batch_size=7)
    admin.call("DELETE", f"persistent/{gone.removeprefix('persistent://')}?force=true")
    wanted = existing([one for partition in (0, 2) for one in read_all(client, f"{topic}-partition-{partition}")])
    frame = batch(spark, service_url, topic=topic)
    assert_exactly_once(seen(frame), wanted)
    assert batch(spark, service_url, topic=topic, startingTime="0").count() == 40
    batches = Batches()
    streamed = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    read_available(streamed, tmp_path, batches)
    assert_exactly_once(batches.rows, wanted)
    produce(client, gone, [b"there again"])
    read_available(streamed, tmp_path, batches)
    assert [row.payload for row in batches.rows[40:]] == [b"there again"]
    with pytest.raises(Exception, match=rf"PULSAR_TOPIC_NOT_FOUND.*{re.escape(topic)}-not"):
        batch(spark, service_url, topic=f"{topic}-not").collect()
