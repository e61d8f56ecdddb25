"""Streams that stand at the end of a partition while its ledger goes: messages are loss, an empty end is not."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from support.proxies.broker_proxy import running_broker_proxy
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    existing,
    read_available,
    running,
    start,
    stream,
    wait_for,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin


class _Held(Batches):
    """A sink that can be told to keep a batch, so that no trigger comes while things happen to the topic."""

    def __init__(self) -> None:
        super().__init__()
        self._open = threading.Event()
        self._open.set()
        self._reached = threading.Event()

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        super().__call__(frame, batch_id)
        if self.by_id[batch_id] and not self._open.is_set():
            self._reached.set()
            assert self._open.wait(300)

    @contextmanager
    def holding(self) -> Iterator[threading.Event]:
        """Keep the next batch that has rows until the end; gives what tells that it is kept."""
        self._open.clear()
        try:
            yield self._reached
        finally:
            self._open.set()


def _messages(name: str, count: int) -> list[bytes]:
    return [f"{name} {number}".encode() for number in range(count)]


def _is_watched(admin: Admin, topic: str) -> bool:
    return any("-watch-" in name for name in admin.subscriptions(topic))


def _ledgers(admin: Admin, topic: str) -> list[int]:
    return [ledger["ledgerId"] for ledger in admin.internal_stats(topic)["ledgers"]]


def _publish_and_trim(admin: Admin, client: pulsar_client.Client, topic: str, *, is_seen: bool = False) -> None:
    """Delete messages that no stream has read, and publish others.

    Args:
        admin: The admin service.
        client: The client to send with.
        topic: The partition.
        is_seen: Whether the watch receives them first. It has to in a ledger of which nothing was read: when that is
            gone, it looks like an empty one that an unload dropped.
    """
    before = _ledgers(admin, topic)
    produce(client, topic, _messages("gone", 20), batch_size=7)
    if is_seen:
        eventually(lambda: _sent_to_watches(admin, topic) > 0)
    admin.unload(topic)
    produce(client, topic, _messages("left", 10), batch_size=7)
    admin.truncate(topic)
    eventually(lambda: _ledgers(admin, topic)[0] > before[-1])


def _sent_to_watches(admin: Admin, topic: str) -> int:
    subscriptions = admin.stats(topic)["subscriptions"]
    return sum(int(one["msgOutCounter"]) for name, one in subscriptions.items() if "-watch-" in name)


def test_an_empty_partition_may_be_unloaded(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    empty, other = f"{topic}-partition-0", f"{topic}-partition-1"
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    with running(start(frame, tmp_path, batches)) as query:
        for turn in range(1, 4):
            eventually(lambda: _is_watched(admin, empty))
            before = _ledgers(admin, empty)
            admin.unload(empty)
            eventually(lambda before=before: _ledgers(admin, empty)[0] > before[0])  # type: ignore[misc]
            produce(client, other, _messages("other", 10), batch_size=7)
            wait_for(10 * turn, query, batches)
        produce(client, empty, _messages("first", 20), batch_size=7)
        wait_for(50, query, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    produce(client, topic, _messages("later", 10), batch_size=7)
    read_available(stream(spark, service_url, topic=topic), tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_trimming_a_partition_that_was_read_completely_is_no_loss(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _messages("read", 20), batch_size=7)
    there = existing(read_all(client, topic))
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    with running(start(frame, tmp_path, batches)) as query:
        wait_for(20, query, batches)
        eventually(lambda: _is_watched(admin, topic))
        before = _ledgers(admin, topic)
        admin.unload(topic)
        eventually(lambda: _is_watched(admin, topic))
        admin.truncate(topic)
        eventually(lambda: _ledgers(admin, topic)[0] > before[0])
        produce(client, topic, _messages("new", 20), batch_size=7)
        wait_for(40, query, batches)
    assert_exactly_once(batches.rows, [*there, *existing(read_all(client, topic))])


@pytest.mark.parametrize("first", ["empty", "read"])
def test_messages_trimmed_between_two_triggers_are_reported_as_loss(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    first: str,
) -> None:
    admin.create_topic(topic, partitions=2)
    lost, other = f"{topic}-partition-0", f"{topic}-partition-1"
    if first == "read":
        produce(client, lost, _messages("read", 20), batch_size=7)
    batches = _Held()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    with running(start(frame, tmp_path, batches)) as query:
        wait_for(20 if first == "read" else 0, query, batches)
        eventually(lambda: _is_watched(admin, lost))
        already = len(batches.rows)
        with batches.holding() as held:
            produce(client, other, [b"held"])
            assert held.wait(300)
            _publish_and_trim(admin, client, lost, is_seen=first == "empty")
        with pytest.raises(Exception, match=rf"PULSAR_DATA_LOSS.*{lost}"):
            assert query.awaitTermination(300), "the loss was not noticed"
    assert len(batches.rows) == already + 1, "nothing is taken after what is missing"


def test_messages_published_and_trimmed_while_the_line_is_down_are_reported_as_loss(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    lost, other = f"{topic}-partition-0", f"{topic}-partition-1"
    produce(client, lost, _messages("read", 20), batch_size=7)
    batches = _Held()
    with running_broker_proxy(service_url) as proxy:
        frame = stream(spark, proxy.service_url, topic=topic, startingOffsets="earliest")
        with running(start(frame, tmp_path, batches)) as query:
            wait_for(20, query, batches)
            eventually(lambda: _is_watched(admin, lost))
            already = len(batches.rows)
            with batches.holding() as held:
                produce(client, other, [b"held"])
                assert held.wait(300)
                with proxy.down():  # so that no watch sees what is published
                    eventually(lambda: not _is_watched(admin, lost))
                    _publish_and_trim(admin, client, lost)
            with pytest.raises(Exception, match=rf"PULSAR_DATA_LOSS.*{lost}"):
                assert query.awaitTermination(300), "the loss was not noticed"
    assert len(batches.rows) == already + 1, "nothing is taken after what is missing"
