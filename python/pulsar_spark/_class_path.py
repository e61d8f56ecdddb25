"""The class path of the driver's JVM. Its class loaders know it; settings differ by how the JVM was started."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pulsar_spark.options.resolve import FORMAT

if TYPE_CHECKING:
    from pathlib import Path

_GATEWAY = "PYSPARK_GATEWAY_PORT"
UNKNOWN = "unknown"


def running_jvm() -> Any | None:  # noqa: ANN401 - py4j objects have no type
    """The JVM of this process, also the one that runs this program for ``spark-submit``; None if none has started."""
    from pyspark import SparkContext

    context: Any = SparkContext
    if context._gateway is None and _GATEWAY in os.environ:  # noqa: SLF001 - pyspark has no public API
        context._ensure_initialized()  # noqa: SLF001
    return context._jvm  # noqa: SLF001


def connector_location(jvm: Any) -> str | None:  # noqa: ANN401
    """The URL that the JVM loads the connector from, `UNKNOWN` if it does not say so; None if it has none."""
    from py4j.protocol import Py4JError, Py4JJavaError

    try:
        found = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader().loadClass(FORMAT)
    except Py4JJavaError:
        return None
    except Py4JError:  # a runtime that restricts py4j
        return UNKNOWN
    source = found.getProtectionDomain().getCodeSource()
    return UNKNOWN if source is None or source.getLocation() is None else str(source.getLocation().toString())


def url_of(jvm: Any, jar: Path) -> str:  # noqa: ANN401
    """The URL of a jar, as `connector_location` returns it."""
    return str(_url(jvm, jar).toString())


def add_jar(jvm: Any, jar: Path) -> None:  # noqa: ANN401
    """Add a jar to the class path of a JVM that runs already, as ``spark-submit --jars`` does before."""
    from py4j.protocol import Py4JError

    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        loader.addURL(_url(jvm, jar))
    except Py4JError:  # a class loader of another kind: the caller looks whether the class is there
        return


def other_sources(jvm: Any) -> str:  # noqa: ANN401
    """The warning about other data sources named ``pulsar``, once in a JVM; empty if there is none."""
    from py4j.protocol import Py4JError

    try:
        return str(jvm.io.github.pulsarspark.SourceNames.firstWarning())
    except Py4JError:
        return ""


def _url(jvm: Any, jar: Path) -> Any:  # noqa: ANN401
    return jvm.java.io.File(str(jar)).toURI().toURL()
