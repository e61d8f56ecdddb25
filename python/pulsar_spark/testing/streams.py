"""Streams of a test, from their start to the end of what is stored."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Literal, cast, overload

from pulsar_spark.options.received import FRAME, QUERY, WRITER, check, check_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_tables = itertools.count(1)


@overload
def run_to_end(
    stream: DataFrame, *, seconds: float = 60, output_mode: Literal["append", "update", "complete"] = "append"
) -> list[Row]: ...


@overload
def run_to_end(stream: DataStreamWriter | StreamingQuery, *, seconds: float = 60) -> StreamingQuery: ...


def run_to_end(
    stream: DataFrame | DataStreamWriter | StreamingQuery,
    *,
    seconds: float = 60,
    output_mode: Literal["append", "update", "complete"] = "append",
) -> list[Row] | StreamingQuery:
    """Run a stream until it has processed all messages that are stored.

    Args:
        stream: A stream, whose rows are returned. Or the writer of a job, which is started with the trigger
            ``availableNow``. Or a query that runs: one that ends by itself is waited for, any other runs on.
        seconds: How long it may take.
        output_mode: That of a stream whose rows are returned.

    Returns:
        The rows of a stream, or else the query.

    Raises:
        TimeoutError: The stream was not done in time; it is stopped.
        PulsarOptionError: ``stream`` is something else, or no stream.
        PulsarSparkError: The query failed. Errors that are not of pulsar-spark are those of Spark.

    Examples:
        >>> rows = run_to_end(pulsar_topic.pulsar.read_stream(str(pulsar_topic), start="earliest"))
        >>> run_to_end(job(pulsar_topic).option("checkpointLocation", str(tmp_path)))
    """
    check("run_to_end", "stream", stream, FRAME, WRITER, QUERY)
    if FRAME.has_all(stream):
        check_frame("run_to_end", "stream", stream, streaming=True, instead="Call `collect` on it")
        return _collected(cast("DataFrame", stream), seconds, output_mode)
    if QUERY.has_all(stream):
        running = cast("StreamingQuery", stream)
        _process(running, seconds)
        return running
    query = cast("DataStreamWriter", stream).trigger(availableNow=True).start()
    try:
        if not query.awaitTermination(max(1, round(seconds))):
            raise _late(query, seconds)
    finally:
        query.stop()
    return query


def _collected(stream: DataFrame, seconds: float, output_mode: Literal["append", "update", "complete"]) -> list[Row]:
    """The rows of a stream, by a table in memory of their own."""
    spark, table = stream.sparkSession, f"pulsar_spark_testing_{next(_tables)}"
    writer = stream.writeStream.format("memory").queryName(table).outputMode(output_mode)
    run_to_end(writer, seconds=seconds)
    try:
        return spark.table(table).collect()
    finally:
        spark.catalog.dropTempView(table)


def _process(query: StreamingQuery, seconds: float) -> None:
    """Wait for a running query in a thread, as Spark's own call has no limit of time."""
    failures: list[BaseException] = []

    def wait() -> None:
        try:
            query.processAllAvailable()
        except BaseException as error:  # raised again below
            failures.append(error)

    thread = threading.Thread(target=wait, name="pulsar-spark-run-to-end", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        query.stop()
        raise _late(query, seconds)
    if failures:
        raise failures[0]


def _late(query: StreamingQuery, seconds: float) -> TimeoutError:
    return TimeoutError(f"the query was not done within {seconds:g} s; its last progress: {query.lastProgress}")
