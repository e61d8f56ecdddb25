"""Checkpoints in topics: queries, and what a store and its topic have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.spark.files import names
from support.topics.messages import produce
from support.topics.reading import stream

if TYPE_CHECKING:
    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

KEYS = 10
ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state."
    "RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
APART = {"pulsar-fs.inlineBytes": "100"}
"""Most files of a checkpoint are apart from the log."""

PARTITIONS = {"spark.sql.shuffle.partitions": "2"}


def publish(client: pulsar_client.Client, topic: str, count: int, start: int = 0) -> None:
    """Publish numbers as texts, in batches."""
    produce(client, topic, [b"%d" % number for number in range(start, start + count)], batch_size=10)


def counted(spark: SparkSession, service_url: str, topic: str, limit: int) -> DataFrame:
    """A stream with state: the number of messages by key."""
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", maxMessagesPerTrigger=str(limit))
    return frame.selectExpr(f"cast(cast(value AS string) AS int) % {KEYS} AS key").groupBy("key").count()


def start_counting(frame: DataFrame, checkpoint: str, *, to_end: bool) -> StreamingQuery:
    """Start the query of `counted`, up to the end or for ever."""
    writer = frame.writeStream.format("noop").outputMode("update").option("checkpointLocation", checkpoint)
    return (writer.trigger(availableNow=True) if to_end else writer).start()


def counts(spark: SparkSession, checkpoint: str) -> dict[int, int]:
    """The state of `counted`, read by Spark's own source for state."""
    rows = spark.read.format("statestore").load(checkpoint).selectExpr("key.key", "value.count").collect()
    return {row[0]: row[1] for row in rows}


def last_commit(spark: SparkSession, checkpoint: str) -> int:
    """The last micro-batch that is committed; -1 before the first one."""
    return max([int(name) for name in names(spark, f"{checkpoint}/commits") if name.isdecimal()], default=-1)


def topic_of(checkpoint: str) -> str:
    """The topic of the store of a checkpoint."""
    tenant, namespace, store = checkpoint.removeprefix("pulsar-fs://").split("/")[:3]
    return f"persistent://{tenant}/{namespace}/pulsar-spark-checkpoint-{store}"
