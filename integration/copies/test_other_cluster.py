"""A checkpoint belongs to one cluster: with it, a query is refused by another one with topics of the same names."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING

import pytest

from support.servers.two_clusters import REPLICATED
from support.spark.errors import failing
from support.spark.logs import warnings
from support.spark.waiting import becomes, eventually
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    existing,
    read_available,
    run_available,
    stream,
)
from support.topics.writing import Target

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.servers.two_clusters import Side

_FOREIGN = "PULSAR_CHECKPOINT_OF_ANOTHER_CLUSTER"
_SECONDS = 180
_numbers = count(1)


def _new_topic(*sides: Side) -> str:
    topic = f"persistent://public/default/kept-{next(_numbers)}"
    for side in sides:
        side.admin.create_topic(topic)
    return topic


def _use_ledger(side: Side) -> None:
    produce(side.client, _new_topic(side), [b"one"])


def _topics_in_ledgers(east: Side, west: Side, order: int) -> str:
    """A topic of both clusters, whose ledger in the west has the same id, a lower (-1) or a higher one (1)."""
    while True:
        topic = _new_topic(east, west)
        for side in (east, west):
            produce(side.client, topic, [b"%d" % number for number in range(50)])
        here, there = (read_all(side.client, topic)[0].id.ledger for side in (east, west))
        gap = there - here
        if (gap > 0) - (gap < 0) == order:
            return topic
        for _ in range(abs(gap - order)):
            _use_ledger(west if gap < order else east)


@pytest.mark.parametrize("order", [0, -1], ids=["same-ledgers", "lower-ledgers"])
def test_a_stream_is_refused_by_another_cluster_and_goes_on_with_its_own(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path, order: int
) -> None:
    """Nothing is read of the other cluster, and nothing acknowledged, also when losses are allowed."""
    east, west = sides
    topic = _topics_in_ledgers(east, west, order)
    options = {"topic": topic, "startingOffsets": "earliest", "progressSubscription": "follower"}
    batches = Batches()
    read_available(stream(spark, east.service_url, **options), tmp_path, batches)
    for side in sides:
        produce(side.client, topic, [b"%d" % number for number in range(50, 100)])
    for loss in ("true", "false"):
        with failing(_FOREIGN, topic, west.service_url, "sources/0"):
            read_available(stream(spark, west.service_url, failOnDataLoss=loss, **options), tmp_path, batches)
    assert len(batches.rows) == 50
    becomes(lambda: west.admin.subscriptions(topic), [])
    read_available(stream(spark, east.service_url, **options), tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(east.client, topic)))


def test_messages_that_may_be_deleted_are_named_as_lost(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path
) -> None:
    """Higher ledgers alone look like those of the same topic after the first ones were deleted."""
    east, west = sides
    topic = _topics_in_ledgers(east, west, 1)
    batches = Batches()
    options = {"topic": topic, "startingOffsets": "earliest"}
    read_available(stream(spark, east.service_url, **options), tmp_path, batches)
    with failing("PULSAR_DATA_LOSS.TRIMMED", topic, "another cluster"):
        read_available(stream(spark, west.service_url, **options), tmp_path, batches)
    assert len(batches.rows) == 50


def test_a_checkpoint_without_marks_is_read(spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path) -> None:
    """Early versions wrote none; the next micro-batch has them."""
    east, _ = sides
    topic = _new_topic(east)
    produce(east.client, topic, [b"%d" % number for number in range(20)])
    batches = Batches()
    options = {"topic": topic, "startingOffsets": "earliest"}
    read_available(stream(spark, east.service_url, **options), tmp_path, batches)
    marked = [file for file in tmp_path.glob("offsets/[0-9]") if '"marks"' in file.read_text()]
    assert marked
    for file in (*marked, tmp_path / "sources/0/initial-offset.json"):
        *before, last = file.read_text().split("\n")
        offset = json.loads(last)
        offset.pop("marks", None)
        file.write_text("\n".join([*before, json.dumps(offset)]))
        (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    produce(east.client, topic, [b"%d" % number for number in range(20, 40)])
    query = read_available(stream(spark, east.service_url, **options), tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(east.client, topic)))
    assert query.lastProgress is not None
    assert '"marks"' in query.lastProgress.sources[0].endOffset


@pytest.mark.parametrize(
    ("namespace", "condition", "words"),
    [
        ("public/default", "PULSAR_SINK_STATE", "another cluster"),
        (REPLICATED, "PULSAR_SINK_OF_ANOTHER_CLUSTER", "cluster east"),
    ],
)
def test_an_exactly_once_sink_is_refused_by_another_cluster(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path, namespace: str, condition: str, words: str
) -> None:
    """Its transactions are not replicated, though the topics with its state may be."""
    east, west = sides
    source, target = _new_topic(east), _new_topic(east, west)
    control = f"persistent://{namespace}/pulsar-spark-sink-{tmp_path.name}-log"

    def write(side: Side) -> None:
        options = {"service.url": side.service_url, "topic": target, "deliveryGuarantee": "exactly-once"}
        frame = stream(spark, east.service_url, topic=source, startingOffsets="earliest").select("value")
        writer = frame.writeStream.format("pulsar").options(**options, sinkId=tmp_path.name, sinkNamespace=namespace)
        run_available(writer.option("checkpointLocation", str(tmp_path)))

    for number in range(2):
        produce(east.client, source, [b"%d" % number] * 10)
        write(east)
    if namespace == REPLICATED:
        eventually(
            lambda: control in west.admin.topics(REPLICATED) and read_all(west.client, control), seconds=_SECONDS
        )
    produce(east.client, source, [b"more"] * 10)
    with failing(condition, words):
        write(west)
    assert read_all(west.client, target) == []
    write(east)
    assert len(read_all(east.client, target)) == 30


@pytest.mark.exhaustive
def test_exactly_once_onto_a_replicated_topic_is_a_warning(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path
) -> None:
    """The other cluster gets the messages of committed transactions, one by one."""
    east, west = sides
    source, target = _new_topic(east), f"persistent://{REPLICATED}/once"
    produce(east.client, source, [b"%d" % number for number in range(40)])
    options = {"service.url": east.service_url, "admin.url": east.server.admin_url, "topic": target}
    options |= {"deliveryGuarantee": "exactly-once", "sinkId": tmp_path.name, "sinkNamespace": "public/default"}
    frame = stream(spark, east.service_url, topic=source, startingOffsets="earliest").select("value")
    writer = frame.writeStream.format("pulsar").options(**options).option("checkpointLocation", str(tmp_path / "kept"))
    with warnings(spark, tmp_path) as logged:
        run_available(writer)
        eventually(lambda: f"exactly once to topic {target} in this cluster alone. Its clusters are" in logged())
    assert len(read_all(east.client, target)) == 40

    def at_the_other() -> set[int]:
        has = target in west.admin.topics(REPLICATED)
        return {int(one.payload) for one in read_all(west.client, target)} if has else set()

    becomes(at_the_other, set(range(40)))


@pytest.mark.exhaustive
def test_a_namespace_of_the_other_cluster_is_named(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path
) -> None:
    """Brokers serve no topic of a namespace that is not in their cluster; the client asks them until the timeout."""
    east, west = sides
    namespace = "public/restricted"
    topic = f"persistent://{namespace}/rides"
    for side in sides:
        side.admin.create_namespace(namespace, policies={"replication_clusters": ["east", "west"]})
        side.admin.set_retention(namespace, minutes=-1, megabytes=-1)
    produce(east.client, topic, [b"%d" % number for number in range(10)])
    options = {"topic": topic, "startingOffsets": "earliest"}
    batches = Batches()
    read_available(stream(spark, east.service_url, **options), tmp_path, batches)
    becomes(lambda: len(read_all(west.client, topic)), 10)
    for side in sides:
        side.admin.set_policy(namespace, "replication", ["west"])
    refusal = ("PULSAR_NAMESPACE_OF_OTHER_CLUSTERS", topic, east.service_url, "clusters=[west]")
    soon = {"operationTimeoutMs": "3000"}
    with failing(*refusal):
        batch(spark, east.service_url, topic=topic, **soon).count()
    with failing(*refusal):
        Target(spark, east.client, east.admin, east.service_url).append_sql("select 'x' as value", topic, soon)
    with failing(*refusal):
        read_available(stream(spark, east.service_url, **options, **soon), tmp_path, batches)
    assert len(batches.rows) == 10
    assert batch(spark, west.service_url, topic=topic).count() == 10
