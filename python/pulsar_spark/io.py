"""Read and write topics as DataFrames.

All functions use Spark's public DataFrame API alone, so they work on Spark Connect as well. Options are checked here
first: a mistake raises `PulsarOptionError` before any call to Spark.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal

from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options import PulsarReadOptions, PulsarWriteOptions, ReadArguments, WriteArguments
from pulsar_spark.options.bounds import bound_options
from pulsar_spark.options.resolve import FORMAT, check_names, checked, combined, write_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType
    from typing_extensions import Unpack

    from pulsar_spark.options import ReadLevel
    from pulsar_spark.options.bounds import Bound

_TOPIC_KEYS = ("topic", "topics", "topicsPattern")
# Fields of `PulsarReadOptions` for which the functions have an argument that accepts more.
_REPLACED = {
    "topic": "topics",
    "read_level": "level",
    "starting_offsets": "start",
    "starting_time": "start",
    "ending_offsets": "end",
    "ending_time": "end",
}


def read_pulsar(
    spark: SparkSession,
    topics: str | Sequence[str] | None = None,
    *,
    topics_pattern: str | None = None,
    start: Bound | None = None,
    end: Bound | None = None,
    service_url: str | None = None,
    metadata_columns: str | Sequence[str] | None = None,
    level: ReadLevel | None = None,
    schema: StructType | str | None = None,
    options: PulsarReadOptions | None = None,
    **more: Unpack[ReadArguments],
) -> DataFrame:
    """Read topics as a table, with the messages that are stored when the query is planned.

    ``start`` is where the read begins, ``end`` is where it stops. Each is ``"earliest"``,
    ``"latest"``, ``"now"``, a time ago such as ``"-2h"`` (s, m, h, d, w), an aware `datetime` or ISO 8601 text with a
    zone, a `timedelta` (that long ago), a position ``"ledger:entry:batchIndex"`` of a single topic, or a dict with one
    of these for each topic or partition: all times or all positions. Times are publish times, with an inclusive start
    and an exclusive end. Messages after a start position are read, up to and including an end position.

    Args:
        spark: The session.
        topics: A topic, or several; short (``"events"``) or full names.
        topics_pattern: Instead of ``topics``: a Java regular expression that matches whole topic names, optionally with
            ``tenant/namespace/`` before it.
        start: Where to start. Default: the first message.
        end: Where to end. Default: the last message.
        service_url: The address of the brokers. Default: that of ``options``, else of the session
            (``spark.datasource.pulsar.service.url``), else of the environment (``PULSAR_SERVICE_URL``).
        metadata_columns: Hidden metadata columns to show, or ``"all"``.
        level: Where messages are read from: ``"broker"``; ``"segment"``, which are direct reads from bookies and
            offloaded storage, in parallel within a partition; or ``"auto"``, the default: direct reads where possible,
            the broker for the rest. Direct reads need ``admin_url``. The rows are the same; `plan` shows where each
            range is read from.
        schema: The columns. Default: those of the topics' schema.
        options: Further options; an argument overrides the same option in here.
        more: Fields of `PulsarReadOptions` as arguments.

    Raises:
        PulsarOptionError: An argument or option is wrong.
    """
    fields = {"service_url": service_url, "metadata_columns": metadata_columns, "read_level": level}
    given = _read_options(
        "read_pulsar", options, topics, topics_pattern, {"start": start, "end": end}, fields, dict(more)
    )
    reader = spark.read.format(FORMAT).options(**checked(spark, given, "batchRead", inferred=schema is None))
    return (reader if schema is None else reader.schema(schema)).load()


def read_pulsar_stream(
    spark: SparkSession,
    topics: str | Sequence[str] | None = None,
    *,
    topics_pattern: str | None = None,
    start: Bound | None = None,
    service_url: str | None = None,
    metadata_columns: str | Sequence[str] | None = None,
    level: ReadLevel | None = None,
    schema: StructType | str | None = None,
    options: PulsarReadOptions | None = None,
    **more: Unpack[ReadArguments],
) -> DataFrame:
    """Read topics as a stream: all messages after ``start``, also of topics and partitions that are added later.

    Args:
        spark: The session.
        topics: As in `read_pulsar`.
        topics_pattern: As in `read_pulsar`.
        start: Where the first run starts, as in `read_pulsar`. Default: the next message. Later runs continue from the
            checkpoint.
        service_url: As in `read_pulsar`.
        metadata_columns: As in `read_pulsar`. Before Spark 4.2 streams have no other way to these columns.
        level: As in `read_pulsar`; with ``"auto"`` the newest messages are read from the broker.
        schema: As in `read_pulsar`.
        options: As in `read_pulsar`.
        more: Fields of `PulsarReadOptions` as arguments.

    Raises:
        PulsarOptionError: An argument or option is wrong.
    """
    fields = {"service_url": service_url, "metadata_columns": metadata_columns, "read_level": level}
    given = _read_options("read_pulsar_stream", options, topics, topics_pattern, {"start": start}, fields, dict(more))
    reader = spark.readStream.format(FORMAT).options(**checked(spark, given, "streamRead", inferred=schema is None))
    return (reader if schema is None else reader.schema(schema)).load()


def write_pulsar(
    df: DataFrame,
    topic: str | None = None,
    *,
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
    **more: Unpack[WriteArguments],
) -> None:
    """Append the rows to a topic; returns when the cluster has acknowledged all of them.

    Columns ``__key``, ``__eventTime`` and ``__messageProperties`` become those parts of the messages. ``__topic`` is
    the topic of a row when ``topic`` is not set. All other columns are the value.

    Args:
        df: The rows.
        topic: The topic to write to. Default: the column ``__topic``.
        service_url: As in `read_pulsar`.
        options: Further options; an argument overrides the same option in here.
        more: Fields of `PulsarWriteOptions` as arguments.

    Raises:
        PulsarOptionError: An argument or option is wrong.
    """
    given = write_options(options, topic, service_url, dict(more))
    df.write.format(FORMAT).options(**checked(df.sparkSession, given, "batchWrite")).mode("append").save()


def write_pulsar_stream(
    df: DataFrame,
    topic: str | None = None,
    *,
    checkpoint: str | Path,
    available_now: bool = False,
    processing_time: str | timedelta | None = None,
    query_name: str | None = None,
    output_mode: Literal["append", "update", "complete"] = "append",
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
    **more: Unpack[WriteArguments],
) -> StreamingQuery:
    """Start a query that writes the rows of a stream to a topic at least once; columns as in `write_pulsar`.

    Args:
        df: The stream.
        topic: As in `write_pulsar`.
        checkpoint: The folder where Spark keeps the progress of this query; no other query may use it.
        available_now: Process the messages that are stored now, then end.
        processing_time: The interval of micro-batches, such as ``"5 seconds"``. Default: no pause between them.
        query_name: A name for the query, unique in the session.
        output_mode: Spark's output mode.
        service_url: As in `read_pulsar`.
        options: Further options; an argument overrides the same option in here.
        more: Fields of `PulsarWriteOptions` as arguments.

    Raises:
        PulsarOptionError: An argument or option is wrong.
    """
    if available_now and processing_time is not None:
        raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first="available_now", second="processing_time")
    given = write_options(options, topic, service_url, dict(more))
    writer = df.writeStream.format(FORMAT).options(**checked(df.sparkSession, given, "streamWrite"))
    writer = writer.outputMode(output_mode).option("checkpointLocation", str(checkpoint))
    if query_name is not None:
        writer = writer.queryName(query_name)
    if available_now:
        writer = writer.trigger(availableNow=True)
    if processing_time is not None:
        every = processing_time if isinstance(processing_time, str) else _interval(processing_time)
        writer = writer.trigger(processingTime=every)
    return writer.start()


def _read_options(
    function: str,
    options: PulsarReadOptions | None,
    topics: str | Sequence[str] | None,
    topics_pattern: str | None,
    bounds: Mapping[Literal["start", "end"], Bound | None],
    fields: Mapping[str, Any],
    more: dict[str, Any],
) -> dict[str, str]:
    named = ("topics", "topics_pattern", *bounds, "service_url", "metadata_columns", "level", "schema", "options")
    for name in more:
        if _REPLACED.get(name) in named:
            raise PulsarOptionError(
                "PULSAR_ARGUMENT_REPLACED", function=function, argument=_REPLACED[name], option=name
            )
    check_names(more, ReadArguments.__annotations__, named)
    given = combined(options or PulsarReadOptions(), fields, more)
    if topics is not None or topics_pattern is not None:
        _remove(given, *_TOPIC_KEYS)
    if topics is not None:
        given |= {"topic": topics} if isinstance(topics, str) else {"topics": ",".join(topics)}
    if topics_pattern is not None:
        given["topicsPattern"] = topics_pattern
    now = datetime.now(timezone.utc)
    for argument, bound in bounds.items():
        if bound is not None:
            _remove(given, f"{argument}ingOffsets", f"{argument}ingTime")
            given |= bound_options(argument, bound, topic=given.get("topic"), now=now)
    return given


def _remove(options: dict[str, str], *keys: str) -> None:
    for key in keys:
        options.pop(key, None)


def _interval(time: timedelta) -> str:
    return f"{time // timedelta(milliseconds=1)} milliseconds"
