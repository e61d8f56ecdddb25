"""Spark sessions with the connector."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark import _interrupts
from pulsar_spark._jars import is_another_connector, is_connector, jar_path, maven_coordinate
from pulsar_spark._launch import JARS, PACKAGES, launched, parts_of, present, replace_argument, without
from pulsar_spark._spark import SparkSession
from pulsar_spark.errors import PulsarSetupError, install
from pulsar_spark.jvm import DriverJvm
from pulsar_spark.options.received import BUILDER, check

if TYPE_CHECKING:
    from collections.abc import Mapping


def configure(builder: SparkSession.Builder, *, jar: str | Path = "bundled") -> SparkSession.Builder:
    """Add the connector to a session builder.

    Jars that ``spark.jars``, ``spark.jars.packages``, ``spark-submit`` or ``PYSPARK_SUBMIT_ARGS`` name already are
    kept. The function returns a builder unchanged if the connector is on the class path already, whatever the name of
    its jar, and if the builder is for a Spark Connect server (``sc://...``), which provides the connector.

    Args:
        builder: The builder. Set ``spark.jars`` and ``spark.jars.packages`` before this call.
        jar: ``"bundled"``, the default, for the jar in this package; ``"maven"`` to let Spark download it; or the path
            of a jar.

    Returns:
        The builder.

    Raises:
        PulsarImportError: This pyspark is not supported.
        PulsarSetupError: The jar is missing, or a JVM or session without the connector runs already and cannot get it.
        PulsarOptionError: ``builder`` is something else.

    Examples:
        >>> spark = configure(SparkSession.builder.master("local[2]")).getOrCreate()
    """
    check("configure", "builder", builder, BUILDER)
    install()
    # A builder has no public API to read its settings.
    settings: dict[str, str] = dict(builder._options)  # noqa: SLF001
    if _is_remote(settings):
        return builder
    jvm = DriverJvm.running()
    if jvm is not None:
        return _configure_running(builder, settings, jvm, jar)
    parts = launched(settings)
    for other in filter(is_another_connector, parts):
        text = (
            "is another connector whose data source is named `pulsar` too; remove it, or use the format `pulsar-spark`"
        )
        warnings.warn(f"{other} {text}", stacklevel=2)
    if jar == "bundled" and any(map(is_connector, parts)):
        return builder
    key, added = (PACKAGES, maven_coordinate()) if jar == "maven" else (JARS, str(_file(jar)))
    value = ",".join([*without(present(settings, key), added), added])
    replace_argument(key, value)
    return builder.config(key, value)


def session(
    app_name: str | None = None,
    master: str | None = None,
    *,
    jar: str | Path = "bundled",
    **conf: object,
) -> SparkSession:
    """Return the Spark session of this process, or start one, with the connector; change no other setting.

    Args:
        app_name: The application's name. Default: Spark's own.
        master: The master, such as ``local[2]``. Default: that of ``spark-submit`` or of Spark's configuration.
        jar: As in `configure`.
        conf: Further settings of Spark by their names, as in ``session(**{"spark.sql.shuffle.partitions": 8})``.

    Returns:
        The session that runs in this process, or a new one.

    Raises:
        PulsarImportError: This pyspark is not supported.
        PulsarSetupError: As in `configure`, or the session does not find the connector.

    Examples:
        >>> spark = session("rides", "local[2]", **{"spark.sql.shuffle.partitions": 8})
    """
    builder = SparkSession.builder
    if app_name is not None:
        builder = builder.appName(app_name)
    if master is not None:
        builder = builder.master(master)
    for key, value in conf.items():
        builder = builder.config(key, str(value).lower() if isinstance(value, bool) else str(value))
    configured = configure(builder, jar=jar)
    with _interrupts.held_back():  # Spark leaves a JVM behind that Ctrl-C interrupts while it starts
        spark = configured.getOrCreate()
    install()
    jvm = DriverJvm.found(spark)
    if jvm is not None:
        if jvm.connector_location() is None:
            spark.stop()
            raise _without_connector()
        if text := jvm.other_sources():
            warnings.warn(text, stacklevel=2)
    return spark


def _configure_running(
    builder: SparkSession.Builder, settings: dict[str, str], jvm: DriverJvm, jar: str | Path
) -> SparkSession.Builder:
    """Configure the builder of a JVM that runs already, whose own class path ``spark.jars`` does not change."""
    from pyspark import SparkConf

    location = jvm.connector_location()
    if jvm.has_context or jar == "maven":
        if location is None:
            raise _without_connector()
        return builder
    try:
        file = _file(jar)
    except PulsarSetupError:
        if location is None:
            raise
        return builder
    if location is None:
        jvm.add_jar(file)
        if jvm.connector_location() is None:
            raise _without_connector()
    elif location != jvm.url_of(file):
        return builder
    others = without(parts_of(settings.get(JARS) or SparkConf().get(JARS)), str(file))
    return builder.config(JARS, ",".join([*others, str(file)]))


def _without_connector() -> PulsarSetupError:
    return PulsarSetupError("PULSAR_SESSION_WITHOUT_CONNECTOR", coordinate=maven_coordinate())


def _is_remote(settings: Mapping[str, str]) -> bool:
    """True if the builder is for Spark Connect, whose server has the JVM."""
    from pyspark.sql.utils import is_remote

    return is_remote() or str(settings.get("spark.remote") or os.environ.get("SPARK_REMOTE") or "").startswith("sc://")


def _file(jar: str | Path) -> Path:
    if jar == "bundled":
        return jar_path()
    file = Path(jar).absolute()
    if not file.is_file():
        raise PulsarSetupError("PULSAR_JAR_MISSING", file=str(file))
    return file
