"""A Spark process that runs one stream after the other, in real-time mode or not; `realtime.py` starts it."""

from __future__ import annotations

import sys
import tempfile
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by
from realtime.live import SETTINGS

from benchmarks.streams.latency_query import address, reading, serve, session

_STOP_SECONDS = 30
_DRAIN_SECONDS = 300


class Queries:
    """One query at a time. A `RowClock` reads the clock for each row, or the rows go to another topic."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - there is no public way
        self._clock = jvm.RowClock
        self._triggers = jvm.org.apache.spark.sql.streaming.Trigger
        self._query: Any = None

    def begin(self, source: str, server: str, topic: str, batch: str, *options: str) -> float:
        """Start a query over all messages of a topic.

        Args:
            source: The format of Spark's reader.
            server: Its address.
            topic: What it reads.
            batch: Milliseconds of a real-time batch, 0 for micro-batches.
            options: The source's, as ``name=value``; ``copy=`` names the topic to write to.

        Returns:
            The time at which it began, in seconds since 1970.
        """
        given = dict(one.split("=", 1) for one in options)
        target = given.pop("copy", None)
        messages = self._messages(source, server, topic, given)
        writer = self._timed(messages) if target is None else _copying(messages, source, server, target)
        if int(batch):
            _in_java(writer, "trigger", self._triggers.RealTime(int(batch)))
        began = time.time()
        self._query = writer.start()
        return began

    def count(self) -> int:
        """Number of rows so far."""
        failure = self._query.exception()
        if failure is not None:
            raise RuntimeError(str(failure))
        return int(self._clock.count())

    def end(self, file: str) -> list[dict[str, Any]]:
        """Stop the query, and write to a file when its rows came.

        Returns:
            When each of its batches began, and the milliseconds of its parts.
        """
        self._query.stop()
        self._query.awaitTermination(_STOP_SECONDS)
        self._clock.save(file)
        return [{"began": one["timestamp"], "millis": one["durationMs"]} for one in self._query.recentProgress]

    def drain(self, source: str, server: str, topic: str, file: str, *options: str) -> float:
        """Read all messages of a topic that there are.

        Returns:
            The seconds it took.
        """
        given = dict(one.split("=", 1) for one in options)
        writer = self._timed(self._messages(source, server, topic, given))
        began = time.monotonic()
        self._query = writer.trigger(availableNow=True).start()
        if not self._query.awaitTermination(_DRAIN_SECONDS):
            raise TimeoutError(f"the stream did not end within {_DRAIN_SECONDS} s")
        seconds = time.monotonic() - began
        self._clock.save(file)
        return seconds

    def _messages(self, source: str, server: str, topic: str, options: dict[str, str]) -> DataFrame:
        columns = {"metadataColumns": "__partition"} if source == "pulsar" else {}
        given = {**reading(source, server, topic, "earliest"), **columns, **options}
        return self._spark.readStream.format(source).options(**given).load()

    def _timed(self, messages: DataFrame) -> Any:  # noqa: ANN401 - PySpark's type does not have what is set on it
        due = F.expr("try_cast(cast(value AS string) AS bigint)")
        partition = "partition" if "partition" in messages.columns else "__partition"
        writer: Any = messages.select(due, partition).writeStream.outputMode("update")
        _in_java(writer, "foreach", self._clock())
        return writer


def _in_java(writer: Any, method: str, argument: object) -> None:  # noqa: ANN401 - as above
    """Set what PySpark 4.1 has no way to set."""
    writer._jwrite = getattr(writer._jwrite, method)(argument)  # noqa: SLF001


def _copying(messages: DataFrame, source: str, server: str, target: str) -> Any:  # noqa: ANN401 - as above
    writer = messages.select("value").writeStream.format(source).outputMode("update")
    return writer.options(topic=target, **address(source, server))


def main(jars: str, master: str, classes: str) -> None:
    """Serve until the standard input ends."""
    spark = session(jars, master=master, classes=classes)
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    with tempfile.TemporaryDirectory(prefix="pulsar-spark-benchmark-") as checkpoints:
        spark.conf.set("spark.sql.streaming.checkpointLocation", checkpoints)
        serve(spark, Queries(spark))


if __name__ == "__main__":
    main(*sys.argv[1:])
