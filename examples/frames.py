"""Hands the rows of a topic to polars and to DuckDB, through Arrow and without a file in between.

All selected rows come to this machine: select and filter before. It needs the Python packages pyarrow, polars and
duckdb.

    python frames.py rides -2h
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import duckdb
import polars

import pulsar_spark

if TYPE_CHECKING:
    import pyarrow

    from pulsar_spark import Pulsar


def rides_since(pulsar: Pulsar, topic: str, start: str) -> pyarrow.Table:
    """The rides as a table of Arrow. Keys are bytes in Spark, and become text here."""
    rides = pulsar.read(topic, start=start)
    return rides.selectExpr("CAST(__key AS STRING) AS taxi", "city", "km", "__eventTime AS at").toArrow()


def by_polars(rides: pyarrow.Table) -> polars.DataFrame:
    """The kilometres of each city."""
    return polars.DataFrame(rides).group_by("city").agg(polars.col("km").sum()).sort("city")


def by_duckdb(rides: pyarrow.Table) -> list[tuple[str, float]]:
    """The same in SQL."""
    sums = duckdb.from_arrow(rides).query("rides", "SELECT city, sum(km) FROM rides GROUP BY city ORDER BY city")
    return [(city, km) for city, km in sums.fetchall()]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cluster = pulsar_spark.PulsarCluster.from_environment()
    table = rides_since(cluster.on(pulsar_spark.session("frames")), *sys.argv[1:])
    print(by_polars(table), by_duckdb(table), sep="\n")
