"""A stream while a producer writes and topics are unloaded: every message once, at any level, with any batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from messages import produce, read_all
from reading import Batches, assert_exactly_once, existing, running, start, stream, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from admin import Admin
    from pyspark.sql import SparkSession
    from servers import Addresses

_ROUNDS = 6
# In a row, so that consumers subscribe while a topic is unloaded.
_UNLOADS = 4
# In each round and partition: some full batches, and a part of one.
_MESSAGES = {1: 40, 7: 150, 1000: 2500}
_LIMITS = {1: "23", 7: "101", 1000: "1777"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("batch_size", _MESSAGES)
@pytest.mark.parametrize("level", ["broker", "segment", "auto"])
def test_a_stream_of_topics_that_are_written_to_and_unloaded(
    spark: SparkSession,
    pulsar: Addresses,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    level: str,
    batch_size: int,
    limited: bool,
) -> None:
    admin.create_topic(topic, partitions=2)
    partitions = [f"{topic}-partition-{number}" for number in (0, 1)]

    def write() -> None:
        for turn in range(_ROUNDS):
            for partition in partitions:
                payloads = [b"%d %d" % (turn, number) for number in range(_MESSAGES[batch_size])]
                produce(client, partition, payloads, batch_size=batch_size)
            admin.unload(partitions[turn % 2])

    limits = {"maxMessagesPerTrigger": _LIMITS[batch_size]} if limited else {}
    options = {"readLevel": level, "admin.url": pulsar.admin_url, **limits}
    batches = Batches()
    frame = stream(spark, pulsar.service_url, topic=topic, startingOffsets="earliest", **options)
    with ThreadPoolExecutor(1) as pool, running(start(frame, tmp_path, batches)) as query:
        pool.submit(write).result()
        wait_for(_ROUNDS * len(partitions) * _MESSAGES[batch_size], query, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    if limited:
        assert max(map(len, batches.by_id.values())) <= int(_LIMITS[batch_size])


@pytest.mark.exhaustive
@pytest.mark.parametrize("limited", [False, True])
def test_a_stream_of_topics_that_are_unloaded_several_times_in_a_row(
    spark: SparkSession,
    pulsar: Addresses,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    limited: bool,
) -> None:
    """A broker forgets consumers that subscribe while it unloads their topic, or answers as if the topic were empty."""
    admin.create_topic(topic, partitions=2)
    partitions = [f"{topic}-partition-{number}" for number in (0, 1)]

    def write() -> None:
        for turn in range(_ROUNDS):
            for partition in partitions:
                payloads = [b"%d %d" % (turn, number) for number in range(_MESSAGES[7])]
                produce(client, partition, payloads, batch_size=7)
            for _ in range(_UNLOADS):
                admin.unload(partitions[turn % 2])

    limits = {"maxMessagesPerTrigger": _LIMITS[7]} if limited else {}
    options = {"admin.url": pulsar.admin_url, **limits}
    batches = Batches()
    frame = stream(spark, pulsar.service_url, topic=topic, startingOffsets="earliest", **options)
    with ThreadPoolExecutor(1) as pool, running(start(frame, tmp_path, batches)) as query:
        pool.submit(write).result()
        wait_for(_ROUNDS * len(partitions) * _MESSAGES[7], query, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
