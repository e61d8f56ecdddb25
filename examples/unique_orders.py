"""Copies each order once, although its producer may send it again within ten minutes.

Spark keeps the keys of ten minutes in the state of the query, and forgets the older ones. The time is the event time
that the producer sets.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pulsar_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark import Pulsar

WINDOW = "10 minutes"


def unique(orders: DataFrame) -> DataFrame:
    """The first message of each key within the window."""
    return orders.withWatermark("__eventTime", WINDOW).dropDuplicatesWithinWatermark(["__key"])


def start(pulsar: Pulsar, source: str, target: str, checkpoint: str) -> StreamingQuery:
    """Start the query; it runs until it is stopped."""
    orders = pulsar.read_stream(source, start="earliest")
    return pulsar.write_stream(unique(orders), target, checkpoint=checkpoint)


if __name__ == "__main__":
    cluster = pulsar_spark.PulsarCluster.from_environment()
    start(cluster.on(pulsar_spark.session("unique orders")), *sys.argv[1:]).awaitTermination()
