"""A Spark process that runs one stream after the other, as its standard input says; `latency.py` starts it."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

_START_SECONDS = 60
_STOP_SECONDS = 30
_POLL_SECONDS = 0.05
_WAITS = "Waiting for data to arrive"


class Queries:
    """One query at a time; rows carry the time they were sent, in microseconds since 1970, as text."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._query: Any = None
        self._seen = -1
        self._since = ""

    def begin(self, source: str, server: str, topic: str, trigger: str = "") -> None:
        """Start a query over new messages of a topic, or over the rows of Spark's own `rate` source.

        With milliseconds between triggers it reports those that find nothing, too.
        """
        reader = self._spark.readStream.format(source)
        if source == "rate":
            rows = reader.option("rowsPerSecond", topic).option("numPartitions", "1").load()
            rows = rows.select(F.unix_millis("timestamp").alias("sent"))
        else:
            rows = reader.options(**reading(source, server, topic)).load()
            rows = rows.select((F.col("value").cast("string").cast("long") / 1000).alias("sent"))
        self._spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", "0s" if trigger else "10s")
        writer = _observed(rows).writeStream.format("noop")
        self._query = (writer.trigger(processingTime=f"{trigger} milliseconds") if trigger else writer).start()
        self._seen = -1
        self._since = ""
        deadline = time.monotonic() + _START_SECONDS
        while not (self.idle() if trigger else source == "rate" or self._query.status["message"] == _WAITS):
            self.take()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{source} does not wait for data after {_START_SECONDS} s: {self._query.status}")
            time.sleep(_POLL_SECONDS)

    def take(self) -> list[dict[str, Any]]:
        """Each micro-batch since the last call: rows, milliseconds of its parts, latencies of its rows."""
        failure = self._query.exception()
        if failure is not None:
            raise RuntimeError(str(failure))
        fresh = [one for one in self._query.recentProgress if one["batchId"] > self._seen and one["numInputRows"] > 0]
        self._seen = max([self._seen, *(one["batchId"] for one in fresh)])
        return [
            {
                "rows": one["numInputRows"],
                "millis": one["durationMs"],
                "latencies": one["observedMetrics"]["latency"]["millis"],
            }
            for one in fresh
        ]

    def idle(self) -> list[dict[str, int]]:
        """Milliseconds of each trigger since the last call that found nothing."""
        fresh = [one for one in self._query.recentProgress if one["timestamp"] > self._since]
        self._since = max([self._since, *(one["timestamp"] for one in fresh)])
        return [one["durationMs"] for one in fresh if one["numInputRows"] == 0]

    def end(self) -> None:
        """Stop the query."""
        self._query.stop()
        self._query.awaitTermination(_STOP_SECONDS)


def reading(source: str, server: str, topic: str, first: str = "latest") -> dict[str, str]:
    """The options with which a source reads a topic from there on."""
    named = {"subscribe": topic} if source == "kafka" else {"topic": topic}
    return {**address(source, server), **named, "startingOffsets": first}


def address(source: str, server: str) -> dict[str, str]:
    """The option that says where the server is."""
    return {"kafka.bootstrap.servers" if source == "kafka" else "service.url": server}


def _observed(rows: DataFrame) -> DataFrame:
    """The clock is read for each row, when a task has it."""
    now = F.java_method(F.lit("java.lang.System"), F.lit("currentTimeMillis")).cast("double")
    return rows.select((now - F.col("sent")).alias("late")).observe("latency", F.collect_list("late").alias("millis"))


def session(jars: str, *, master: str = "local[2]", classes: str = "") -> SparkSession:
    """A session with the jars, and a folder of classes more."""
    builder = SparkSession.builder.master(master).config("spark.jars", jars).config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.sql.streaming.numRecentProgressUpdates", "2000")
    builder = builder.config("spark.driver.extraClassPath", classes) if classes else builder
    return builder.config("spark.driver.host", "127.0.0.1").getOrCreate()


def serve(spark: SparkSession, queries: object) -> None:
    """Do what each line of the standard input names, until it ends."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - there is no public way
    print(jvm.ProcessHandle.current().pid(), flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        answer = getattr(queries, word)(*rest)
        print(json.dumps(answer), flush=True)
    spark.stop()


if __name__ == "__main__":
    of_latency = session(sys.argv[1])
    serve(of_latency, Queries(of_latency))
