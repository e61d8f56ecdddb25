"""Writes a topic to tables of Delta Lake, each message once, also when the driver ends before it notes a write.

Without a third folder it appends to one table. With one, rides of more than 10 km go there as well.

    python topic_to_delta.py rides /tmp/rides /tmp/rides-checkpoint [/tmp/long-rides]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pulsar_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from pulsar_spark import Pulsar

PACKAGE = "io.delta:delta-spark_4.1_2.13:4.2.0"  # its name has the line of Spark
SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def append(pulsar: Pulsar, topic: str, table: str, folder: str, checkpoint: str) -> StreamingQuery:
    """Append to one table. Its log has the last micro-batch of each query."""
    return rides(pulsar, topic, checkpoint).format("delta").option("path", folder).toTable(table)


class Split:
    """Appends each micro-batch to two tables. Their logs have its number, by the name of the job."""

    def __init__(self, job: str, every: str, long: str) -> None:
        self.job, self.every, self.long = job, every, long

    def start(self, pulsar: Pulsar, topic: str, checkpoint: str) -> StreamingQuery:
        """Start the query; it runs until it is stopped."""
        return rides(pulsar, topic, checkpoint).foreachBatch(self.write).start()

    def write(self, rows: DataFrame, batch: int) -> None:
        """Write a micro-batch, which is read from its topic once."""
        rows.persist()
        try:
            self.once(rows, self.every, batch)
            self.once(rows.where("km > 10"), self.long, batch)
        finally:
            rows.unpersist()

    def once(self, rows: DataFrame, folder: str, batch: int) -> None:
        """Append rows unless the table has this batch."""
        writer = rows.write.format("delta").mode("append")
        writer.option("txnAppId", self.job).option("txnVersion", batch).save(folder)


def rides(pulsar: Pulsar, topic: str, checkpoint: str) -> DataStreamWriter:
    """The rows of both jobs."""
    rows = pulsar.read_stream(topic, start="earliest").select("city", "km", "__publishTime")
    return rows.writeStream.option("checkpointLocation", checkpoint)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    topic, folder, checkpoint, *long = sys.argv[1:]
    session = pulsar_spark.session("topic to Delta", **SETTINGS, **{"spark.jars.packages": PACKAGE})
    pulsar = pulsar_spark.PulsarCluster.from_environment().on(session)
    if long:
        Split("rides-to-delta", folder, long[0]).start(pulsar, topic, checkpoint).awaitTermination()
    else:
        append(pulsar, topic, "rides", folder, checkpoint).awaitTermination()
