"""The driver's JVM: every call of py4j. Classic sessions have one; a program of Spark Connect has none."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pulsar_spark.errors import PulsarSetupError, translated
from pulsar_spark.options.names import named_as_arguments
from pulsar_spark.options.received import COLUMN, check
from pulsar_spark.options.resolve import FORMAT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_GATEWAY = "PYSPARK_GATEWAY_PORT"
UNKNOWN = "unknown"


class DriverJvm:
    """The JVM of a process. What it refuses is raised as `PulsarSparkError`."""

    def __init__(self, jvm: Any, session: Any = None) -> None:  # noqa: ANN401 - py4j objects have no type
        self._jvm = jvm
        self._session = session

    @classmethod
    def running(cls) -> DriverJvm | None:
        """Find the one of this process, also one that runs this program for ``spark-submit``; None if there is none."""
        from pyspark import SparkContext

        context: Any = SparkContext
        if context._gateway is None and _GATEWAY in os.environ:
            context._ensure_initialized()
        return None if context._jvm is None else cls(context._jvm)

    @classmethod
    def found(cls, spark: SparkSession) -> DriverJvm | None:
        """Find the one of a session; None if the session is of Spark Connect."""
        classic: Any = spark
        session = getattr(classic, "_jsparkSession", None)
        return None if session is None else cls(classic._jvm, session)

    @classmethod
    def of(cls, spark: SparkSession, call: str) -> DriverJvm:
        """Find the one of a session, which a call needs.

        Raises:
            PulsarSetupError: This is Spark Connect.
        """
        found = cls.found(spark)
        if found is None:
            raise PulsarSetupError("PULSAR_NO_JVM", call=call)
        return found

    @property
    def has_context(self) -> bool:
        """True if a Spark context runs, whose class path no setting changes any more."""
        from pyspark import SparkContext

        return SparkContext._active_spark_context is not None

    def connector_location(self) -> str | None:
        """The URL that the connector is loaded from, `UNKNOWN` if that is not said; None if there is none."""
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            found = self._jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader().loadClass(FORMAT)
        except Py4JJavaError:
            return None
        except Py4JError:  # a runtime that restricts py4j
            return UNKNOWN
        source = found.getProtectionDomain().getCodeSource()
        return UNKNOWN if source is None or source.getLocation() is None else str(source.getLocation().toString())

    def url_of(self, jar: Path) -> str:
        """The URL of a jar, as `connector_location` returns it."""
        return str(self._url(jar).toString())

    def add_jar(self, jar: Path) -> None:
        """Add a jar to the class path of a JVM that runs already, as ``spark-submit --jars`` does before."""
        from py4j.protocol import Py4JError

        loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        try:
            loader.addURL(self._url(jar))
        except Py4JError:  # a class loader of another kind: the caller looks whether the class is there
            return

    def other_sources(self) -> str:
        """The warning about other data sources named ``pulsar``, once in a JVM; empty if there is none."""
        from py4j.protocol import Py4JError

        try:
            return str(self._jvm.io.github.pulsarspark.SourceNames.firstWarning())
        except Py4JError:
            return ""

    def read_tasks(self, df: DataFrame) -> Any:  # noqa: ANN401 - JSON has no type
        """The tasks of the batch reads in a query."""
        frame: Any = df
        with translated():
            plans = self._jvm.io.github.pulsarspark.inspect.reads.ReadPlans
            return json.loads(plans.json(frame._jdf.queryExecution().optimizedPlan()))

    def followed_partitions(self, df: DataFrame, checkpoint: str) -> Any:  # noqa: ANN401
        """The partitions by the tasks of a stream in real-time mode; ``checkpoint`` is a path or empty."""
        frame: Any = df
        with translated():
            plans = self._jvm.io.github.pulsarspark.inspect.reads.ReadPlans
            return json.loads(plans.realTimeJson(frame._jdf.queryExecution().analyzed(), checkpoint))

    def function(self, name: str, options: dict[str, str]) -> JvmFunction:
        """Create ``from_pulsar`` or ``to_pulsar`` for a topic."""
        with _asked(options):
            made = self._jvm.io.github.pulsarspark.functions.PulsarFunctions
            create = made.fromPulsar if name == "from_pulsar" else made.toPulsar
            return JvmFunction(self, name, create(self._session, options))

    def repaired_sink(self, options: dict[str, str], torn: str, epoch: int) -> Any:  # noqa: ANN401
        """Finish a sink; returns what was done."""
        with _asked(options):
            repairs = self._jvm.io.github.pulsarspark.write.PulsarSinks
            return json.loads(repairs.repair(self._session, options, torn, epoch))

    def finished_sink(self, options: dict[str, str]) -> Any:  # noqa: ANN401
        """Finish a sink for ever; returns what was done."""
        with _asked(options):
            return json.loads(self._jvm.io.github.pulsarspark.write.PulsarSinks.finish(self._session, options))

    def set_real_time(self, writer: DataStreamWriter, batch: str) -> None:
        """Set the trigger of real-time mode, for which PySpark 4.1 has no argument; ``batch`` is a duration."""
        classic: Any = writer
        with translated():
            trigger = self._jvm.org.apache.spark.sql.streaming.Trigger.RealTime(batch)
            classic._jwrite = classic._jwrite.trigger(trigger)

    def _url(self, jar: Path) -> Any:  # noqa: ANN401
        return self._jvm.java.io.File(str(jar)).toURI().toURL()


class JvmFunction:
    """A function of the JVM for columns."""

    def __init__(self, jvm: DriverJvm, name: str, function: Any) -> None:  # noqa: ANN401
        self._jvm = jvm
        self._name = name
        self._function = function

    def __call__(self, **columns: Column | str) -> Column:
        """The function of these columns, by the names of its arguments."""
        from pyspark.sql import Column
        from pyspark.sql.functions import col

        for name, column in columns.items():
            if not isinstance(column, str):
                check(self._name, name, column, COLUMN)
        sources: list[Any] = [col(column) if isinstance(column, str) else column for column in columns.values()]
        arguments = self._jvm._jvm.PythonUtils.toSeq([source._jc for source in sources])
        return Column(self._function.apply(arguments))

    def register(self, name: str) -> None:
        """Make it a function of SQL in its session."""
        self._jvm._session.udf().register(name, self._function)


def session_of(writer: DataStreamWriter) -> SparkSession:
    """The session of a writer of a stream, classic or of Spark Connect."""
    either: Any = writer
    session: SparkSession = either._spark if hasattr(either, "_spark") else either._session
    return session


@contextmanager
def _asked(options: Collection[str]) -> Iterator[None]:
    """Errors inside are ours, and name options as Python does."""
    with named_as_arguments(options), translated():
        yield
