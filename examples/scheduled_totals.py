"""Adds the totals of finished hours to a table of files, as a job that cron or Airflow starts and that ends by itself.

Each run processes what arrived since the last one, in several micro-batches where it is much. The checkpoint keeps the
totals of hours that are not over. Brokers keep messages for the subscription, also while no run is active.

    python scheduled_totals.py rides /tmp/totals /tmp/totals-checkpoint
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyspark.sql.functions import col, window

import pulsar_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pulsar_spark import Pulsar

SUBSCRIPTION = "hourly-totals"
LATE = "10 minutes"


def totals(rides: DataFrame) -> DataFrame:
    """The rides and kilometres of each city in each hour that is over."""
    hour = window("__eventTime", "1 hour").alias("hour")
    sums = rides.withWatermark("__eventTime", LATE).groupBy("city", hour).agg({"km": "sum", "*": "count"})
    return sums.select(
        "city", col("hour.start").alias("hour"), col("count(1)").alias("rides"), col("sum(km)").alias("km")
    )


def run(pulsar: Pulsar, topic: str, folder: str, checkpoint: str) -> int:
    """Process what is stored now; returns the number of messages."""
    rides = pulsar.read_stream(topic, start="earliest", progress_subscription=SUBSCRIPTION, max_bytes_per_trigger="1g")
    writer = totals(rides).writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    query = writer.format("parquet").start(folder)
    query.awaitTermination()
    return sum(progress.numInputRows for progress in query.recentProgress)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cluster = pulsar_spark.PulsarCluster.from_environment()
    print(run(cluster.on(pulsar_spark.session("hourly totals")), *sys.argv[1:]), "messages")
