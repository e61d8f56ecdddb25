"""Writes a topic to a table of Iceberg, each message once, also when the driver ends before it notes a write.

It appends, or with a last word `merge` inserts the messages that the table does not have.

    python topic_to_iceberg.py rides /tmp/lake /tmp/rides-checkpoint [merge]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyspark.sql.functions import partitioning

import pulsar_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark import Pulsar

PACKAGE = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"  # its name has the line of Spark
SETTINGS = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.cache-enabled": "false",  # or a session sees what a query merged up to 30 s later
}


def append(pulsar: Pulsar, topic: str, table: str, checkpoint: str) -> StreamingQuery:
    """Append to the table. Its snapshots have the number of the micro-batch and its query."""
    writer = rides(pulsar, topic).writeStream.format("iceberg").option("checkpointLocation", checkpoint)
    return writer.toTable(table)


def merge(pulsar: Pulsar, topic: str, table: str, checkpoint: str) -> StreamingQuery:
    """Insert what the table does not have. A message keeps its place in its topic, and its time."""
    rows, spark = rides(pulsar, topic), pulsar.spark
    if not spark.catalog.tableExists(table):
        empty = spark.createDataFrame([], rows.schema)
        empty.writeTo(table).using("iceberg").partitionedBy(partitioning.days("__publishTime")).create()

    def insert_new(batch: DataFrame, _: int) -> None:
        batch.persist()
        try:
            batch.createOrReplaceTempView("batch")
            oldest = batch.selectExpr("coalesce(unix_millis(min(__publishTime)), 0) AS oldest").collect()[0].oldest
            batch.sparkSession.sql(
                f"MERGE INTO {table} AS lake USING batch ON lake.__publishTime >= timestamp_millis({oldest})"
                " AND lake.__topic = batch.__topic AND lake.__position = batch.__position"
                " WHEN NOT MATCHED THEN INSERT *"
            )
        finally:
            batch.unpersist()

    return rows.writeStream.foreachBatch(insert_new).option("checkpointLocation", checkpoint).start()


def rides(pulsar: Pulsar, topic: str) -> DataFrame:
    """The rows of both jobs, with the identity of each message."""
    identity = ["__topic", "__position", "__publishTime"]
    return pulsar.read_stream(topic, start="earliest", metadata_columns=identity).select("city", "km", *identity)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    topic, folder, checkpoint, *how = sys.argv[1:]
    settings = {**SETTINGS, "spark.sql.catalog.lake.warehouse": folder, "spark.jars.packages": PACKAGE}
    pulsar = pulsar_spark.PulsarCluster.from_environment().on(pulsar_spark.session("topic to Iceberg", **settings))
    start = merge if how == ["merge"] else append
    start(pulsar, topic, "lake.trips.rides", checkpoint).awaitTermination()
