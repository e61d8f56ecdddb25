"""Triggers of streaming queries. The one of real-time mode differs between lines of Spark, and between its APIs."""

from __future__ import annotations

import inspect
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pulsar_spark._spark import DataStreamWriter  # noqa: TC001 - `typing.get_type_hints` evaluates it
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.jvm import DriverJvm, session_of
from pulsar_spark.options import durations
from pulsar_spark.options.received import WRITER, check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulsar_spark._spark import SparkSession

ALLOW_LIST = "spark.sql.streaming.realTimeMode.allowlistCheck"
"""The setting of Spark that has it accept its own sinks and known operators alone in real-time mode."""

_SHORTEST = 5000  # ms; a shorter batch is an error of Spark
_FORM = "a time of at least 5 seconds, such as `30s`, `1min` or a timedelta"
_LINE = re.compile(r"(\d+)\.(\d+)")
_CLASSIC, _CONNECT = (4, 1), (4, 2)


def real_time_trigger(writer: DataStreamWriter, batch: str | timedelta) -> DataStreamWriter:
    """Put Spark's real-time mode on a writer, whose query then handles each message when it arrives.

    From Spark 4.2 on PySpark has this as ``trigger(realTime=...)``. This function works on 4.1 as well.
    `write_pulsar_stream` has the argument ``real_time`` instead, and checks what a topic as a sink needs.

    Args:
        writer: The writer of a stream, such as ``rows.writeStream.format("console").outputMode("update")``.
        batch: The duration of a batch, at least 5 seconds: a `timedelta`, or text such as ``"30s"``.

    Returns:
        The writer.

    Raises:
        PulsarOptionError: The duration is wrong, ``writer`` is something else, or this Spark has no real-time mode.

    Examples:
        >>> writer = stream.writeStream.format("console").outputMode("update")
        >>> query = real_time_trigger(writer, "30s").start()
    """
    check("real_time_trigger", "writer", writer, WRITER)
    milliseconds = _real_time_batch("batch", batch)
    text = f"{milliseconds} milliseconds"
    spark = session_of(writer)
    jvm = DriverJvm.found(spark)
    if _line(spark.version) < (_CLASSIC if jvm else _CONNECT):
        where = "the session is" if jvm else "the server of Spark Connect is"
        raise PulsarOptionError("PULSAR_REAL_TIME_UNSUPPORTED", found=f"{where} Spark {spark.version}")
    trigger: Any = writer.trigger  # whose overloads in PySpark 4.2 and 4.3 lack this argument
    if "realTime" in inspect.signature(trigger).parameters:
        trigger(realTime=text)
        return writer
    if jvm is None:
        raise PulsarOptionError("PULSAR_REAL_TIME_UNSUPPORTED", found="this PySpark is older than 4.2")
    jvm.set_real_time(writer, text)
    return writer


def checked_output_mode(
    output_mode: str | None,
    *,
    available_now: bool,
    processing_time: str | timedelta | None,
    real_time: str | timedelta | None,
) -> str:
    """Check the arguments for a trigger; returns the output mode.

    Raises:
        PulsarOptionError: Two arguments exclude each other, or one is wrong.
    """
    given = {"available_now": available_now or None, "processing_time": processing_time, "real_time": real_time}
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first=names[0], second=names[1])
    if real_time is not None:
        _real_time_batch("real_time", real_time)
    modes = ("append", "update") if real_time is None else ("update",)
    if output_mode is not None and output_mode not in modes:
        cannot = "one of append, update: messages cannot be replaced"
        allowed = cannot if real_time is None else "update with `real_time`, or not set"
        raise PulsarOptionError("PULSAR_OPTION_INVALID", option="output_mode", value=output_mode, allowed=allowed)
    return output_mode or modes[0]


def check_real_time(spark: SparkSession, options: Mapping[str, str]) -> None:
    """Check that a query may write to topics in real-time mode.

    Raises:
        PulsarOptionError: An option or a setting of the session is in the way.
    """
    if options.get("deliveryGuarantee", "").lower() == "exactly-once":
        raise PulsarOptionError(
            "PULSAR_EXACTLY_ONCE_OPTION",
            problem="in real-time mode readers would see the rows of a transaction only when the batch ends",
            action="Remove it, or run the query in micro-batches",
        )
    if str(spark.conf.get(ALLOW_LIST, "true")).lower() != "false":
        raise PulsarOptionError("PULSAR_REAL_TIME_SINK", setting=ALLOW_LIST)


def interval(time: str | timedelta) -> str:
    """The interval in Spark's form, from a timedelta, a duration as options accept it, or Spark's own form."""
    span = _milliseconds(time)
    return str(time) if span is None else f"{span} milliseconds"


def _milliseconds(time: str | timedelta) -> int | None:
    if isinstance(time, timedelta):
        return time // timedelta(milliseconds=1)
    return durations.milliseconds(str(time).strip())


def _real_time_batch(argument: str, batch: str | timedelta) -> int:
    span = _milliseconds(batch)
    if span is None or span < _SHORTEST:
        raise PulsarOptionError("PULSAR_OPTION_INVALID", option=argument, value=str(batch), allowed=_FORM)
    return span


def _line(version: str) -> tuple[int, int]:
    """The line of a version such as ``4.1.4``; a text of another form is taken for a line that has everything."""
    numbers = _LINE.match(version)
    return (int(numbers[1]), int(numbers[2])) if numbers else _CONNECT
