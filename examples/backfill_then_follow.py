"""Exports all that a topic has with many tasks, then follows it, without a gap and without a repetition.

Both parts meet at the positions of one moment. The batch reads straight from bookies and offloaded storage where that
is possible, several tasks for each partition. The stream begins with the next message.

    python backfill_then_follow.py rides /tmp/rides
"""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar_spark

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark import Pulsar

BACKFILL = -1


def write(frame: DataFrame, number: int, folder: str) -> None:
    """A folder for each micro-batch, so one that runs again replaces what it has written before."""
    frame.write.mode("overwrite").parquet(f"{folder}/batch={number}")


def backfill(pulsar: Pulsar, topic: str, folder: str) -> Mapping[str, str]:
    """Export what is stored now; returns where the stream begins."""
    moment = pulsar.positions(topic, at=datetime.now(timezone.utc))
    write(pulsar.read(topic, end={one.topic: one.position for one in moment}, min_partitions=8), BACKFILL, folder)
    return {one.topic: one.starting_offset for one in moment}


def follow(pulsar: Pulsar, topic: str, start: Mapping[str, str], folder: str, checkpoint: str) -> StreamingQuery:
    """Export what follows; a restart goes on from the checkpoint."""
    rows = pulsar.read_stream(topic, start=dict(start)).writeStream
    rows = rows.foreachBatch(lambda frame, number: write(frame, number, folder))
    return rows.option("checkpointLocation", checkpoint).start()


if __name__ == "__main__":
    topic, folder = sys.argv[1:]
    pulsar = pulsar_spark.PulsarCluster.from_environment().on(pulsar_spark.session("export"))
    checkpoint = Path(f"{folder}-checkpoint")
    start = {} if checkpoint.exists() else backfill(pulsar, topic, folder)
    follow(pulsar, topic, start, folder, str(checkpoint)).awaitTermination()
