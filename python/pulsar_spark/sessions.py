"""Spark sessions with the connector, whose jar is part of this package."""

from __future__ import annotations

import os
from pathlib import Path

from pulsar_spark import _interrupts
from pulsar_spark._spark import SparkSession
from pulsar_spark._version import __version__
from pulsar_spark.errors import PulsarSetupError

_OLDEST, _NEWEST = (4, 0), (4, 3)
_ARTIFACT = "pulsar-spark-connector_2.13"
_JARS = Path(__file__).with_name("jars")


def maven_coordinate() -> str:
    """The connector's Maven coordinate, for ``spark.jars.packages`` or ``spark-submit --packages``.

    Returns:
        ``group:artifact:version``.

    Examples:
        >>> maven_coordinate()
        'io.github.pulsar-spark:pulsar-spark-connector_2.13:0.1.0'
    """
    return f"io.github.pulsar-spark:{_ARTIFACT}:{__version__}"


def jar_path() -> Path:
    """The connector's jar inside this package.

    Returns:
        The path of the file.

    Raises:
        PulsarSetupError: The package was built without it.

    Examples:
        >>> SparkSession.builder.config("spark.jars", str(jar_path()))
    """
    jar = _JARS / f"{_ARTIFACT}-{__version__}.jar"
    if not jar.is_file():
        raise PulsarSetupError("PULSAR_JAR_MISSING", file=str(jar))
    return jar


def configure(builder: SparkSession.Builder, *, jar: str | Path = "bundled") -> SparkSession.Builder:
    """Add the connector to a session builder.

    Jars that ``spark.jars`` or ``spark.jars.packages`` name already are kept. A builder for a Spark Connect server
    (``sc://...``) is returned unchanged, since the server provides the connector.

    Args:
        builder: The builder. Set ``spark.jars`` and ``spark.jars.packages`` before this call.
        jar: ``bundled`` for the jar in this package, ``maven`` to let Spark download it, or the path of a jar.

    Returns:
        The builder.

    Raises:
        PulsarSetupError: The jar is missing, or this pyspark is not supported.

    Examples:
        >>> spark = configure(SparkSession.builder.master("local[2]")).getOrCreate()
    """
    _check_pyspark()
    # A builder has no public API to read its settings.
    settings = builder._options  # noqa: SLF001
    if str(settings.get("spark.remote") or os.environ.get("SPARK_REMOTE") or "").startswith("sc://"):
        return builder
    key = "spark.jars.packages" if jar == "maven" else "spark.jars"
    added = maven_coordinate() if jar == "maven" else str(jar_path() if jar == "bundled" else Path(jar).absolute())
    present = settings.get(key, _default_setting(key))
    parts = [part for part in str(present or "").split(",") if part and part != added]
    return builder.config(key, ",".join([*parts, added]))


def session(
    app_name: str | None = None,
    master: str | None = None,
    *,
    jar: str | Path = "bundled",
    **conf: object,
) -> SparkSession:
    """A Spark session with the connector; no other setting is changed.

    Args:
        app_name: The application's name.
        master: The master, such as ``local[2]``.
        jar: As in `configure`.
        conf: Further settings of Spark by their names, as in ``session(**{"spark.sql.shuffle.partitions": 8})``.

    Returns:
        The session that runs in this process, or a new one.

    Raises:
        PulsarSetupError: As in `configure`; or a session without the connector is already running.

    Examples:
        >>> spark = session("rides", "local[2]", **{"spark.sql.shuffle.partitions": 8})
    """
    _check_pyspark()
    from pyspark.sql.utils import is_remote

    running = SparkSession.getActiveSession()
    if running is not None and not is_remote() and not _has_connector(running):
        raise PulsarSetupError("PULSAR_SESSION_WITHOUT_CONNECTOR")
    builder = SparkSession.builder
    if app_name is not None:
        builder = builder.appName(app_name)
    if master is not None:
        builder = builder.master(master)
    for key, value in conf.items():
        builder = builder.config(key, str(value).lower() if isinstance(value, bool) else str(value))
    configured = configure(builder, jar=jar)
    with _interrupts.held_back():  # Spark leaves a JVM behind that Ctrl-C interrupts while it starts
        return configured.getOrCreate()


def _has_connector(spark: SparkSession) -> bool:
    return any(_ARTIFACT in (spark.conf.get(key, "") or "") for key in ("spark.jars", "spark.jars.packages"))


def _check_pyspark() -> None:
    try:
        import pyspark
    except ImportError as error:
        raise PulsarSetupError("PULSAR_SPARK_VERSION", found="there is none") from error
    version = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if not _OLDEST <= version <= _NEWEST:
        raise PulsarSetupError("PULSAR_SPARK_VERSION", found=f"this is {pyspark.__version__}")


def _default_setting(key: str) -> str | None:
    """The value in ``spark-defaults.conf``, which a setting of the builder overrides."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if home else None)
    file = Path(folder) / "spark-defaults.conf" if folder else None
    if file is None or not file.is_file():
        return None
    pairs = (line.replace("=", " ", 1).split(None, 1) for line in file.read_text(encoding="utf-8").splitlines())
    return next((pair[1].strip() for pair in pairs if len(pair) == 2 and pair[0] == key), None)
