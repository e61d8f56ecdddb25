"""Reads that start with the newest messages of each topic partition."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.topics.levels import AT_BOTH_LEVELS
from support.topics.messages import produce
from support.topics.parted import Parted, numbers, texts
from support.topics.reading import Batches, batch, running, seen, start, stream, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

pytestmark = pytest.mark.usefixtures("read_level")


def test_the_newest_messages_of_each_partition(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    parted = Parted.create(admin, client, topic)

    def rows_of(starting: str | dict[str, str], ending: dict[str, str] | None = None) -> list[str]:
        begin = starting if isinstance(starting, str) else json.dumps(starting)
        end = {} if ending is None else {"endingOffsets": json.dumps(ending)}
        return texts(row.payload for row in seen(batch(spark, service_url, topic=topic, startingOffsets=begin, **end)))

    for count in (1, 7, 10, 100, 1000):  # batches have 7 messages
        newest = range(max(0, 100 - count), 100)
        assert rows_of(f"last {count}") == sorted(numbers(0, newest) + numbers(1, newest))
    ending = {parted.partition(0): parted.of(0)[52].id.position}
    up_to_the_end = numbers(0, range(50, 53)) + numbers(1, range(90, 100))
    both = {parted.partition(0): "last 3", parted.partition(1): "last 10"}
    assert rows_of(both, ending) == sorted(up_to_the_end)
    assert rows_of({parted.name: "last 1"}) == ["0 99", "1 99"]


def test_the_newest_messages_of_an_empty_topic_are_none(
    spark: SparkSession, service_url: str, admin: Admin, topic: str
) -> None:
    admin.create_topic(topic, partitions=2)
    assert batch(spark, service_url, topic=topic, startingOffsets="last 3").count() == 0


@AT_BOTH_LEVELS
def test_a_stream_starts_with_the_newest_messages_once(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"%d" % number for number in range(10)], batch_size=4)
    frame = stream(spark, service_url, topic=topic, startingOffsets="last 3")
    sink = Batches()
    with running(start(frame, tmp_path, sink)) as query:
        wait_for(3, query, sink)
    produce(client, topic, [b"10"])
    with running(start(frame, tmp_path, sink)) as query:
        wait_for(4, query, sink)
    assert [one.payload for one in sink.rows] == [b"7", b"8", b"9", b"10"]
