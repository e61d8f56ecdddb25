"""Queries in real-time mode from topic to topic, on every line of Spark that has the mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.spark.settings import session_settings
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

# What lets Spark accept a sink that is not one of its own: the first on 4.1 and 4.2, both on 4.3.
SETTINGS = {
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    "spark.sql.streaming.realTimeMode.asyncProgressTrackingByDefault.enabled": "false",
    # Spark 4.3 refuses a checkpoint that micro-batches began with the older format, also of a query without state.
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
}
# The one store of state that the mode accepts.
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
# The shortest batch that Spark accepts.
BATCH = "5 seconds"


def accepting(spark: SparkSession) -> AbstractContextManager[None]:
    """A session whose queries in real-time mode may write to topics."""
    return session_settings(spark, SETTINGS)


def start_live(
    frame: DataFrame, checkpoint: Path | str, service_url: str, target: str, *, batch: str = BATCH, **options: str
) -> StreamingQuery:
    """Start a query in real-time mode that copies to a topic, also with batches that `real_time_trigger` refuses."""
    writer: Any = frame.writeStream.format("pulsar").outputMode("update")
    writer = writer.option("service.url", service_url).option("topic", target).options(**options)
    writer = writer.option("checkpointLocation", str(checkpoint))
    trigger = frame.sparkSession.sparkContext._jvm.org.apache.spark.sql.streaming.Trigger  # type: ignore[union-attr]
    writer._jwrite = writer._jwrite.trigger(trigger.RealTime(batch))
    query: StreamingQuery = writer.start()
    return query


def wait_for_batches(query: StreamingQuery, count: int) -> None:
    """Wait until so many more batches have ended; raises the error of a query that fails."""

    def newest() -> int:
        failure = query.exception()
        if failure is not None:
            raise failure
        return query.lastProgress["batchId"] if query.lastProgress else -1

    first = newest()
    eventually(lambda: newest() >= first + count, seconds=300 + count)
