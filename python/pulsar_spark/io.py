"""Read and write topics as DataFrames.

All functions use Spark's public DataFrame API alone, so they work on Spark Connect as well. Options are checked here
first: a mistake raises `PulsarOptionError` before any call to Spark. Errors of the JVM are raised as `PulsarSparkError`
too, by family, also those of an action such as ``collect``: see `pulsar_spark.errors.install`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pulsar_spark._spark import DataFrame, SparkSession, StreamingQuery, StructType
from pulsar_spark._tables import ARGUMENTS
from pulsar_spark.errors import PulsarOptionError, translated
from pulsar_spark.options import (
    PulsarReadOptions,
    PulsarWriteOptions,
    ReadArguments,
    ReadLevel,
    WriteArguments,
)
from pulsar_spark.options.bounds import Bound
from pulsar_spark.options.names import named_as_arguments
from pulsar_spark.options.received import SESSION, check, check_frame
from pulsar_spark.options.resolve import FORMAT, checked, read_options, write_options
from pulsar_spark.options.signatures import lists_arguments
from pulsar_spark.triggers import check_real_time, checked_output_mode, interval, real_time_trigger

if TYPE_CHECKING:
    from pyspark.sql import DataFrameReader
    from pyspark.sql.streaming.readwriter import DataStreamReader
    from typing_extensions import Unpack


@lists_arguments(ReadArguments)
def read_pulsar(
    spark: SparkSession,
    topics: str | Sequence[str] | None = None,
    *,
    topic: str | None = None,
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

    ``start`` is where the read begins, ``end`` is where it stops. Each is one of these:

    - ``"earliest"``, ``"latest"`` or ``"now"``;
    - a time ago: ``"-2h"``, ``"-90min"``, ``"2 hours ago"`` (s, min, h, d, w), or a `timedelta`;
    - an aware `datetime`, ISO 8601 text with a zone, or milliseconds since 1970 (from 100000000000 on; a smaller number
      might be seconds);
    - a position ``"ledger:entry:batchIndex"`` of a single topic;
    - a start ``"last 10"``: the newest 10 messages of each partition;
    - a dict with one of these for each topic or partition: all times or all positions. Partitions that it does not list
      are read as by default.

    Times are publish times, with an inclusive start and an exclusive end. A start position is the first message that is
    read, an end position the last one; `after` makes a start that skips its message. The JSON of a stream's progress is
    a start, too: the read continues after it.

    Args:
        spark: The session.
        topics: A topic, or several; short (``"events"``) or full names.
        topic: Instead of ``topics``: one topic, as in `write_pulsar`.
        topics_pattern: Instead of ``topics``: a Java regular expression that matches whole topic names, optionally with
            ``tenant/namespace/`` before it.
        start: Where to start. Default: the first message.
        end: Where to end. Default: the last message.
        service_url: The address of the brokers. Default: that of ``options``, else of the session
            (``spark.datasource.pulsar.service.url``), else of the environment (``PULSAR_SERVICE_URL``).
        metadata_columns: Hidden metadata columns to show: names, or ``"all"``. Default: none.
        level: Where messages are read from: ``"broker"``; ``"segment"``, which are direct reads from bookies and
            offloaded storage, in parallel within a partition; or ``"auto"``, the default: direct reads where possible,
            the broker for the rest. Direct reads need ``admin_url``. The rows are the same; `plan` shows where each
            range is read from.
        schema: The columns, as a `StructType` or as text such as ``"city string, km double"``. Default: those of the
            topics' schema.
        options: Further options; an argument overrides the same option in here. Default: none.
        more: Fields of `PulsarReadOptions` as arguments.

    Returns:
        The rows, which are read when an action runs.

    Raises:
        PulsarOptionError: An argument or option is wrong.
        PulsarTopicNotFoundError: A topic does not exist, or no topic matches the pattern.
        PulsarSchemaError: A topic has a schema that cannot be read, or the topics have different ones.
        PulsarAccessError: The cluster denies the read.
        PulsarUnreachableError: The cluster cannot be reached, or does not respond in time.
        PulsarSparkError: Any other error of the connector; the classes above are its subclasses.

    Examples:
        >>> spark = pulsar_spark.session()
        >>> read_pulsar(spark, "rides", start="-2h", service_url="pulsar://localhost:6650").show()
        >>> read_pulsar(spark, ["rides", "orders"], start=datetime(2026, 1, 31, tzinfo=timezone.utc)).count()
    """
    check("read_pulsar", "spark", spark, SESSION)
    topic_arguments = {"topics": topics, "topic": topic, "topics_pattern": topics_pattern}
    fields = {"service_url": service_url, "metadata_columns": metadata_columns, "read_level": level}
    given = read_options("read_pulsar", options, topic_arguments, {"start": start, "end": end}, fields, dict(more))
    return _load(spark, spark.read, given, "batchRead", schema, {"start": start, "end": end, "level": level}, options)


