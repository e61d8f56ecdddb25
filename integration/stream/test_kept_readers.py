"""What a micro-batch waits for: one round trip on the driver, and none in a task that goes on with a reader."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from support.proxies.broker_proxy import running_broker_proxy
from support.proxies.counting import counted
from support.spark.leaks import direct_bytes
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, running, start, stream, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from support.proxies.broker_proxy import BrokerProxy
    from support.servers.admin import Admin

_BATCHES = 6
_MANY = 40  # partitions in the one executor there is
_FULL = 256 << 20  # bytes that all readers of an executor may hold while they wait
_FILL_SECONDS = 300.0
_DELAY_SECONDS = 0.5  # in each direction


@contextmanager
def _behind_proxy(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, folder: Path, batches: Batches
) -> Iterator[tuple[BrokerProxy, StreamingQuery]]:
    """A stream that has read one message through a proxy of the broker."""
    produce(client, topic, [b"first"])
    with running_broker_proxy(service_url) as proxy:
        frame = stream(spark, proxy.service_url, topic=topic, startingOffsets="earliest")
        with running(start(frame, folder, batches)) as query:
            wait_for(1, query, batches)
            yield proxy, query


def test_a_task_requests_nothing_but_messages(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    batches = Batches()
    with _behind_proxy(spark, service_url, client, topic, tmp_path, batches) as (proxy, query):
        produce(client, topic, [b"second"])
        wait_for(2, query, batches)
        with counted(proxy) as counts:
            for turn in range(_BATCHES):
                produce(client, topic, [b"x"] * 3)
                wait_for(2 + 3 * (turn + 1), query, batches)
        assert counts["MESSAGE"] >= _BATCHES, str(counts)
        assert set(counts.requests("task")) <= {"FLOW"}, str(counts)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.parametrize("size", [1, 20_000], ids=["small", "large"])
def test_many_partitions_keep_their_readers(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    admin: Admin,
    topic: str,
    tmp_path: Path,
    size: int,
) -> None:
    admin.create_topic(topic, partitions=_MANY)
    batches = Batches()

    def feed(turn: int) -> None:
        # by one producer: with one for each a busy machine takes longer than a reader is kept
        produce(client, topic, [b"x" * size] * 3 * _MANY)
        wait_for(3 * _MANY * turn, query, batches)

    with running_broker_proxy(service_url) as proxy:
        frame = stream(spark, proxy.service_url, topic=topic, startingOffsets="earliest")
        with running(start(frame, tmp_path, batches)) as query:
            feed(1)
            with counted(proxy) as counts:
                feed(2)
                feed(3)
    assert counts.requests("task")["SUBSCRIBE"] == 0, str(counts)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.exhaustive  # 400 MB
def test_readers_that_all_fill_at_once_hold_no_more_than_their_limit(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, admin: Admin, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=_MANY)
    partitions = [f"{topic}-partition-{index}" for index in range(_MANY)]
    sent: Counter[tuple[str, str]] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    may_end, waits = threading.Event(), threading.Event()

    def feed(count: int) -> None:
        for partition in partitions:
            sent.update((partition, one.position) for one in produce(client, partition, [b"x" * 20_000] * count))

    def sink(frame: DataFrame, _: int) -> None:
        found.update((row[0], row[1]) for row in frame.select("__topic", "__position").collect())
        if sum(found.values()) == 3 * _MANY:
            waits.set()
            assert may_end.wait(_FILL_SECONDS)

    feed(3)
    before = direct_bytes(spark)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    with running(start(frame, tmp_path, sink), may_end.set):
        assert waits.wait(_FILL_SECONDS)
        feed(500)
        held = direct_bytes(spark) - before
        may_end.set()
        eventually(lambda: sum(found.values()) >= sum(sent.values()), seconds=_FILL_SECONDS)
    assert _FULL / 2 < held < _FULL * 5 / 4, f"{held:,} bytes"
    assert found == sent


def test_a_trigger_waits_for_one_round_trip(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    batches = Batches()
    with _behind_proxy(spark, service_url, client, topic, tmp_path, batches) as (proxy, query):
        proxy.delay_seconds = _DELAY_SECONDS
        for turn in range(_BATCHES):
            produce(client, topic, [b"x"] * 3)
            wait_for(1 + 3 * (turn + 1), query, batches)
        eventually(lambda: sum(one.numInputRows for one in query.recentProgress) == 1 + 3 * _BATCHES)
        done = [one for one in query.recentProgress if one.numInputRows][1:]
    waits = [one.durationMs["latestOffset"] / 1000 for one in done]
    round_trip = 2 * _DELAY_SECONDS
    assert round_trip <= min(waits) < 1.5 * round_trip, f"seconds in which a trigger looked for messages: {waits}"


@pytest.mark.parametrize("trouble", ["unload", "restart", "delete"])
def test_rows_are_exact_when_something_happens_between_micro_batches(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    admin: Admin,
    topic: str,
    tmp_path: Path,
    trouble: str,
) -> None:
    admin.create_topic(topic)
    batches = Batches()
    options = {"topic": topic, "startingOffsets": "earliest", "failOnDataLoss": "false"}

    def feed(count: int) -> None:
        wanted = len(batches.rows) + count
        produce(client, topic, [b"x"] * count, batch_size=3)
        wait_for(wanted, query, batches)

    with running(start(stream(spark, service_url, **options), tmp_path, batches)) as query:
        for _ in range(3):
            feed(10)
        before = existing(read_all(client, topic))
        if trouble == "unload":
            admin.unload(topic)
        elif trouble == "delete":
            admin.delete_topic(topic)
            admin.create_topic(topic)
        if trouble != "restart":
            for _ in range(3):
                feed(10)
    if trouble == "restart":
        with running(start(stream(spark, service_url, **options), tmp_path, batches)) as query:
            for _ in range(3):
                feed(10)
    after = existing(read_all(client, topic))
    assert_exactly_once(batches.rows, [*before, *after] if trouble == "delete" else after)
