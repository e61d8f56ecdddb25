"""A Spark process that runs one query after the other with a checkpoint somewhere; `stage.py` says what to do."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from benchmarks.streams.latency_query import serve
from support.spark.files import names, size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_POLL_SECONDS = 0.02
_REACH_SECONDS = 1800
_STOP_SECONDS = 60
_PARTS = ("walCommit", "commitOffsets", "addBatch", "triggerExecution")


class Queries:
    """One query at a time, over numbers that Spark makes: each micro-batch has the same count of them."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._query: Any = None

    def begin(self, kind: str, checkpoint: str, rows: str, trigger: str) -> float:
        """Start a query.

        Args:
            kind: ``stateless``; ``counts`` by so many keys, as ``counts-1000``; or ``grow``, where each row is a key.
            checkpoint: Its folder.
            rows: Of each micro-batch.
            trigger: Seconds from one to the next; 0 for none.

        Returns:
            When it started, in seconds.
        """
        stream = self._spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows)
        writer = _result(stream.option("numPartitions", "2").load(), kind).writeStream.format("noop")
        writer = writer.outputMode("update").option("checkpointLocation", checkpoint)
        began = time.monotonic()
        self._query = (writer.trigger(processingTime=f"{trigger} seconds") if int(trigger) else writer).start()
        return began

    def reach(self, batch: str) -> float:
        """Wait until a micro-batch is committed; returns when it was, in seconds."""
        deadline = time.monotonic() + _REACH_SECONDS
        while (self._query.lastProgress or {"batchId": -1})["batchId"] < int(batch):
            failure = self._query.exception()
            if failure is not None:
                raise RuntimeError(str(failure))
            if time.monotonic() > deadline:
                raise TimeoutError(f"micro-batch {batch} is not committed within {_REACH_SECONDS} s")
            time.sleep(_POLL_SECONDS)
        return time.monotonic()

    def end(self) -> list[list[int]]:
        """Stop the query.

        Returns:
            The number and the milliseconds of `_PARTS` of each of its micro-batches.
        """
        progress = self._query.recentProgress
        self._query.stop()
        self._query.awaitTermination(_STOP_SECONDS)
        return [[one["batchId"], *(one["durationMs"].get(part, 0) for part in _PARTS)] for one in progress]

    def files(self, checkpoint: str) -> list[int]:
        """The last micro-batch that is committed, and the bytes of all files of the checkpoint."""
        batch = (self._query.lastProgress or {"batchId": -1})["batchId"]
        return [batch, size(self._spark, checkpoint)]

    def snapshots(self, checkpoint: str) -> list[int]:
        """The version of the newest snapshot of each partition of state; 0 where there is none."""
        state = f"{checkpoint}/state/0"
        folders = [f"{state}/{name}" for name in names(self._spark, state) if name.isdecimal()]
        return [max(map(_version, names(self._spark, folder)), default=0) for folder in folders]


def _version(file: str) -> int:
    """That of a snapshot by its name, with the id that newer formats of checkpoints give it; 0 for other files."""
    return int(file.removesuffix(".zip").partition("_")[0]) if file.endswith(".zip") else 0


def _result(rows: DataFrame, kind: str) -> DataFrame:
    if kind == "stateless":
        return rows
    keys = kind.partition("-")[2]
    key = f"value % {keys}" if keys else "value"
    return rows.selectExpr(f"{key} AS key").groupBy("key").count()


def main(settings: str) -> None:
    """Serve until the standard input ends."""
    builder = SparkSession.builder
    for name, value in json.loads(Path(settings).read_text(encoding="utf-8")).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    serve(spark, Queries(spark))


if __name__ == "__main__":
    main(sys.argv[1])
