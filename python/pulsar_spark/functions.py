"""Functions between values of a topic and their bytes, which reads with ``schema_mode="raw"`` give.

Each is made for one topic, which is asked for its schema then; the result has the columns that a read of the topic
would have now. Classic sessions only: Spark Connect has no way to bring a function of the JVM along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulsar_spark._tables import option_table
from pulsar_spark.errors import PulsarSetupError
from pulsar_spark.options import PulsarReadOptions, PulsarWriteOptions, ReadArguments, WriteArguments
from pulsar_spark.options.resolve import check_names, checked, combined, write_options

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from typing_extensions import Unpack

_ARGUMENTS = ("topic", "service_url", "options")
_WRITE = "batchWrite"


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

    A value with fields is a struct of the columns that `read_pulsar` would give; any other is what it is. Null is null.
    A value whose bytes are wrong fails the query, or is null with ``on_decode_error="null"``.

    Args:
        spark: The session.
        value: A column of bytes, or its name: ``"value"`` of a read with ``schema_mode="raw"``.
        version: The column of their versions, or its name: ``"__schemaVersion"``. Null stands for the newest.
        topic: The topic that they are from.
        service_url: Where the brokers are, as in `read_pulsar`.
        options: Further options; an argument goes before the same option in here. Those about where a read begins and
            ends, and how it is carried out, mean nothing here.
        more: Fields of `PulsarReadOptions` as arguments.

    Raises:
        PulsarSetupError: This is Spark Connect.
        PulsarOptionError: An argument or option is wrong.
    """
    given = _read_options(options, topic, service_url, dict(more))
    return _applied(spark, _made(spark, "from_pulsar", given), value, version)


def to_pulsar(
    spark: SparkSession,
    value: Column | str,
    *,
    topic: str | None = None,
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
    **more: Unpack[WriteArguments],
) -> Column:
    """Encode values in the newest schema of a topic, as `write_pulsar` would.

    Args:
        spark: The session.
        value: A column, or its name: a struct of the columns that a write to the topic takes, or the value where the
            topic's values have no fields. Null is null.
        topic: The topic whose schema it is.
        service_url: Where the brokers are, as in `read_pulsar`.
        options: Further options; an argument goes before the same option in here. Those about how messages are sent
            mean nothing here.
        more: Fields of `PulsarWriteOptions` as arguments.

    Raises:
        PulsarSetupError: This is Spark Connect.
        PulsarOptionError: An argument or option is wrong.
    """
    given = write_options(options, topic, service_url, dict(more))
    return _applied(spark, _made(spark, "to_pulsar", given), value)


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
    """Give both functions of a topic a name in SQL, as long as the session lives or until the names are given anew.

    Args:
        spark: The session.
        topic: The topic.
        from_name: What ``from_pulsar(value, schemaVersion)`` is called.
        to_name: What ``to_pulsar(value)`` is called.
        service_url: Where the brokers are, as in `read_pulsar`.
        options: As in `from_pulsar`; both functions use those that reads and writes share.
        more: Fields of `PulsarReadOptions` as arguments.

    Raises:
        PulsarSetupError: This is Spark Connect.
        PulsarOptionError: An argument or option is wrong.
    """
    given = _read_options(options, topic, service_url, dict(more))
    functions = {
        from_name: _made(spark, "from_pulsar", given),
        to_name: _made(spark, "to_pulsar", {key: text for key, text in given.items() if _is_shared(key)}),
    }
    session: Any = spark
    for name, function in functions.items():
        session._jsparkSession.udf().register(name, function)  # noqa: SLF001 - py4j has no public door


def _read_options(
    options: PulsarReadOptions | None, topic: str | None, service_url: str | None, more: dict[str, Any]
) -> dict[str, str]:
    check_names(more, ReadArguments.__annotations__, _ARGUMENTS)
    return combined(options or PulsarReadOptions(), {"topic": topic, "service_url": service_url}, more)


def _is_shared(key: str) -> bool:
    """Whether an option of reads is one of writes, too."""
    table = option_table()
    found = table.find(key) or table.prefix_of(key)
    return found is not None and _WRITE in found.scopes


def _made(spark: SparkSession, name: str, given: dict[str, str]) -> Any:  # noqa: ANN401 - what py4j gives has no type
    """The function of the JVM that has this name."""
    jspark: Any = getattr(spark, "_jsparkSession", None)
    if jspark is None:
        raise PulsarSetupError("PULSAR_NO_JVM", call=f"{name}()")
    functions: Any = spark._jvm.io.github.pulsarspark.functions.PulsarFunctions  # type: ignore[union-attr] # noqa: SLF001
    if name == "from_pulsar":
        return functions.fromPulsar(jspark, checked(spark, given, "batchRead"))
    return functions.toPulsar(jspark, checked(spark, given, _WRITE))


def _applied(spark: SparkSession, function: Any, *columns: Column | str) -> Column:  # noqa: ANN401
    from pyspark.sql import Column
    from pyspark.sql.functions import col

    jvm: Any = spark._jvm  # noqa: SLF001
    given: list[Any] = [col(column) if isinstance(column, str) else column for column in columns]
    arguments = jvm.PythonUtils.toSeq([column._jc for column in given])  # noqa: SLF001
    return Column(function.apply(arguments))
