"""Repairs messages that could not be decoded, and sends them to their topic again.

A read with `onDecodeError=dlq` copies them to another topic, with the topic that they come from and the error as
properties. The checkpoint knows which letters were sent, so the job can run again after each repair. Those that this
repair does not help stay where they are.

    python replay_dead_letters.py rides-dead persistent://public/default/rides /tmp/replayed
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyspark.sql.functions import col, from_json, regexp_replace

import pulsar_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark import Pulsar

COLUMNS = "city STRING, km DOUBLE"


def repaired(letters: DataFrame, topic: str) -> DataFrame:
    """The letters of a topic that are whole once a decimal comma is a point, with the columns of the topic."""
    text = regexp_replace(col("value").cast("string"), r'"km": *"(\d+),(\d+)"', r'"km": $1.$2')
    ours = regexp_replace(col("__messageProperties")["pulsarspark.topic"], r"-partition-\d+$", "") == topic
    rides = letters.where(ours).select("__key", "__keyIsText", "__eventTime", from_json(text, COLUMNS).alias("ride"))
    return rides.where("ride.km IS NOT NULL").select("__key", "__keyIsText", "__eventTime", "ride.*")


def replay(pulsar: Pulsar, dead_letters: str, topic: str, checkpoint: str) -> StreamingQuery:
    """Send the letters that are stored now, then end."""
    letters = pulsar.read_stream(dead_letters, start="earliest")
    return pulsar.write_stream(repaired(letters, topic), topic, checkpoint=checkpoint, available_now=True)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cluster = pulsar_spark.PulsarCluster.from_environment()
    replay(cluster.on(pulsar_spark.session("replay")), *sys.argv[1:]).awaitTermination()