@lists_arguments(ReadArguments)
def read_pulsar_stream(
    spark: SparkSession,
    topics: str | Sequence[str] | None = None,
    *,
    topic: str | None = None,
    topics_pattern: str | None = None,
    start: Bound | None = None,
    service_url: str | None = None,
    metadata_columns: str | Sequence[str] | None = None,
    level: ReadLevel | None = None,
    schema: StructType | str | None = None,
    options: PulsarReadOptions | None = None,
    **more: Unpack[ReadArguments],
) -> DataFrame:
    """Read topics as a stream: all messages from ``start`` on, also of topics and partitions that are added later.

    Args:
        spark: The session.
        topics: As in `read_pulsar`.
        topic: As in `read_pulsar`.
        topics_pattern: As in `read_pulsar`.
        start: Where the first run starts, as in `read_pulsar`, or ``"subscription"``: at the position of the
            subscription ``progress_subscription``. Default: the next message. Later runs continue from the checkpoint.
        service_url: As in `read_pulsar`.
        metadata_columns: As in `read_pulsar`. Before Spark 4.2 streams have no other way to these columns.
        level: As in `read_pulsar`; with ``"auto"`` the newest messages are read from the broker.
        schema: As in `read_pulsar`.
        options: As in `read_pulsar`.
        more: Fields of `PulsarReadOptions` as arguments.

    Returns:
        The stream, which is read when a query on it starts.

    Raises:
        PulsarOptionError: An argument or option is wrong.
        PulsarSparkError: As in `read_pulsar`.

    Examples:
        >>> rides = read_pulsar_stream(spark, "rides", start="earliest", service_url="pulsar://localhost:6650")
        >>> rides.isStreaming
        True
    """
    check("read_pulsar_stream", "spark", spark, SESSION)
    topic_arguments = {"topics": topics, "topic": topic, "topics_pattern": topics_pattern}
    fields = {"service_url": service_url, "metadata_columns": metadata_columns, "read_level": level}
    given = read_options("read_pulsar_stream", options, topic_arguments, {"start": start}, fields, dict(more))
    return _load(spark, spark.readStream, given, "streamRead", schema, {"start": start, "level": level}, options)


@lists_arguments(WriteArguments)
def write_pulsar(
    df: DataFrame,
    topic: str | None = None,
    *,
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
    **more: Unpack[WriteArguments],
) -> None:
    """Append the rows to a topic; returns when the cluster has acknowledged all of them.

    Metadata columns such as ``__key``, ``__eventTime`` and ``__messageProperties`` become those parts of the messages;
    docs/use/columns.md lists them. ``__topic`` is the topic of a row when ``topic`` is not set. All other columns are
    the value. Rows are written at least once, or exactly once with ``delivery_guarantee="exactly-once"``.

    Args:
        df: The rows.
        topic: The topic to write to. Default: the column ``__topic``.
        service_url: As in `read_pulsar`.
        options: Further options; an argument overrides the same option in here. Default: none.
        more: Fields of `PulsarWriteOptions` as arguments.

    Returns:
        Nothing.

    Raises:
        PulsarOptionError: An argument or option is wrong.
        PulsarSchemaError: The columns do not fit the topic's schema.
        PulsarDataError: A row cannot be written: it is too large, or a value does not fit the schema.
        PulsarSparkError: The cluster does not accept the messages; the classes above are its subclasses.

    Examples:
        >>> rides = spark.createDataFrame([("taxi-1", 12.5)], "__key string, km double")
        >>> write_pulsar(rides, "rides", service_url="pulsar://localhost:6650")
    """
    check_frame("write_pulsar", "df", df, streaming=False, instead="Write a stream with `write_pulsar_stream`")
    given = checked(df.sparkSession, write_options(options, topic, service_url, dict(more)), "batchWrite")
    with named_as_arguments(given), translated():
        df.write.format(FORMAT).options(**given).mode("append").save()


