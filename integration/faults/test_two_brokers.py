"""Reads and writes while another broker takes their topics over, while clocks jump, and without any broker."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from support.proxies.holding_proxy import HoldingProxy
from support.proxies.relay import listening
from support.servers.cluster import Cluster, running_cluster
from support.servers.freezing import frozen
from support.servers.shifted_clock import ShiftedClock
from support.spark.blocking_batch import LARGE, TAKEN_AT_MOST, blocking_batch
from support.spark.errors import failing
from support.spark.waiting import IN_TIME, becomes, eventually, within
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    Seen,
    assert_exactly_once,
    batch,
    description,
    existing,
    read_available,
    read_rows,
    stream,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from faults.jobs import Jobs
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.exhaustive

# The metadata store takes a broker for alive for so long, so that an outage of half of it changes no owner.
_SESSION_SECONDS = 20
_OUTAGE_SECONDS = 10
# Less than the three hours after which brokers abort the transactions of a sink.
_AHEAD_SECONDS = 2 * 60 * 60
_never = threading.Event()


@pytest.fixture(scope="module")
def proxies() -> list[HoldingProxy]:
    """One before each broker of the cluster: the addresses of its listener `external`."""
    return []


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> ShiftedClock:
    """That of the brokers."""
    return ShiftedClock(tmp_path_factory.mktemp("clock") / "library")


@pytest.fixture(scope="module")
def cluster(
    spark: SparkSession,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
    proxies: list[HoldingProxy],
    clock: ShiftedClock,
) -> Iterator[Cluster]:
    with ExitStack() as stack:

        def external(port: int) -> str:
            proxies.append(HoldingProxy(f"pulsar://127.0.0.1:{port}", stack.enter_context(listening())))
            stack.enter_context(proxies[-1].running())
            return proxies[-1].service_url

        yield stack.enter_context(
            running_cluster(
                tmp_path_factory.mktemp("cluster"),
                transactions=True,
                brokers=2,
                session_seconds=_SESSION_SECONDS,
                external=external,
                environment=clock.environment,
            )
        )


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    return f"persistent://public/default/{request.node.name}"


def test_the_owner_of_a_topic_is_killed_under_a_read(
    spark: SparkSession, cluster: Cluster, writer: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(writer, topic, [LARGE] * (TAKEN_AT_MOST + 40))
    wanted = existing(read_all(writer, topic))
    frame = batch(spark, cluster.service_url, topic=topic, **{"pulsar.reader.receiverQueueSize": "20"})
    owner = cluster.owner(topic)
    with blocking_batch(frame, tmp_path) as read, owner.killed():
        read.release()
        assert_exactly_once(read.rows.result(timeout=300), wanted)
        assert cluster.owner(topic) is not owner
        assert_exactly_once(read_rows(batch(spark, cluster.service_url, topic=topic)), wanted)


def test_the_owner_of_a_topic_is_killed_under_streams(cluster: Cluster, jobs: Jobs) -> None:
    owner = cluster.owner(jobs.source)
    jobs.send()
    with owner.killed():
        jobs.send()
        assert cluster.owner(jobs.source) is not owner
        jobs.copies.check()
    jobs.check()


def test_the_owner_of_all_topics_is_frozen_and_wakes_up(cluster: Cluster, jobs: Jobs) -> None:
    owner = cluster.owner(jobs.source)
    other = cluster.other(owner)
    jobs.send()
    with owner.renewed():
        with frozen(owner.pid):
            jobs.read.release()
            eventually(lambda: cluster.has_given_up(owner))
            eventually(lambda: cluster.is_served(jobs.source, other))
        jobs.send()
        eventually(lambda: not cluster.is_served(jobs.source, owner))  # as the one that woke up says
        jobs.read_on()
    jobs.check()


def test_a_bundle_moves_and_is_split(cluster: Cluster, jobs: Jobs) -> None:
    other = cluster.other(cluster.owner(jobs.source))
    jobs.send()
    cluster.move_bundle(jobs.source, other)
    eventually(lambda: cluster.is_served(jobs.source, other))
    jobs.send()
    admin = cluster.admin_of(other)
    admin.split_bundle(jobs.namespace, admin.bundle_of(jobs.source))
    becomes(lambda: len(admin.bundles(jobs.namespace)), 3)  # the boundaries of two
    jobs.check()


def test_the_clock_of_brokers_jumps(cluster: Cluster, clock: ShiftedClock, jobs: Jobs) -> None:
    jobs.send()
    with clock.ahead(_AHEAD_SECONDS):
        eventually(lambda: _is_ahead(cluster))
        jobs.send()
        jobs.copies.check()
    jobs.check()


def _is_ahead(cluster: Cluster) -> bool:
    told = (cluster.admin_of(broker).clock() for broker in cluster.brokers)
    return all((one - datetime.now(timezone.utc)).total_seconds() > _AHEAD_SECONDS / 2 for one in told)


def test_the_metadata_store_is_lost_for_some_seconds(cluster: Cluster, jobs: Jobs) -> None:
    with ThreadPoolExecutor(1) as sender:
        with cluster.zookeeper.frozen():
            sending = sender.submit(jobs.send)  # a new producer waits for the store
            jobs.read.release()
            _never.wait(_OUTAGE_SECONDS)
        sending.result(timeout=300)
    jobs.check()


def test_a_direct_read_that_is_planned_needs_no_broker(
    spark: SparkSession, cluster: Cluster, writer: pulsar_client.Client
) -> None:
    topic = "persistent://public/default/closed"  # a plan tells names, and who reads
    produce(writer, topic, [b"%d" % number for number in range(2000)], batch_size=7)
    cluster.admin.unload(topic)
    produce(writer, topic, [b"%d" % number for number in range(2000, 4000)], batch_size=7)
    cluster.admin.unload(topic)
    wanted = existing(read_all(writer, topic))
    options = {"topic": topic, "admin.url": cluster.admin.url, "operationTimeoutMs": "8000", "pollTimeoutMs": "20000"}
    planned = [
        batch(spark, cluster.service_url, readLevel=level, **options).select("__topic", "__position", "value")
        for level in ("segment", "auto")
    ]
    for frame in planned:
        assert "broker" not in description(frame)
    with ExitStack() as brokers:
        for broker in cluster.brokers:
            brokers.enter_context(broker.killed())
        for frame in planned:
            with within(IN_TIME):
                rows = [Seen(row[0], row[1], bytes(row[2])) for row in frame.collect()]  # as planned above
            assert_exactly_once(rows, wanted)
        with within(IN_TIME), failing("PULSAR_UNREACHABLE"):
            batch(spark, cluster.service_url, readLevel="segment", **options).collect()
    eventually(lambda: len(read_rows(batch(spark, cluster.service_url, topic=topic))) == len(wanted))


def test_a_job_uses_the_addresses_of_the_listener_that_it_names(
    spark: SparkSession, cluster: Cluster, proxies: list[HoldingProxy], topic: str, tmp_path: Path
) -> None:
    for listener in ("", "internal", "external"):
        name = f"{topic}-{listener}"
        way = {"topic": name} | ({"pulsar.client.listenerName": listener} if listener else {})
        before = sum(proxy.connections for proxy in proxies)
        rows = spark.range(100).selectExpr("binary(string(id)) as value")
        rows.write.format("pulsar").mode("append").options(**{"service.url": cluster.service_url, **way}).save()
        batches = Batches()
        frame = stream(spark, cluster.service_url, startingOffsets="earliest", **way)
        read_available(frame, tmp_path / f"checkpoint-{listener}", batches)
        for found in (read_rows(batch(spark, cluster.service_url, **way)), batches.rows):
            assert sorted(int(one.payload or b"") for one in found) == list(range(100))
        passed = sum(proxy.connections for proxy in proxies) > before
        assert passed == (listener == "external"), f"the listener {listener!r}"
    nobody = {"pulsar.client.listenerName": "nobody", "operationTimeoutMs": "10000"}
    with within(IN_TIME), failing("PULSAR_UNREACHABLE", "nobody listener"):
        batch(spark, cluster.service_url, topic=f"{topic}-external", **nobody).collect()
