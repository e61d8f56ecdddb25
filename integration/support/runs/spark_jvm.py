"""The JVM options of Spark in tests: one compiler, and an archive of classes, which halves the CPU time of a start.

An archive fits one build of Java and the jars of one environment, so it is in the environment's folder. Java ignores an
archive that does not fit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

VARIABLE = "SPARK_SUBMIT_OPTS"
"""Where Spark's scripts look for options of the JVM."""

# Most of what tests run once is not worth the work of the second compiler, with which they take half as much CPU time
# again.
_ONE_COMPILER = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
# With one compiler the JVM has room for 48 MB of code only. A session of many tests fills it, and then the JVM searches
# it all the time for methods to drop and to compile again.
_ROOM_FOR_CODE = "-XX:ReservedCodeCacheSize=256m"
_QUIET = "-Xlog:cds*=off"
_ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
_TRIAL = "trial"
_SECONDS = 300
_SETTINGS = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def options() -> str:
    """One compiler, and the archive if there is one."""
    archive = (f"-XX:SharedArchiveFile={_ARCHIVE}", _QUIET) if _ARCHIVE.exists() else ()
    return " ".join((*_ONE_COMPILER, _ROOM_FOR_CODE, *archive))


def chosen() -> str:
    """JVM options from the environment, also for executors; empty means the defaults of the JVM."""
    return os.environ.get(VARIABLE, "")


def _make() -> None:
    """Run a program whose JVM writes the archive when it ends. Without an archive, which only saves time, go on."""
    written = _ARCHIVE.with_suffix(".new")
    written.unlink(missing_ok=True)
    settings = [word for name, value in _SETTINGS.items() for word in ("--conf", f"{name}={value}")]
    writing = " ".join((*_ONE_COMPILER, f"-XX:ArchiveClassesAtExit={written}", _QUIET))
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(
                [Path(sys.executable).with_name("spark-submit"), *settings, __file__, _TRIAL],
                env={**os.environ, VARIABLE: writing, "PYSPARK_PYTHON": sys.executable},
                cwd=folder,
                timeout=_SECONDS,
                check=True,
            )
            written.rename(_ARCHIVE)
        except (subprocess.TimeoutExpired, FileNotFoundError) as e:
            print(f"There is no archive of Spark's classes, so tests start more slowly: {e}", file=sys.stderr)


def _trial() -> None:
    """Load what most tests load: queries with a shuffle, and a stream."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    spark.range(100).selectExpr("id", "id % 7 AS k", "string(id) AS s").createOrReplaceTempView("t")
    spark.sql(
        "SELECT k, count(*), max(to_json(struct(t.s))) FROM t JOIN t AS u USING (k) GROUP BY k ORDER BY k"
    ).collect()
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
    query = stream.writeStream.foreachBatch(_take).trigger(availableNow=True).start()
    query.awaitTermination(_SECONDS)
    query.stop()
    spark.stop()


def _take(rows: DataFrame, _: int) -> None:
    rows.collect()


if __name__ == "__main__":
    if _TRIAL in sys.argv:
        _trial()
    else:
        _make()
