"""Messages between two clusters: those that came from the other one, and the markers that brokers write among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from support.servers.two_clusters import CLUSTERS, REPLICATED
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    entries_by_level,
    existing,
    read_available,
    seen,
    stream,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.two_clusters import Side

_SECONDS = 180
# Each level at one side; in make test-all at the other too.
_LEVELS = pytest.mark.parametrize(
    "levels", [("broker", "segment"), pytest.param(("segment", "broker"), marks=pytest.mark.exhaustive)], ids="-".join
)


def _has(side: Side, topic: str, count: int) -> bool:
    return topic in side.admin.topics(REPLICATED) and len(read_all(side.client, topic)) == count


def _entries(side: Side, topic: str) -> int:
    return int(side.admin.internal_stats(topic)["numberOfEntries"])


def _frame(side: Side, spark: SparkSession, topic: str, level: str) -> DataFrame:
    return batch(spark, side.service_url, **{"topic": topic, "admin.url": side.server.admin_url, "readLevel": level})


def _payloads(text: bytes, count: int) -> list[bytes]:
    return [text + b" %d" % number for number in range(count)]


@_LEVELS
def test_messages_of_another_cluster(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path, levels: tuple[str, str]
) -> None:
    east, west = sides
    topic = f"persistent://{REPLICATED}/messages-{levels[0]}"
    produce(east.client, topic, _payloads(b"east", 30), batch_size=4, compression="LZ4")
    eventually(lambda: _has(west, topic, 30), seconds=_SECONDS)
    produce(west.client, topic, _payloads(b"west", 20))
    for here in sides:
        eventually(lambda: _has(here, topic, 50), seconds=_SECONDS)  # noqa: B023 - not kept
    for name, here, level in zip(CLUSTERS, sides, levels, strict=True):
        wanted = existing(read_all(here.client, topic))
        frame = _frame(here, spark, topic, level)
        assert_exactly_once(seen(frame), wanted)
        rows = frame.select("value", "__replicatedFrom").collect()
        origins = {(bytes(row[0]).split()[0].decode(), row[1]) for row in rows}
        assert origins == {(cluster, None if cluster == name else cluster) for cluster in CLUSTERS}
        sink = Batches()
        options = {"readLevel": level, "admin.url": here.server.admin_url, "startingOffsets": "earliest"}
        streamed = stream(spark, here.server.service_url, topic=topic, **options)
        read_available(streamed, tmp_path / name, sink)
        assert_exactly_once(sink.rows, wanted)


@_LEVELS
def test_markers_of_replicated_subscriptions_are_no_rows(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path, levels: tuple[str, str]
) -> None:
    """Brokers write snapshots of such subscriptions into the topic, between the messages and at its end."""
    east, west = sides
    topic = f"persistent://{REPLICATED}/marked-{levels[0]}"
    produce(east.client, topic, _payloads(b"first", 5))
    eventually(lambda: _has(west, topic, 5), seconds=_SECONDS)
    subscription = east.client.subscribe(
        topic,
        "copied",
        initial_position=pulsar_client.InitialPosition.Earliest,
        replicate_subscription_state_enabled=True,
    )
    sent = 5

    def marked() -> bool:
        """Snapshots are taken when there is something new."""
        nonlocal sent
        produce(east.client, topic, _payloads(b"more", 3))
        sent += 3
        subscription.acknowledge_cumulative(subscription.receive(timeout_millis=180_000))
        return all(_entries(here, topic) >= sent + 4 for here in sides)

    eventually(marked, seconds=_SECONDS)
    subscription.close()
    for name, here, level in zip(CLUSTERS, sides, levels, strict=True):
        eventually(lambda: _has(here, topic, sent), seconds=_SECONDS)  # noqa: B023 - not kept
        wanted = existing(read_all(here.client, topic))
        frame = _frame(here, spark, topic, level)
        assert len(wanted) == sent
        assert_exactly_once(seen(frame), wanted)
        sink = Batches()
        options = {"readLevel": level, "admin.url": here.server.admin_url, "startingOffsets": "earliest"}
        streamed = stream(spark, here.server.service_url, topic=topic, **options)
        for _ in range(2):
            read_available(streamed, tmp_path / name, sink)
        assert_exactly_once(sink.rows, wanted)
        assert entries_by_level(_frame(here, spark, topic, "segment"))["broker"] == 0
