"""Settings of the client that the connector's own batches could ignore: what a broker and readers see of them."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from support.spark.errors import failing
from support.spark.waiting import becomes, eventually
from support.topics.reading import java_client, running

if TYPE_CHECKING:
    from pathlib import Path

    from support.topics.writing import Target

_SECONDS = 180
_LARGE = "select repeat('x', 20000) as value"


def _entries(target: Target, topic: str) -> tuple[int, int]:
    """How many entries the topic has, and their bytes."""
    found = target.admin.internal_stats(topic)
    return found["numberOfEntries"], found["totalSize"]


def test_the_broker_sees_who_writes(target: Target, topic: str, tmp_path: Path) -> None:
    options = {
        "pulsar.client.description": "ledger-team",
        "pulsar.producer.properties": json.dumps({"owner": "a team"}),
        "pulsar.producer.initialSubscriptionName": "first",
    }
    rows = target.spark.readStream.format("rate").option("rowsPerSecond", 10).load().selectExpr("'x' as value")
    writer = rows.writeStream.format("pulsar").options(**target.options(topic, options))

    target.admin.create_topic(topic)
    with running(writer.option("checkpointLocation", str(tmp_path)).start()):
        publishers = eventually(lambda: target.admin.stats(topic)["publishers"], seconds=_SECONDS)
    assert all("ledger-team" in publisher["clientVersion"] for publisher in publishers)
    assert all(publisher["metadata"] == {"owner": "a team"} for publisher in publishers)
    becomes(lambda: target.admin.subscriptions(topic), ["first"])


def test_a_task_may_keep_others_away(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    with closing(target.client.create_producer(topic)), failing("PULSAR_WRITE_REFUSED.EXCLUSIVE", topic):
        target.append_sql("select 'x' as value", topic, {"pulsar.producer.accessMode": "Exclusive"})


@pytest.mark.parametrize("batching", ["true", "false"])
def test_only_large_bodies_are_compressed(target: Target, topic: str, batching: str) -> None:
    options = {"pulsar.producer.compressionType": "ZSTD", "pulsar.producer.batchingEnabled": batching}
    target.append_sql(_LARGE, topic, options)
    assert _entries(target, topic)[1] < 1000
    target.append_sql(_LARGE, topic, {**options, "pulsar.producer.compressMinMsgBodySize": "100000"})
    assert _entries(target, topic)[1] > 20000


def test_chunks_have_the_size_that_is_set(target: Target, topic: str) -> None:
    options = {"pulsar.producer.chunkingEnabled": "true"}  # without batches, which the client would refuse
    target.append_sql(_LARGE, topic, {**options, "pulsar.producer.chunkMaxMessageSize": "6000"})
    assert _entries(target, topic)[0] == 4
    assert [len(row.value) for row in target.read(topic).collect()] == [20000]


def test_a_topic_may_be_expected_to_have_no_partitions(target: Target, topic: str) -> None:
    target.admin.create_topic(topic, partitions=2)
    with failing("PULSAR_REQUEST_FAILED", topic, "contains 2 partitions"):
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
    """The Java client by itself sends each key to the same partition."""
    target.admin.create_topic(topic, partitions=4)
    java = java_client(target.spark)
    client = java.PulsarClient.builder().serviceUrl(target.service_url).build()
    producer = client.newProducer().topic(topic).hashingScheme(java.HashingScheme.Murmur3_32Hash).create()
    for number in range(40):
        producer.newMessage().key(f"k{number}").value(b"native").send()
    client.close()
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
