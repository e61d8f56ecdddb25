"""Settings of the client that the connector's own batches could ignore: what a broker and readers see of them."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest
from errors import failing
from waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from writing import Target

_SECONDS = 60
_LARGE = "select repeat('x', 20000) as value"


def _entries(target: Target, topic: str) -> tuple[int, int]:
    """How many entries the topic has, and their bytes."""
    found = target.admin.internal_stats(topic)
    return found["numberOfEntries"], found["totalSize"]


def test_the_broker_sees_who_writes(target: Target, topic: str) -> None:
    target.append_sql(
        "select 'x' as value",
        topic,
        {
            "pulsar.client.description": "ledger-team",
            "pulsar.producer.properties": json.dumps({"owner": "a team"}),
            "pulsar.producer.initialSubscriptionName": "first",
        },
    )
    [publisher] = target.admin.stats(topic)["publishers"]  # the producer is kept for the next task
    assert "ledger-team" in publisher["clientVersion"]
    assert publisher["metadata"] == {"owner": "a team"}
    assert target.admin.subscriptions(topic) == ["first"]


def test_a_task_may_keep_others_away(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    with closing(target.client.create_producer(topic)), failing("PULSAR_WRITE_REFUSED_EXCLUSIVE", topic):
        target.append_sql("select 'x' as value", topic, {"pulsar.producer.accessMode": "Exclusive"})


@pytest.mark.parametrize("batching", ["true", "false"])
def test_only_large_bodies_are_compressed(target: Target, topic: str, batching: str) -> None:
    options = {"pulsar.producer.compressionType": "ZSTD", "pulsar.producer.batchingEnabled": batching}
    target.append_sql(_LARGE, topic, options)
    assert _entries(target, topic)[1] < 1000
    target.append_sql(_LARGE, topic, {**options, "pulsar.producer.compressMinMsgBodySize": "100000"})
    assert _entries(target, topic)[1] > 20000


def test_chunks_have_the_size_that_is_set(target: Target, topic: str) -> None:
    options = {"pulsar.producer.chunkingEnabled": "true", "pulsar.producer.batchingEnabled": "false"}
    target.append_sql(_LARGE, topic, {**options, "pulsar.producer.chunkMaxMessageSize": "6000"})
    assert _entries(target, topic)[0] == 4
    assert [len(row.value) for row in target.read(topic).collect()] == [20000]


def test_a_topic_may_be_expected_to_have_no_partitions(target: Target, topic: str) -> None:
    target.admin.create_topic(topic, partitions=2)
    with failing("PULSAR_", topic):
        target.append_sql("select 'x' as value", topic, {"pulsar.producer.nonPartitionedTopicExpected": "true"})


@pytest.mark.parametrize("batching", ["true", "false"])
def test_rows_without_a_key_stay_in_one_partition(target: Target, topic: str, batching: str) -> None:
    """Also where other rows name their partition."""
    target.admin.create_topic(topic, partitions=4)
    rows = target.spark.range(0, 200, 1, 1).selectExpr(
        "string(id) as value", "if(id < 4, int(id), null) as __partition"
    )
    options = {
        "pulsar.producer.messageRoutingMode": "SinglePartition",
        "pulsar.producer.batchingEnabled": batching,
        "pulsar.producer.batchingMaxMessages": "10",
    }
    target.append(rows, topic, options)
    found = target.read(topic).selectExpr("int(value) as id", "__topic").collect()
    assert sorted(row.id for row in found) == list(range(200))
    assert len({row["__topic"] for row in found if row.id < 4}) == 4
    assert len({row["__topic"] for row in found if row.id >= 4}) == 1


@pytest.mark.parametrize("batching", ["true", "false"])
def test_keys_go_where_the_scheme_says(target: Target, topic: str, batching: str) -> None:
    """Python's client hashes as it is told, too."""
    target.admin.create_topic(topic, partitions=4)
    with closing(
        target.client.create_producer(topic, hashing_scheme=pulsar_client.HashingScheme.Murmur3_32Hash)
    ) as one:
        for number in range(40):
            one.send(b"native", partition_key=f"k{number}")
    rows = target.spark.range(0, 40, 1, 1).selectExpr("'ours' as value", "concat('k', id) as __key")
    options = {"pulsar.producer.hashingScheme": "Murmur3_32Hash", "pulsar.producer.batchingEnabled": batching}
    target.append(rows, topic, options)
    found = target.read(topic).selectExpr("string(__key) as key", "__topic as place").distinct().collect()
    assert len(found) == 40
    assert len({row.place for row in found}) == 4


def test_a_reader_has_the_name_that_is_set(target: Target, topic: str, tmp_path: Path) -> None:
    target.append_sql("select 'x' as value", topic)
    stream = target.spark.readStream.format("pulsar").options(
        **target.options(topic, {"pulsar.reader.readerName": "nightly", "startingOffsets": "earliest"})
    )
    query = stream.load().writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()

    def names() -> set[str]:
        subscriptions = target.admin.stats(topic)["subscriptions"].values()
        return {consumer["consumerName"] for one in subscriptions for consumer in one["consumers"]}

    try:
        eventually(lambda: "nightly" in names(), seconds=_SECONDS)
    finally:
        query.stop()
