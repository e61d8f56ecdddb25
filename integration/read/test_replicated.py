"""Messages between two clusters: those that came from the other one, and the markers that brokers write among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest
from progress.following import followed, is_caught_up

from support.servers.two_clusters import CLUSTERS, REPLICATED
from support.spark.waiting import becomes, eventually
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
from support.topics.writing import Target

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


def _marked(sides: tuple[Side, Side], topic: str) -> int:
    """Make a topic with the markers of a replicated subscription among its messages and at its end.

    Returns:
        How many messages it has.
    """
    east, west = sides
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
    for here in sides:
        eventually(lambda: _has(here, topic, sent), seconds=_SECONDS)  # noqa: B023 - not kept
    return sent


@_LEVELS
def test_markers_of_replicated_subscriptions_are_no_rows(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path, levels: tuple[str, str]
) -> None:
    """Brokers write snapshots of such subscriptions into the topic, between the messages and at its end."""
    topic = f"persistent://{REPLICATED}/marked-{levels[0]}"
    sent = _marked(sides, topic)
    for name, here, level in zip(CLUSTERS, sides, levels, strict=True):
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


@pytest.mark.exhaustive
@pytest.mark.parametrize("levels", [("broker", "segment"), ("segment", "broker")], ids="-".join)
def test_a_limit_counts_no_markers_and_no_backlog_is_left_behind_them(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path, levels: tuple[str, str]
) -> None:
    topic = f"persistent://{REPLICATED}/limited-{levels[0]}"
    sent = _marked(sides, topic)
    for name, here, level in zip(CLUSTERS, sides, levels, strict=True):
        options = {"readLevel": level, "admin.url": here.server.admin_url, "maxMessagesPerTrigger": "7"}
        streamed = followed(spark, here.service_url, topic, **options)
        sink = Batches()

        def caught_up() -> bool:
            read_available(streamed, tmp_path / name, sink)  # noqa: B023 - not kept
            return is_caught_up(here.admin, topic)  # noqa: B023 - not kept

        eventually(caught_up, seconds=_SECONDS)
        assert_exactly_once(sink.rows, existing(read_all(here.client, topic)))
        sizes = [len(rows) for rows in sink.by_id.values()]
        assert max(sizes) == 7
        assert sizes.count(7) >= sent // 7 - 1, sizes
        produce(here.client, topic, _payloads(b"after", 3))
        sent += 3
        eventually(caught_up, seconds=_SECONDS)
        assert_exactly_once(sink.rows, existing(read_all(here.client, topic)))
        for side in sides:
            eventually(lambda: _has(side, topic, sent), seconds=_SECONDS)  # noqa: B023 - not kept


@pytest.mark.exhaustive
def test_rows_name_their_clusters_and_writes_go_on_while_one_is_down(
    spark: SparkSession, sides: tuple[Side, Side]
) -> None:
    """The other cluster has what it missed when it is back, and never the rows that are for this one alone."""
    east, west = sides
    topic = f"persistent://{REPLICATED}/written"
    target = Target(spark, east.client, east.admin, east.service_url)
    clusters = "if(id % 10 = 0, cast(array() as array<string>), array('west')) as __replicationClusters"

    def write(first: int) -> None:
        target.append_sql(f"select string(id) as value, {clusters} from range({first}, {first + 100}, 1, 2)", topic)

    def at(side: Side) -> set[int]:
        has = topic in side.admin.topics(REPLICATED)
        return {int(one.payload) for one in read_all(side.client, topic)} if has else set()

    write(0)
    becomes(lambda: at(west), {number for number in range(100) if number % 10})
    west.server.kill()
    try:
        for first in (100, 200):
            write(first)
            assert target.read(topic).count() == first + 100
    finally:
        west.server.start()
    becomes(lambda: at(west), {number for number in range(300) if number % 10})
    assert at(east) == set(range(300))
