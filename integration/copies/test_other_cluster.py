"""A checkpoint belongs to one cluster: with it, a query is refused by another one with topics of the same names."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING

import pytest

from support.servers.two_clusters import REPLICATED
from support.spark.errors import failing
from support.spark.waiting import becomes, eventually
from support.topics.messages import produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, read_available, run_available, stream

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
