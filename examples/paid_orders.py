"""Joins two topics: an order with its payment, which arrives at most 15 minutes later.

Spark keeps both sides in the state of the query until the watermarks prove that no partner can come any more. Messages
may be late by ten minutes.

    python paid_orders.py orders payments paid-orders /tmp/paid-orders
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyspark.sql.functions import expr

import pulsar_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark import Pulsar

LATE = "10 minutes"


def paid(orders: DataFrame, payments: DataFrame) -> DataFrame:
    """A row for each order and its payment, with the id as key."""
    orders = orders.selectExpr("id", "amount", "__eventTime AS ordered").withWatermark("ordered", LATE)
    payments = payments.selectExpr("order_id", "method", "__eventTime AS paid").withWatermark("paid", LATE)
    partners = expr("id = order_id AND paid BETWEEN ordered AND ordered + INTERVAL 15 MINUTES")
    return orders.join(payments, partners).selectExpr("CAST(id AS STRING) AS __key", "id", "amount", "method")


def start(pulsar: Pulsar, orders: str, payments: str, target: str, checkpoint: str) -> StreamingQuery:
    """Start the query; it runs until it is stopped."""
    sides = (pulsar.read_stream(topic, start="earliest") for topic in (orders, payments))
    return pulsar.write_stream(paid(*sides), target, checkpoint=checkpoint)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    cluster = pulsar_spark.PulsarCluster.from_environment()
    start(cluster.on(pulsar_spark.session("paid orders")), *sys.argv[1:]).awaitTermination()
