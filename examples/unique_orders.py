"""Copies each order once, although its producer may send it again within ten minutes.

Spark keeps the keys of ten minutes in the state of the query, and forgets the older ones. The time is the event time
that the producer sets, else that of sending. A message without a key is an order of its own.

    python unique_orders.py orders unique-orders /tmp/unique-orders
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyspark.sql.functions import coalesce

import pulsar_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark import Pulsar

WINDOW = "10 minutes"


def unique(orders: DataFrame) -> DataFrame:
    """The first message of each key within the window, and all without a key."""
    identity = {"_key": coalesce("__key", "__messageId"), "_time": coalesce("__eventTime", "__publishTime")}
    timed = orders.withColumns(identity).withWatermark("_time", WINDOW)
    return timed.dropDuplicatesWithinWatermark(["_key"]).drop(*identity)


def start(pulsar: Pulsar, source: str, target: str, checkpoint: str) -> StreamingQuery:
    """Start the query; it runs until it is stopped."""
    orders = pulsar.read_stream(source, start="earliest")
    return pulsar.write_stream(unique(orders), target, checkpoint=checkpoint)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cluster = pulsar_spark.PulsarCluster.from_environment()
    start(cluster.on(pulsar_spark.session("unique orders")), *sys.argv[1:]).awaitTermination()
