"""Exports all that a topic has with many tasks, then follows it, without a gap and without a repetition.

Both parts meet at the positions of one moment. The batch reads straight from bookies and offloaded storage where that
is possible, several tasks for each partition. The stream begins with the next message. A file beside the export keeps
these positions, so a job that ends at any moment goes on from there.

    python backfill_then_follow.py rides /tmp/rides
"""

from __future__ import annotations

import json
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


def kept_start(pulsar: Pulsar, topic: str, folder: str) -> Mapping[str, str]:
    """Where the stream begins: what an earlier run has kept, or else after an export."""
    kept = Path(f"{folder}-start.json")
    if not kept.exists():
        whole = kept.with_suffix(".tmp")
        whole.write_text(json.dumps(dict(backfill(pulsar, topic, folder))), encoding="utf-8")
        whole.replace(kept)
    start: dict[str, str] = json.loads(kept.read_text(encoding="utf-8"))
    return start


def follow(pulsar: Pulsar, topic: str, start: Mapping[str, str], folder: str, checkpoint: str) -> StreamingQuery:
    """Export what follows; a restart goes on from the checkpoint."""
    rows = pulsar.read_stream(topic, start=dict(start)).writeStream
    rows = rows.foreachBatch(lambda frame, number: write(frame, number, folder))
    return rows.option("checkpointLocation", checkpoint).start()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    topic, folder = sys.argv[1:]
    pulsar = pulsar_spark.PulsarCluster.from_environment().on(pulsar_spark.session("export"))
    start = kept_start(pulsar, topic, folder)
    follow(pulsar, topic, start, folder, f"{folder}-checkpoint").awaitTermination()
