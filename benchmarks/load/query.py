"""A Spark process that copies topics, one query at a time; `__main__.py` starts it and says what to do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from benchmarks.streams.latency_query import address, reading, serve, session
from pulsar_spark.testing import eventually

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_START_SECONDS = 120
_STOP_SECONDS = 60
_WAITS = "Waiting for"


class Queries:
    """One query at a time, which writes the values of one topic to another."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._query: Any = None
        self._seen = -1

    def begin(self, source: str, server: str, topic: str, target: str, checkpoint: str, *writes: str) -> None:
        """Start a query over new messages of a topic with a trigger each second, and wait until it waits for them.

        Args:
            source: The format of Spark's reader and writer.
            server: Its address.
            topic: Where messages arrive.
            target: Where their values go.
            checkpoint: A folder.
            writes: Options of the writer, as `name=value`.
        """
        rows = self._spark.readStream.format(source).options(**reading(source, server, topic)).load().select("value")
        writer = rows.writeStream.format(source).options(**address(source, server), topic=target)
        writer = writer.options(**dict(one.split("=", 1) for one in writes)).option("checkpointLocation", checkpoint)
        self._query, self._seen = writer.trigger(processingTime="1 second").start(), -1
        eventually(self._waits, seconds=_START_SECONDS)

    def _waits(self) -> bool:
        self.take()
        return bool(self._query.status["message"].startswith(_WAITS))

    def take(self) -> list[int]:
        """Milliseconds of each micro-batch since the last call."""
        failure = self._query.exception()
        if failure is not None:
            raise RuntimeError(str(failure))
        fresh = [one for one in self._query.recentProgress if one["batchId"] > self._seen and one["numInputRows"] > 0]
        self._seen = max([self._seen, *(one["batchId"] for one in fresh)])
        return [one["durationMs"]["triggerExecution"] for one in fresh]

    def end(self) -> None:
        """Stop the query."""
        self._query.stop()
        self._query.awaitTermination(_STOP_SECONDS)


if __name__ == "__main__":
    of_load = session(sys.argv[1])
    serve(of_load, Queries(of_load))
