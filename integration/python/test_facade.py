"""A cluster in a classic session; ``integration/connect`` has the same for Spark Connect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.spark.facade import check_facade

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.servers.servers import Addresses


def test_a_cluster_in_a_session(spark: SparkSession, pulsar: Addresses, topic: str) -> None:
    check_facade(spark, pulsar, topic)
