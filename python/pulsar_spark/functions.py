"""Functions that convert between values of a topic and their bytes, as reads with ``schema_mode="raw"`` return them.

A function is for one topic. The topic's schema is requested when the function is created; the result has the columns
that a read of the topic has at that moment. Classic sessions only: Spark Connect cannot register functions of the JVM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulsar_spark._spark import Column, SparkSession
from pulsar_spark._tables import option_table
from pulsar_spark.jvm import DriverJvm, JvmFunction
from pulsar_spark.options import PulsarReadOptions, PulsarWriteOptions, ReadArguments, WriteArguments
from pulsar_spark.options.received import SESSION, check
from pulsar_spark.options.resolve import check_names, checked, combined, write_options
from pulsar_spark.options.signatures import lists_arguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

_ARGUMENTS = ("topic", "service_url", "options")
_WRITE = "batchWrite"


@lists_arguments(ReadArguments)
def from_pulsar(
    spark: SparkSession,
    value: Column | str,
    version: Column | str,
    *,
    topic: str | None = None,
    service_url: str | None = None,
    options: PulsarReadOptions | None = None,
    **more: Unpack[ReadArguments],
) -> Column:
    """Decode values, each with the version of the topic's schema that it was written with.

    A value with fields becomes a struct of the columns of `read_pulsar`; other values keep their type. Null is null. A
    value that cannot be decoded fails the query, or is null with ``on_decode_error="null"``.

    Args:
        spark: The session.
        value: A column of bytes, or its name: ``"value"`` of a read with ``schema_mode="raw"``.
        version: The column of their versions, or its name: ``"__schemaVersion"``. Null means the newest.
        topic: The topic of the values, one. Default: that of ``options``.
        service_url: The address of the brokers, as in `read_pulsar`.
        options: Further options; an argument overrides the same option in here. Options for the range of a read and
            for its execution are ignored. Default: none.
        more: Fields of `PulsarReadOptions` as arguments.

    Returns:
        The decoded column.

    Raises:
        PulsarSetupError: The session is one of Spark Connect.
        PulsarOptionError: An argument or option is wrong.
        PulsarSchemaError: The topic's schema is not supported.
        PulsarSparkError: The topic's schema cannot be requested; the classes above are its subclasses.

    Examples:
        >>> raw = pulsar_spark.read_pulsar(spark, "rides", schema_mode="raw", metadata_columns="__schemaVersion")
        >>> raw.select(from_pulsar(spark, "value", "__schemaVersion", topic="rides"))
    """
    check("from_pulsar", "spark", spark, SESSION)
    given = _read_options(options, topic, service_url, dict(more))
    return _create(spark, "from_pulsar", given)(value=value, version=version)


@lists_arguments(WriteArguments)
def to_pulsar(
    spark: SparkSession,
    value: Column | str,
    *,
    topic: str | None = None,
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
    **more: Unpack[WriteArguments],
) -> Column:
    """Encode values with the newest schema of a topic, as `write_pulsar` does.

    Args:
        spark: The session.
        value: A column, or its name: a struct of the columns that a write to the topic accepts, or the value itself if
            the topic's values have no fields. Null is null.
        topic: The topic with the schema. Default: that of ``options``.
        service_url: The address of the brokers, as in `read_pulsar`.
        options: Further options; an argument overrides the same option in here. Options for sending messages are
            ignored. Default: none.
        more: Fields of `PulsarWriteOptions` as arguments.

    Returns:
        The column of bytes.

    Raises:
        PulsarSetupError: The session is one of Spark Connect.
        PulsarOptionError: An argument or option is wrong.
        PulsarSchemaError: The topic's schema is not supported.
        PulsarSparkError: The topic's schema cannot be requested; the classes above are its subclasses.

    Examples:
        >>> rows.select(to_pulsar(spark, struct("city", "km"), topic="rides"))
    """
    check("to_pulsar", "spark", spark, SESSION)
    given = write_options(options, topic, service_url, dict(more))
    return _create(spark, "to_pulsar", given)(value=value)


@lists_arguments(ReadArguments)
def register(
    spark: SparkSession,
    *,
    topic: str | None = None,
    from_name: str = "from_pulsar",
    to_name: str = "to_pulsar",
    service_url: str | None = None,
    options: PulsarReadOptions | None = None,
    **more: Unpack[ReadArguments],
) -> None:
    """Register both functions of a topic for SQL, until the session ends or the names are registered again.

    Args:
        spark: The session.
        topic: The topic of both functions. Default: that of ``options``.
        from_name: The name in SQL of the function with the arguments value and schema version. Default:
            ``from_pulsar``.
        to_name: The name in SQL of the function with the argument value. Default: ``to_pulsar``.
        service_url: The address of the brokers, as in `read_pulsar`.
        options: As in `from_pulsar`. The function that encodes ignores options that are for reads alone.
        more: Fields of `PulsarReadOptions` as arguments.

    Returns:
        Nothing.

    Raises:
        PulsarSetupError: The session is one of Spark Connect.
        PulsarOptionError: An argument or option is wrong.
        PulsarSchemaError: The topic's schema is not supported.
        PulsarSparkError: The topic's schema cannot be requested; the classes above are its subclasses.

    Examples:
        >>> register(spark, topic="rides")
        >>> spark.sql("SELECT from_pulsar(value, __schemaVersion) FROM raw_rides")
    """
    check("register", "spark", spark, SESSION)
    given = _read_options(options, topic, service_url, dict(more))
    functions = {
        from_name: _create(spark, "from_pulsar", given),
        to_name: _create(spark, "to_pulsar", {key: text for key, text in given.items() if _is_shared(key)}),
    }
    for name, function in functions.items():
        function.register(name)


def _read_options(
    options: PulsarReadOptions | None, topic: str | None, service_url: str | None, more: dict[str, Any]
) -> dict[str, str]:
    check_names(more, ReadArguments.__annotations__, _ARGUMENTS)
    return combined(options or PulsarReadOptions(), {"topic": topic, "service_url": service_url}, more)


def _is_shared(key: str) -> bool:
    """True if an option is valid in reads and in writes."""
    table = option_table()
    found = table.find(key) or table.prefix_of(key)
    return found is not None and _WRITE in found.scopes


def _create(spark: SparkSession, name: str, given: dict[str, str]) -> JvmFunction:
    """Create the function of this name in the JVM."""
    jvm = DriverJvm.of(spark, f"{name}()")
    return jvm.function(name, checked(spark, given, "batchRead" if name == "from_pulsar" else _WRITE))
