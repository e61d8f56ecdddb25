"""Messages between two clusters: those that came from the other one, and the markers that brokers write among them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from pulsar_spark.local import LocalPulsar
from support.servers.admin import Admin
from support.spark.waiting import eventually
from support.topics.messages import connected, produce, read_all
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
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

_CLUSTERS = ("east", "west")
_NAMESPACE = "public/replicated"
_SECONDS = 60
# Each level at one side; in make test-all at the other too.
_LEVELS = pytest.mark.parametrize(
    "levels", [("broker", "segment"), pytest.param(("segment", "broker"), marks=pytest.mark.exhaustive)], ids="-".join
)


@dataclass(frozen=True)
class Side:
    """One of the two clusters."""

    server: LocalPulsar
    client: pulsar_client.Client

    @property
    def admin(self) -> Admin:
        return Admin(self.server.admin_url)

    def entries(self, topic: str) -> int:
        return int(self.admin.internal_stats(topic)["numberOfEntries"])

    def has(self, topic: str, count: int) -> bool:
        return topic in self.admin.topics(_NAMESPACE) and len(read_all(self.client, topic)) == count

    def frame(self, spark: SparkSession, topic: str, **options: str) -> DataFrame:
        chosen = {"topic": topic, "admin.url": self.server.admin_url, **options}
        return batch(spark, self.server.service_url, **chosen)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    with ExitStack() as stack:

        def side(name: str) -> Side:
            folder = tmp_path_factory.mktemp(name)
            server = stack.enter_context(LocalPulsar(data_dir=folder / "pulsar", config={"clusterName": name}))
            return Side(server, stack.enter_context(connected(server.service_url, folder)))

        east, west = (side(name) for name in _CLUSTERS)
        for here, there, name in ((east, west, "west"), (west, east, "east")):
            here.admin.create_cluster(name, admin_url=there.server.admin_url, service_url=there.server.service_url)
        for here in (east, west):
            here.admin.allow_clusters("public", list(_CLUSTERS))
            here.admin.create_namespace(_NAMESPACE, policies={"replication_clusters": list(_CLUSTERS)})
            here.admin.set_retention(_NAMESPACE, minutes=-1, megabytes=-1)
        yield east, west


def _payloads(text: bytes, count: int) -> list[bytes]:
    return [text + b" %d" % number for number in range(count)]


@_LEVELS
def test_messages_of_another_cluster(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path, levels: tuple[str, str]
) -> None:
    east, west = sides
    topic = f"persistent://{_NAMESPACE}/messages-{levels[0]}"
    produce(east.client, topic, _payloads(b"east", 30), batch_size=4, compression="LZ4")
    eventually(lambda: west.has(topic, 30), seconds=_SECONDS)
    produce(west.client, topic, _payloads(b"west", 20))
    for here in sides:
        eventually(lambda: here.has(topic, 50), seconds=_SECONDS)  # noqa: B023 - not kept
    for name, here, level in zip(_CLUSTERS, sides, levels, strict=True):
        wanted = existing(read_all(here.client, topic))
        frame = here.frame(spark, topic, readLevel=level)
        assert_exactly_once(seen(frame), wanted)
        rows = frame.select("value", "__replicatedFrom").collect()
        origins = {(bytes(row[0]).split()[0].decode(), row[1]) for row in rows}
        assert origins == {(cluster, None if cluster == name else cluster) for cluster in _CLUSTERS}
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
    topic = f"persistent://{_NAMESPACE}/marked-{levels[0]}"
    produce(east.client, topic, _payloads(b"first", 5))
    eventually(lambda: west.has(topic, 5), seconds=_SECONDS)
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
        subscription.acknowledge_cumulative(subscription.receive(timeout_millis=30_000))
        return all(here.entries(topic) >= sent + 4 for here in sides)

    eventually(marked, seconds=_SECONDS)
    subscription.close()
    for name, here, level in zip(_CLUSTERS, sides, levels, strict=True):
        eventually(lambda: here.has(topic, sent), seconds=_SECONDS)  # noqa: B023 - not kept
        wanted = existing(read_all(here.client, topic))
        frame = here.frame(spark, topic, readLevel=level)
        assert_exactly_once(seen(frame), wanted)
        assert frame.count() == sent
        sink = Batches()
        options = {"readLevel": level, "admin.url": here.server.admin_url, "startingOffsets": "earliest"}
        streamed = stream(spark, here.server.service_url, topic=topic, **options)
        for _ in range(2):
            read_available(streamed, tmp_path / name, sink)
        assert_exactly_once(sink.rows, wanted)
        assert entries_by_level(here.frame(spark, topic, readLevel="segment"))["broker"] == 0
