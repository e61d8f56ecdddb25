"""Makes the current rows of a database table from its changes, which Debezium writes to a topic.

The newest change of each key is the row, unless it is a delete. Messages of one key are in one partition, in the order
of the changes, so their positions tell which one is the newest.

    python debezium_table.py customers 'id BIGINT, name STRING' id /tmp/customers
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyspark.sql.functions import coalesce, col, expr, from_json

import pulsar_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pulsar_spark import Pulsar

POSITION = ("__ledgerId", "__entryId", "__batchIndex")


def changes_of(messages: DataFrame, columns: str) -> DataFrame:
    """The changes, with their positions. They are JSON texts, or the columns of a topic with a schema."""
    if "value" in messages.columns:
        change = f"op STRING, before STRUCT<{columns}>, after STRUCT<{columns}>"
        messages = messages.select(from_json(col("value").cast("string"), change).alias("change"), *POSITION)
        return messages.select("change.*", *POSITION)
    return messages.select("op", "before", "after", *POSITION)


def current(changes: DataFrame, key: str) -> DataFrame:
    """The rows after all changes. A tombstone, which follows a delete, has no `op` and changes nothing."""
    newest = expr(f"max_by(struct(op, after), struct({', '.join(POSITION)}))").alias("newest")
    by_key = changes.where("op IS NOT NULL").groupBy(coalesce(col("after")[key], col("before")[key]))
    return by_key.agg(newest).where("newest.op <> 'd'").select("newest.after.*")


def table(pulsar: Pulsar, topic: str, columns: str, key: str) -> DataFrame:
    """The table as it is now."""
    return current(changes_of(pulsar.read(topic), columns), key)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    topic, columns, key, folder = sys.argv[1:]
    cluster = pulsar_spark.PulsarCluster.from_environment()
    rows = table(cluster.on(pulsar_spark.session("table of changes")), topic, columns, key)
    rows.write.mode("overwrite").parquet(folder)
