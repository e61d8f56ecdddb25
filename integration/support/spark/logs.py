"""What the connector writes into Spark's log while a test runs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

_NAME = "warnings of a test"


@contextmanager
def warnings(spark: SparkSession, folder: Path) -> Iterator[Callable[[], str]]:
    """Yields a function that returns all warnings since the start, also those of Spark."""
    log4j: Any = spark.sparkContext._jvm.org.apache.logging.log4j  # type: ignore[union-attr]
    file = folder / "warnings.log"
    layout = log4j.core.layout.PatternLayout.newBuilder().withPattern("%c{1}: %m%n").build()
    builder = log4j.core.appender.FileAppender.newBuilder().withFileName(str(file))
    appender = builder.setName(_NAME).setLayout(layout).build()
    appender.start()
    context = log4j.LogManager.getContext(False)
    root = context.getConfiguration().getRootLogger()
    root.addAppender(appender, log4j.Level.WARN, None)
    context.updateLoggers()
    try:
        yield lambda: file.read_text(encoding="utf-8")
    finally:
        root.removeAppender(_NAME)
        context.updateLoggers()
        appender.stop()
