"""Queries with state in real-time mode, from topic to topic: counts are exact, also over stops within a batch."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from realtime.live import ROCKSDB, accepting, start_live, wait_for_batches
from realtime.sending import Copy

from support.spark.settings import session_settings
from support.spark.waiting import becomes, eventually
from support.topics.messages import produce
from support.topics.reading import dice, running, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin

# One slot for the source, one for the state.
_STATE = {"spark.sql.streaming.stateStore.providerClass": ROCKSDB, "spark.sql.shuffle.partitions": "1"}


@pytest.fixture(autouse=True)
def accepted(spark: SparkSession) -> Iterator[None]:
    with accepting(spark), session_settings(spark, _STATE):
        yield


def _keys(spark: SparkSession, service_url: str, topic: str) -> DataFrame:
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", realTimeTasks="1")
    return frame.selectExpr("string(value) AS key")


def test_counts_are_exact_over_stops(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=3)
    copy, sent, random = Copy(client, f"{topic}-copy"), Counter[str](), dice()
    counts = _keys(spark, service_url, topic).groupBy("key").count().selectExpr("concat(key, ' ', count) AS value")

    def send() -> None:
        keys = [f"k{random.randrange(20)}" for _ in range(200)]
        for number in range(3):
            values = [key.encode() for key in keys[number::3]]
            produce(client, f"{topic}-partition-{number}", values, batch_size=7)
        sent.update(keys)

    def newest() -> dict[str, int]:
        return {key: int(count) for key, count in (row.split() for row in copy.rows())}

    for _ in range(3):
        send()
        with running(start_live(counts, tmp_path, service_url, f"{topic}-copy")) as query:
            eventually(lambda: newest() == sent)
            wait_for_batches(query, 1)
            send()
            eventually(lambda: newest() == sent)  # and stops within a batch
    with running(start_live(counts, tmp_path, service_url, f"{topic}-copy")) as query:
        wait_for_batches(query, 2)
        becomes(newest, sent)


def test_a_count_arrives_long_before_the_end_of_its_batch(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    copy = Copy(client, f"{topic}-copy")
    produce(client, topic, [b"a", b"b", b"a"])
    counts = _keys(spark, service_url, topic).groupBy("key").count().selectExpr("concat(key, ' ', count) AS value")
    with running(start_live(counts, tmp_path, service_url, f"{topic}-copy", batch="10 minutes")) as query:
        eventually(lambda: {"a 2", "b 1"} <= set(copy.rows()))
        produce(client, topic, [b"b"])
        eventually(lambda: copy.rows()[-1] == "b 2")
        assert not query.recentProgress, "the batch goes on"


def test_duplicates_are_dropped_over_a_restart(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic)
    copy = Copy(client, f"{topic}-copy")
    once = _keys(spark, service_url, topic).dropDuplicates(["key"]).selectExpr("key AS value")
    for new in ("a", "b"):
        produce(client, topic, [b"a", new.encode(), new.encode(), b"a"])
        with running(start_live(once, tmp_path, service_url, f"{topic}-copy")) as query:
            eventually(lambda: new in copy.rows())  # noqa: B023
            wait_for_batches(query, 2)
    assert copy.rows() == ["a", "b"]
