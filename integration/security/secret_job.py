"""A program of test_secrets: reads, writes and streams with secrets, and keeps all that Spark lets it see."""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

STREAM_SECONDS = 180
AT_ONCE = 6
CATALOG = "io.github.pulsarspark.catalog.PulsarCatalog"
STATEMENTS = (
    "SHOW TABLES IN {catalog}",
    "SHOW CREATE TABLE {table}",
    "DESCRIBE TABLE EXTENDED {table}",
    "SHOW TBLPROPERTIES {table}",
    "EXPLAIN EXTENDED SELECT * FROM {table}",
    "EXPLAIN FORMATTED SELECT * FROM {table}.partitions",
    "SELECT count(*) FROM {table}",
    "SET -v",
    "SET",
)


def main() -> None:
    task = json.load(sys.stdin)
    folder = Path(task["folder"])
    # Settings of catalogs that are there at the start are masked in the event log, unlike those that come later.
    spark = SparkSession.builder.config(map=settings_of(task["catalogs"])).getOrCreate()
    common = {"service.url": task["service.url"], "topic": task["topic"], "operationTimeoutMs": "2000"}
    rows = spark.sql("select unhex('00') as value from range(2)")
    result: dict[str, list[Any]] = {"rows": [], "progress": [], "errors": [], "catalogs": [], "refused": []}
    for number, options in enumerate(task["works"]):
        patient = {"operationTimeoutMs": "60000"}
        count, batches = work(folder / f"work-{number}", spark, rows, {**common, **patient, **options})
        result["rows"].append(count)
        result["progress"].append(batches)
    with ThreadPoolExecutor(AT_ONCE) as threads:  # they wait for what does not answer
        tries = [
            threads.submit(attempts, folder / f"try-{number}", spark, rows, {**common, **options})
            for number, options in enumerate(task["tries"])
        ]
        result["errors"] = [one.result() for one in tries]
    for name in task["catalogs"]:
        result["catalogs"].append(end(partial(look, folder / f"{name}.catalog.txt", spark, name, task["topic"])))
    for number, options in enumerate(task["refused"]):
        result["refused"].append(refused(spark, f"refused{number}", options))
    spark.stop()
    (folder / "result.json").write_text(json.dumps(result))


def work(folder: Path, spark: SparkSession, rows: DataFrame, right: dict[str, str]) -> tuple[int, int]:
    """Write, read and stream; return the number of rows and of micro-batches."""
    folder.mkdir()
    rows.write.format("pulsar").mode("append").options(**right).save()
    table = spark.read.format("pulsar").options(**right).load()
    explain(folder / "explain-read.txt", table)
    explain(folder / "explain-pruned.txt", table.selectExpr("__position"))
    rows.createOrReplaceTempView("written")
    table.createOrReplaceTempView("topic")
    explain(folder / "explain-join.txt", spark.sql("select * from topic join written using (value)"))
    stream = spark.readStream.format("pulsar").options(**right, startingOffsets="earliest").load()
    sink = stream.select("value").writeStream.format("pulsar").options(**{**right, "topic": f"{right['topic']}-copy"})
    query = sink.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    if not query.awaitTermination(STREAM_SECONDS):
        raise TimeoutError(str(query.status))
    (folder / "progress.txt").write_text("\n".join(progress.json for progress in query.recentProgress))
    with (folder / "explain-stream.txt").open("w") as file, redirect_stdout(file):
        query.explain(True)
    return table.count(), sum(progress.numInputRows > 0 for progress in query.recentProgress)


def explain(file: Path, rows: DataFrame) -> None:
    """Keep the plan as `explain` prints it; printed, it would mix with those of other threads."""
    table: Any = rows
    explained = table.sparkSession._jvm.PythonSQLUtils.explainString
    with file.open("w") as output:
        for mode in ("extended", "formatted", "cost", "codegen"):
            output.write(explained(table._jdf.queryExecution(), mode))


def settings_of(catalogs: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The settings of catalogs by their names."""
    settings = {f"spark.sql.catalog.{name}": CATALOG for name in catalogs}
    return settings | {
        f"spark.sql.catalog.{name}.{key}": value for name, options in catalogs.items() for key, value in options.items()
    }


def look(file: Path, spark: SparkSession, catalog: str, topic: str) -> None:
    """Keep all that a catalog and Spark show of a topic."""
    names = [catalog, *(f"`{part}`" for part in topic.removeprefix("persistent://").split("/"))]
    places = {"catalog": ".".join(names[:3]), "table": ".".join(names)}
    with file.open("w") as output:
        for statement in STATEMENTS:
            rows = spark.sql(statement.format(**places)).collect()
            output.writelines(f"{row}\n" for row in rows)


def refused(spark: SparkSession, catalog: str, options: dict[str, str]) -> str:
    """Use a catalog with these options, which nothing else sees; returns the condition of its error."""
    settings = settings_of({catalog: options})
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        return condition(end(lambda: spark.sql(f"SHOW TABLES IN {catalog}.public.default").collect()))
    finally:
        for key in settings:
            spark.conf.unset(key)


def attempts(file: Path, spark: SparkSession, rows: DataFrame, options: dict[str, str]) -> list[str]:
    """Read, write and stream with these options; say how each ended, and keep the whole error."""
    reader = spark.read.format("pulsar").options(**options)
    given = reader.schema("value binary").load()

    def stream() -> None:
        rows = spark.readStream.format("pulsar").options(**options).schema("value binary").load()
        rows.writeStream.format("noop").trigger(availableNow=True).start().awaitTermination(STREAM_SECONDS)

    ways: list[Callable[[], Any]] = [
        lambda: reader.load().count(),
        lambda: explain(file.with_suffix(".plan.txt"), given),
        given.collect,
        rows.write.format("pulsar").mode("append").options(**options).save,
        stream,
    ]
    ends = [end(way) for way in ways]
    file.with_suffix(".errors.txt").write_text("\n".join(ends))
    return [condition(text) for text in ends]


def end(way: Callable[[], Any]) -> str:
    try:
        way()
    except Py4JJavaError as error:
        return f"{error}\n{error.java_exception}"
    except Exception as error:
        return f"{error}\n{error!r}\n{getattr(error, '_stackTrace', '')}"
    return "worked"


def condition(text: str) -> str:
    found = re.search(r"\[PULSAR_[A-Z_]+\]", text)
    return found.group() if found else text


main()
