"""A `spark_worker` that also writes rows to many topics, and streams of equal epochs; `writing.py` starts it."""

from __future__ import annotations

import statistics
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

from benchmarks.processes import cpu_seconds
from benchmarks.spark_worker import WRITE_TASKS, Arguments, Connector, Jobs, main, part

_PARTS = ("triggerExecution", "latestOffset", "queryPlanning", "addBatch", "walCommit", "commitOffsets")
_EPOCH_SECONDS = 120.0
_POLL_SECONDS = 0.02


class Writes(Jobs):
    """The actions of `spark_worker`, and those of writes."""

    def __init__(self, spark: SparkSession, connector: Connector) -> None:
        super().__init__(spark, connector)
        self.actions |= {"route": self._route, "epochs": self._epochs}
        jvm: Any = spark._jvm  # noqa: SLF001 - there is no public way
        self._pid = int(jvm.ProcessHandle.current().pid())
        spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "10000")

    def _route(self, arguments: Arguments) -> dict[str, Any]:
        """Write rows to one topic, or to many: a row for each in turn, or one topic after the other."""
        count, size = int(arguments["count"]), int(arguments["size"])
        rows = self._spark.range(0, count, 1, WRITE_TASKS)
        rows = rows.withColumn("value", part(Path(arguments["values"]).read_bytes(), size))
        if "topic" not in arguments:
            topics = int(arguments["topics"])
            number = F.col("id") % topics if arguments["order"] == "turn" else F.col("id") / (count // topics)
            rows = rows.withColumn("__topic", F.concat(F.lit(arguments["prefix"]), number.cast("int").cast("string")))
        self._connector.write(rows.drop("id"), arguments)
        return {"rows": count}

    def _epochs(self, arguments: Arguments) -> dict[str, Any]:
        """Write epochs of as many rows each by a stream; those after the first ones are measured."""
        size, warm, epochs = (int(arguments[name]) for name in ("rows", "warm", "epochs"))
        rows = self._epochs_of(size, epochs, int(arguments["size"]), is_stamped=arguments["stamped"] == "true")
        options = self._connector.writing(arguments)
        with tempfile.TemporaryDirectory(prefix="pulsar-spark-benchmark-", ignore_cleanup_errors=True) as checkpoint:
            writer = rows.writeStream.format(self._connector.format).options(**options)
            query = writer.option("checkpointLocation", checkpoint).start()
            try:
                first, before = _reached(query, warm - 1), cpu_seconds(self._pid)
                last, after = _reached(query, epochs - 1), cpu_seconds(self._pid)
                counted = [one for one in query.recentProgress if warm <= one["batchId"] < epochs]
            finally:
                query.stop()
        figures = {
            "seconds": _ended(counted[-1]) - _began(counted[0]),
            "cpu": (after - before) / (last - first),
            **{name: statistics.median(one["durationMs"].get(name, 0) for one in counted) for name in _PARTS},
        }
        return {"rows": size * len(counted), "figures": figures}

    def _epochs_of(self, rows: int, epochs: int, size: int, *, is_stamped: bool) -> DataFrame:
        """Text of `size` bytes with the task's clock, if wanted, and the row's number; later epochs are empty."""
        source = self._spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows)
        numbered = source.option("numPartitions", WRITE_TASKS).load().where(F.col("value") < rows * epochs)
        clock = F.java_method(F.lit("java.lang.System"), F.lit("currentTimeMillis")) if is_stamped else F.lit("0")
        text = F.concat_ws(" ", clock, F.col("value").cast("string"))
        return numbered.select(F.rpad(text, size, " ").cast("binary").alias("value"))


def _reached(query: Any, epoch: int) -> int:  # noqa: ANN401 - of two kinds
    """Wait until an epoch is done; returns the last one that is."""
    deadline = time.monotonic() + _EPOCH_SECONDS
    while True:
        failure = query.exception()
        if failure is not None:
            raise RuntimeError(str(failure))
        progress = query.lastProgress
        if progress is not None and progress["batchId"] >= epoch:
            return int(progress["batchId"])
        if time.monotonic() > deadline:
            raise TimeoutError(f"epoch {epoch} is not done after {_EPOCH_SECONDS:g} s: {query.status}")
        time.sleep(_POLL_SECONDS)


def _began(progress: Any) -> float:  # noqa: ANN401 - of Spark
    return datetime.fromisoformat(progress["timestamp"].replace("Z", "+00:00")).timestamp()


def _ended(progress: Any) -> float:  # noqa: ANN401 - of Spark
    return _began(progress) + float(progress["durationMs"]["triggerExecution"]) / 1000


if __name__ == "__main__":
    main(Writes)
