"""Real-time mode: every message becomes a row at once, and batches, restarts and micro-batches lose none."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest
from realtime.live import accepting, start_live, wait_for_batches
from realtime.sending import PARTITIONS, Copy, assert_copied, partitioned

from support.proxies.broker_proxy import running_broker_proxy
from support.spark.waiting import becomes, eventually
from support.topics.messages import produce
from support.topics.reading import run_available, running, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin

_SENT_EACH = 7


@pytest.fixture(autouse=True)
def accepted(spark: SparkSession) -> Iterator[None]:
    with accepting(spark):
        yield


def _tails(admin: Admin, partition: str) -> list[str]:
    return [name for name in admin.subscriptions(partition) if "-tail-" in name]


def _has_followed(admin: Admin, partition: str) -> bool:
    return bool(admin.stats(partition)["subscriptions"]["followed"]["msgBacklog"] <= 1)


def _live(spark: SparkSession, service_url: str, topic: str, **options: str) -> DataFrame:
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", **options)
    return frame.select("value")


def test_every_message_becomes_one_row_in_order_over_many_batches(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    sender, target, copy = partitioned(admin, client, topic)
    query = start_live(_live(spark, service_url, topic), tmp_path, service_url, target)
    with running(query), sender.sending():
        wait_for_batches(query, 3)
        sender.stop()
        stored = sender.stored()
        eventually(lambda: len(copy.rows()) >= len(stored))
        rows = copy.rows()
    assert_copied(rows, stored)


def test_a_message_of_a_quiet_topic_arrives_long_before_the_end_of_the_batch(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"first"])
    target = f"{topic}-copy"
    copy = Copy(client, target)
    query = start_live(_live(spark, service_url, topic), tmp_path, service_url, target, batch="10 minutes")
    with running(query):
        eventually(lambda: copy.rows() == ["first"])
        produce(client, topic, [b"second"])
        eventually(lambda: copy.rows() == ["first", "second"])
        assert not query.recentProgress, "the batch goes on"


def test_micro_batches_and_real_time_go_on_from_one_another(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=PARTITIONS)
    target, sent = f"{topic}-copy", []
    copy = Copy(client, target)

    def send(first: int) -> None:
        for partition in range(PARTITIONS):
            values = [f"{partition} {first + i}" for i in range(_SENT_EACH)]
            produce(client, f"{topic}-partition-{partition}", [v.encode() for v in values], batch_size=_SENT_EACH)
            sent.extend(values)

    def micro_batches(**options: str) -> None:
        writer = _live(spark, service_url, topic, **options).writeStream.format("pulsar").outputMode("update")
        writer = writer.option("service.url", service_url).option("topic", target)
        run_available(writer.option("checkpointLocation", str(tmp_path)))

    def real_time() -> None:
        """Ends after a batch without messages, so that nothing is read after the last batch that ended."""
        query = start_live(_live(spark, service_url, topic), tmp_path, service_url, target)
        with running(query):
            eventually(lambda: len(copy.rows()) >= len(sent))
            wait_for_batches(query, 2)
        # a task that was told to end may read what is sent at once
        names = [f"{topic}-partition-{partition}" for partition in range(PARTITIONS)]
        eventually(lambda: not any(_tails(admin, name) for name in names))

    for turn in range(2):
        send(2 * turn * _SENT_EACH)
        micro_batches()
        send((2 * turn + 1) * _SENT_EACH)
        real_time()
    send(4 * _SENT_EACH)
    micro_batches(maxMessagesPerTrigger="3")
    rows = copy.rows()
    assert_copied(rows, sent)


def test_a_stop_in_a_batch_repeats_that_batch_and_loses_nothing(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    sender, target, copy = partitioned(admin, client, topic)
    with sender.sending():
        for _ in range(3):
            query = start_live(_live(spark, service_url, topic), tmp_path, service_url, target)
            with running(query):
                wait_for_batches(query, 1)
    query = start_live(_live(spark, service_url, topic), tmp_path, service_url, target)
    with running(query):
        eventually(lambda: set(sender.sent) <= set(copy.rows()))
    counts = Counter(copy.rows())
    assert set(counts) == set(sender.sent)
    assert max(counts.values()) <= 4, "a message is repeated once for each stop at most"


def test_a_partition_that_is_added_joins_at_the_next_batch(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=1)
    target = f"{topic}-copy"
    copy = Copy(client, target)
    frame = _live(spark, service_url, topic, discoveryInterval="1s")
    query = start_live(frame, tmp_path, service_url, target)
    with running(query):
        produce(client, f"{topic}-partition-0", [b"old"])
        eventually(lambda: copy.rows() == ["old"])
        admin.set_partitions(topic, 2)
        produce(client, f"{topic}-partition-1", [b"new"])
        eventually(lambda: sorted(copy.rows()) == ["new", "old"])


@pytest.mark.parametrize(
    "options", [{"maxMessagesPerTrigger": "10"}, {"readCompacted": "true"}, {"minPartitions": "8"}], ids=str
)
def test_options_without_a_meaning_are_refused(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    options: dict[str, str],
) -> None:
    produce(client, topic, [b"one"])
    query = start_live(_live(spark, service_url, topic, **options), tmp_path, service_url, f"{topic}-copy")
    with running(query), pytest.raises(Exception, match=rf"PULSAR_REAL_TIME_OPTION.*{next(iter(options))}"):
        query.awaitTermination(300)


def test_tasks_without_a_slot_are_named(
    spark: SparkSession, service_url: str, admin: Admin, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=PARTITIONS)
    frame = _live(spark, service_url, topic, realTimeTasks=str(PARTITIONS))
    query = start_live(frame, tmp_path, service_url, f"{topic}-copy")
    with running(query), pytest.raises(Exception, match=r"PULSAR_REAL_TIME_STARVED.*2 of the 4 tasks"):
        query.awaitTermination(300)


def test_a_query_that_stops_leaves_no_reader(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"one"])
    query = start_live(_live(spark, service_url, topic), tmp_path, service_url, f"{topic}-copy")
    with running(query):
        eventually(partial(_tails, admin, topic))
        wait_for_batches(query, 2)
        becomes(lambda: len(_tails(admin, topic)), 1)  # a tail is kept over batches
    becomes(lambda: admin.subscriptions(topic), [])


def test_an_idle_partition_that_is_unloaded_is_no_loss(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    read, empty = f"{topic}-partition-0", f"{topic}-partition-1"
    target = f"{topic}-copy"
    copy = Copy(client, target)
    produce(client, read, [b"one"])
    query = start_live(_live(spark, service_url, topic), tmp_path, service_url, target, batch="10 minutes")
    with running(query):
        eventually(lambda: copy.rows() == ["one"])
        for partition in (read, empty):
            admin.unload(partition)
            eventually(partial(_tails, admin, partition))
        admin.truncate(read)
        produce(client, read, [b"two"])
        produce(client, empty, [b"three"])
        eventually(lambda: sorted(copy.rows()) == ["one", "three", "two"])
        assert query.isActive


def test_messages_that_are_gone_before_they_are_read_are_a_loss(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    target = f"{topic}-copy"
    copy = Copy(client, target)
    produce(client, topic, [b"one"])
    with running_broker_proxy(service_url) as proxy:
        frame = _live(spark, proxy.service_url, topic)
        query = start_live(frame, tmp_path, service_url, target, batch="10 minutes")
        with running(query):
            eventually(lambda: copy.rows() == ["one"])
            with proxy.down():
                becomes(lambda: admin.subscriptions(topic), [])
                produce(client, topic, [b"gone"])
                admin.unload(topic)
                produce(client, topic, [b"left"])
                admin.truncate(topic)
            with pytest.raises(Exception, match=rf"PULSAR_DATA_LOSS.*{topic}"):
                assert query.awaitTermination(300), "the loss was not noticed"


def test_a_progress_subscription_follows(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    read, idle = f"{topic}-partition-0", f"{topic}-partition-1"
    target = f"{topic}-copy"
    copy = Copy(client, target)
    frame = _live(spark, service_url, topic, progressSubscription="followed")
    query = start_live(frame, tmp_path, service_url, target)
    with running(query):
        wait_for_batches(query, 1)
        produce(client, read, [b"one", b"two", b"three"], batch_size=2)
        eventually(lambda: copy.rows() == ["one", "two", "three"])
        wait_for_batches(query, 2)
        for partition in (read, idle):  # up to the last message
            eventually(partial(_has_followed, admin, partition))
