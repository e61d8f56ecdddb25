"""Writes each micro-batch to two topics and a folder, each exactly once, by the number of the batch.

A driver that ends in between runs the batch again. Then a topic that has the batch takes nothing (`txnVersion`), and
the folder of the batch is replaced. The brokers need transactions.

    python several_sinks.py rides long-rides cities /tmp/rides /tmp/rides-checkpoint
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pulsar_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark import Pulsar

SINK = "rides-to-several-sinks"


class Sinks:
    """The sinks of one query."""

    def __init__(self, pulsar: Pulsar, long_rides: str, cities: str, folder: str) -> None:
        self.pulsar, self.long_rides, self.cities, self.folder = pulsar, long_rides, cities, folder

    def write(self, rides: DataFrame, batch: int) -> None:
        """Write a micro-batch, which is read from its topic once."""
        rides.persist()
        try:
            self.to_topic(rides.where("km > 10").select("city", "km"), self.long_rides, batch)
            self.to_topic(rides.groupBy("city").count(), self.cities, batch)
            rides.select("city", "km").write.mode("overwrite").parquet(f"{self.folder}/batch={batch}")
        finally:
            rides.unpersist()

    def to_topic(self, rows: DataFrame, topic: str, batch: int) -> None:
        """Write rows unless the topic has this batch."""
        self.pulsar.write(rows, topic, delivery_guarantee="exactly-once", sink_id=SINK, txn_version=batch)


def start(pulsar: Pulsar, source: str, sinks: Sinks, checkpoint: str) -> StreamingQuery:
    """Start the query; it runs until it is stopped."""
    rides = pulsar.read_stream(source, start="earliest").writeStream
    return rides.foreachBatch(sinks.write).option("checkpointLocation", checkpoint).start()


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    source, long_rides, cities, folder, checkpoint = sys.argv[1:]
    pulsar = pulsar_spark.PulsarCluster.from_environment().on(pulsar_spark.session("several sinks"))
    start(pulsar, source, Sinks(pulsar, long_rides, cities, folder), checkpoint).awaitTermination()