@lists_arguments(WriteArguments)
def write_pulsar_stream(
    df: DataFrame,
    topic: str | None = None,
    *,
    checkpoint: str | Path,
    available_now: bool = False,
    processing_time: str | timedelta | None = None,
    real_time: str | timedelta | None = None,
    query_name: str | None = None,
    output_mode: Literal["append", "update"] | None = None,
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
    **more: Unpack[WriteArguments],
) -> StreamingQuery:
    """Start a query that writes the rows of a stream to a topic; columns and guarantee as in `write_pulsar`.

    Args:
        df: The stream.
        topic: As in `write_pulsar`.
        checkpoint: The folder where Spark keeps the progress of this query; no other query may use it.
        available_now: If True, process the messages that are stored now, then end. Default: False, the query runs until
            it is stopped.
        processing_time: The interval of micro-batches: a `timedelta`, or text such as ``"5s"`` or ``"5 seconds"``.
            Default: no pause between them.
        real_time: The duration of a batch in Spark's real-time mode, in which each message is handled when it arrives:
            a `timedelta`, or text such as ``"30s"``, at least 5 seconds. It needs Spark 4.1. Default: micro-batches.
        query_name: A name for the query, unique in the session. Default: none.
        output_mode: ``"append"``, or ``"update"`` for a stream that aggregates. Messages cannot be replaced, so Spark's
            output mode ``complete`` is not available. Default: ``"append"``, with ``real_time`` ``"update"``.
        service_url: As in `read_pulsar`.
        options: Further options; an argument overrides the same option in here. Default: none.
        more: Fields of `PulsarWriteOptions` as arguments.

    Returns:
        The running query. An error in a micro-batch ends it, and ``awaitTermination`` raises the error.
        `pulsar_spark.error_of` finds it in ``query.exception()``.

    Raises:
        PulsarOptionError: An argument or option is wrong, or two of them exclude each other.
        PulsarSparkError: The query cannot start.

    Examples:
        >>> rides = read_pulsar_stream(spark, "rides", start="earliest")
        >>> query = write_pulsar_stream(rides.select("km"), "distances", checkpoint="/tmp/km", available_now=True)
        >>> query.awaitTermination(60)
        True
    """
    check_frame("write_pulsar_stream", "df", df, streaming=True, instead="Write a batch with `write_pulsar`")
    mode = checked_output_mode(
        output_mode, available_now=available_now, processing_time=processing_time, real_time=real_time
    )
    given = checked(df.sparkSession, write_options(options, topic, service_url, dict(more)), "streamWrite")
    writer = df.writeStream.format(FORMAT).options(**given)
    writer = writer.outputMode(mode).option("checkpointLocation", _folder(checkpoint))
    if query_name is not None:
        writer = writer.queryName(query_name)
    if available_now:
        writer = writer.trigger(availableNow=True)
    if processing_time is not None:
        writer = writer.trigger(processingTime=interval(processing_time))
    if real_time is not None:
        # Spark 4.3 tracks progress asynchronously unless told otherwise, and accepts sinks of its own alone for it.
        writer = real_time_trigger(writer.option("asyncProgressTrackingEnabled", "false"), real_time)
        check_real_time(df.sparkSession, given)
    with named_as_arguments(given), translated():
        return writer.start()


def _load(
    spark: SparkSession,
    reader: DataFrameReader | DataStreamReader,
    given: dict[str, str],
    scope: str,
    schema: StructType | str | None,
    arguments: dict[str, Any],
    options: PulsarReadOptions | None,
) -> DataFrame:
    """Check the options and load a DataFrame; ``arguments`` replace fields of `PulsarReadOptions`."""
    replacing = {field: name for field, name in ARGUMENTS.items() if arguments.get(name) is not None}
    replacing |= {} if options is None else options.replaced()
    given = checked(spark, given, scope, inferred=schema is None, arguments=replacing)
    with named_as_arguments(given, replacing), translated():
        source = reader.format(FORMAT).options(**given)
        return (source if schema is None else source.schema(schema)).load()


def _folder(checkpoint: object) -> str:
    """The path of a checkpoint. Spark would take the text of anything, such as ``None``, for a folder."""
    if isinstance(checkpoint, str | os.PathLike) and os.fspath(checkpoint):
        return str(checkpoint)
    raise PulsarOptionError(
        "PULSAR_OPTION_INVALID", option="checkpoint", value=str(checkpoint), allowed="the path of a folder"
    )
