"""Class data of Spark: with an archive of its classes, a driver or an executor starts in half the CPU time.

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


def options() -> list[str]:
    """Options of the JVM that use the archive; none if there is no archive."""
    return [f"-XX:SharedArchiveFile={_ARCHIVE}", "-Xlog:cds*=off"] if _ARCHIVE.exists() else []


def _make() -> None:
    """Run a program whose JVM writes the archive when it ends."""
    written = _ARCHIVE.with_suffix(".new")
    written.unlink(missing_ok=True)
    settings = [word for name, value in _SETTINGS.items() for word in ("--conf", f"{name}={value}")]
    writing = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ArchiveClassesAtExit={written} -Xlog:cds*=off"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [Path(sys.executable).with_name("spark-submit"), *settings, __file__, _TRIAL],
            env={**os.environ, "SPARK_SUBMIT_OPTS": writing, "PYSPARK_PYTHON": sys.executable},
            cwd=folder,
            timeout=_SECONDS,
            check=True,
        )
    if written.exists():
        written.rename(_ARCHIVE)
    else:  # an archive only saves time
        print("This Java wrote no archive of Spark's classes, so tests start more slowly", file=sys.stderr)


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
