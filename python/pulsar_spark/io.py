"""Reading and writing topics as DataFrames.

Everything goes through Spark's public DataFrame API, so it works on Spark Connect as well. Options are checked here
first: a mistake raises `PulsarOptionError` before Spark is asked for anything.
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
    """Read topics as a table: what is in them when the query is planned.

    A ``start`` is the first moment or position read, an ``end`` the one where reading stops. Either is ``"earliest"``,
    ``"latest"``, ``"now"``, a time ago such as ``"-2h"`` (s, m, h, d, w), an aware `datetime` or ISO 8601 text with a
    zone, a `timedelta` (that long ago), a position ``"ledger:entry:batchIndex"`` of a single topic, or a dict with one
    of these for each topic or partition: times for all of them or positions for all. Times are publish times, the start
    inclusive and the end exclusive; a position counts as read at the start and is the last one read at the end.

    Args:
        spark: The session.
        topics: A topic, or several; short (``"events"``) or full names.
        topics_pattern: Instead of ``topics``: a Java regular expression, with ``tenant/namespace/`` before it if need
            be, that topic names fit as a whole.
        start: Where to start; the first message without it.
        end: Where to end; the last message there is without it.
        service_url: Where the brokers are. Without it that of ``options``, of the session
            (``spark.datasource.pulsar.service.url``) or of the environment (``PULSAR_SERVICE_URL``).
        metadata_columns: Hidden metadata columns to show, or ``"all"``.
        level: Who delivers the messages: ``"broker"``; ``"segment"``, the bookies and the storage that hold them, past
            the broker and in parallel within a partition; or ``"auto"``, the default: segments wherever they can be
            reached, the broker for the rest. Segments need ``admin_url``. The rows are the same; `plan` shows
            who would deliver what.
        schema: The columns, if not those of the topics' schema.
        options: Further options; an argument goes before the same option in here.
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
    """Read topics as a stream: what comes after ``start``, and new topics and partitions as they appear.

    Args:
        spark: The session.
        topics: As in `read_pulsar`.
        topics_pattern: As in `read_pulsar`.
        start: Where to start at the first run, as in `read_pulsar`; with the next message without it. Later runs go on
            where the checkpoint says.
        service_url: As in `read_pulsar`.
        metadata_columns: As in `read_pulsar`; before Spark 4.2 the only way for a stream to see those columns.
        level: As in `read_pulsar`; with ``"auto"`` the broker delivers what has just arrived.
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
    """Append the rows to a topic; returns when the cluster has them all.

    Columns ``__key``, ``__eventTime`` and ``__messageProperties`` become those parts of the messages, ``__topic`` says
    where a row goes when no topic is given; all other columns are the value.

    Args:
        df: The rows.
        topic: Where to write; without it the column ``__topic`` says so.
        service_url: As in `read_pulsar`.
        options: Further options; an argument goes before the same option in here.
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
    """Start a query that writes the rows of a stream to a topic, at least once each; columns as in `write_pulsar`.

    Args:
        df: The stream.
        topic: As in `write_pulsar`.
        checkpoint: The folder where Spark keeps how far the query is, of this query alone.
        available_now: Process what is there now, then end.
        processing_time: How often to look for more, such as ``"5 seconds"``; as often as possible without it.
        query_name: A name for the query, unique in the session.
        output_mode: Spark's output mode.
        service_url: As in `read_pulsar`.
        options: Further options; an argument goes before the same option in here.
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
            raise PulsarOptionError("PULSAR_ARGUMENT_REPLACED", function=function, argument=_REPLACED[name], given=name)
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
