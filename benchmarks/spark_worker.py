"""A Spark session in a process of its own that does what its standard input says, as `Commands.java` does."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from py4j.java_gateway import JavaObject
    from pyspark.sql import Column, DataFrame

_MEGABYTE = 1e6
_STREAM_SECONDS = 600
WRITE_TASKS = 2
_METRIC_SECONDS = 10.0
_POLL_SECONDS = 0.02

Arguments = dict[str, str]


class Connector:
    """How one data source is told what to do."""

    def __init__(self, spark: SparkSession, name: str, server: str) -> None:
        self._spark = spark
        self._is_pulsar = name == "pulsar"
        self.format = name
        self._server = {"service.url" if self._is_pulsar else "kafka.bootstrap.servers": server}

    def frame(self, arguments: Arguments) -> DataFrame:
        """All messages of a topic as a batch."""
        return self._spark.read.format(self.format).options(**self._reading(arguments)).load()

    def stream(self, arguments: Arguments) -> DataFrame:
        """All messages of a topic as a stream."""
        return self._spark.readStream.format(self.format).options(**self._reading(arguments)).load()

    def write(self, rows: DataFrame, arguments: Arguments) -> None:
        """Write rows of ``value``, and ``key`` or other columns, to the topic, or to that of the row without one."""
        if self._is_pulsar:
            rows = rows.withColumnRenamed("key", "__key")
        rows.write.format(self.format).options(**self.writing(arguments)).mode("append").save()

    def writing(self, arguments: Arguments) -> dict[str, str]:
        """The options of a write: the Java client's defaults, but for batch and compression."""
        if self._is_pulsar:
            settings = {
                "pulsar.producer.batchingMaxMessages": arguments["batch"],
                "pulsar.producer.compressionType": arguments["compression"],
            }
        else:
            # The size of a batch in bytes: Pulsar's default bound, or what so many messages need.
            size = min(131072, int(arguments["batch"]) * (int(arguments["size"]) + 20))
            settings = {
                "kafka.batch.size": str(size),
                "kafka.linger.ms": "1",
                "kafka.compression.type": arguments["compression"].lower(),
            }
        return {**self._server, **settings, **_options("topic", arguments, "write.")}

    def _reading(self, arguments: Arguments) -> dict[str, str]:
        options = _options("topic" if self._is_pulsar else "subscribe", arguments, "option.")
        return {**self._server, "startingOffsets": "earliest", **options}


class Jobs:
    """The actions; each returns the number of rows that Spark says it had."""

    def __init__(self, spark: SparkSession, connector: Connector) -> None:
        self._spark = spark
        self._connector = connector
        self.actions: dict[str, Callable[[Arguments], dict[str, Any]]] = {
            "scan": self._scan,
            "count": self._count,
            "stream": self._stream,
            "write": self._write,
            "input": self._input,
            "check": self._check,
        }

    def _scan(self, arguments: Arguments) -> dict[str, Any]:
        _to_noop(self._connector.frame(arguments))
        return {}

    def _count(self, arguments: Arguments) -> dict[str, Any]:
        return {"rows": self._connector.frame(arguments).count()}

    def _stream(self, arguments: Arguments) -> dict[str, Any]:
        checkpoint = tempfile.mkdtemp(prefix="pulsar-spark-benchmark-")
        try:
            writer = self._connector.stream(arguments).writeStream.format("noop").trigger(availableNow=True)
            query = writer.option("checkpointLocation", checkpoint).start()
            if not query.awaitTermination(_STREAM_SECONDS):
                query.stop()
                raise TimeoutError(f"the stream did not end within {_STREAM_SECONDS} s")
            batches = [progress["numInputRows"] for progress in query.recentProgress]
            return {"rows": sum(batches), "batches": batches}
        finally:
            shutil.rmtree(checkpoint, ignore_errors=True)

    def _write(self, arguments: Arguments) -> dict[str, Any]:
        """Sinks of the old kind do not say how many rows they wrote: the caller counts what is in the topic."""
        self._connector.write(self._rows(arguments), arguments)
        return {"rows": int(arguments["count"])}

    def _input(self, arguments: Arguments) -> dict[str, Any]:
        """What the rows of a write cost without the write."""
        _to_noop(self._rows(arguments))
        return {}

    def _check(self, arguments: Arguments) -> dict[str, Any]:
        """Everything there is, as one figure: equal only for equal keys and values."""
        frame = self._connector.frame(arguments)
        key = "__key" if "__key" in frame.columns else "key"
        row = frame.agg(
            F.count(F.lit(1)),
            F.sum(F.length("value")),
            F.bit_xor(F.xxhash64(F.col(key), F.col("value"))),
            F.sum(F.hash(F.col(key), F.col("value"))),
        ).first()
        assert row is not None
        return {"rows": row[0], "bytes": row[1] or 0, "content": [row[2], row[3]]}

    def _rows(self, arguments: Arguments) -> DataFrame:
        size, key_size = int(arguments["size"]), int(arguments["keySize"])
        rows = self._spark.range(0, int(arguments["count"]), 1, WRITE_TASKS)
        return rows.select(
            part(Path(arguments["keys"]).read_bytes(), key_size).cast("string").alias("key"),
            part(Path(arguments["values"]).read_bytes(), size).alias("value"),
        )

    def last_execution(self) -> int:
        """The id of the last query."""
        executions = self._executions().executionsList()
        return -1 if executions.isEmpty() else max(e.executionId() for e in _elements(executions))

    def output_rows(self, after: int) -> int:
        """Rows of the query after the one with this id, by Spark's own metrics: counting costs nothing extra then."""
        deadline = time.monotonic() + _METRIC_SECONDS
        while not (found := self._row_metrics(after)):  # Spark adds them up after the query, in a thread of its own
            if time.monotonic() > deadline:
                raise TimeoutError(f"no number of rows in Spark's metrics after {_METRIC_SECONDS:g} s")
            time.sleep(_POLL_SECONDS)
        if len(found) > 1:
            raise ValueError(f"several numbers of rows in Spark's metrics: {sorted(found)}")
        return found.pop()

    def _row_metrics(self, after: int) -> set[int]:
        """Of all executions, as sources of the old kind have two for one query."""
        found = set()
        for execution in _elements(self._executions().executionsList()):
            if execution.executionId() > after:
                values = self._executions().executionMetrics(execution.executionId())
                for metric in _elements(execution.metrics()):
                    if metric.name() == "number of output rows" and values.contains(metric.accumulatorId()):
                        found.add(int(values.apply(metric.accumulatorId()).replace(",", "")))
        return found

    def _executions(self) -> JavaObject:
        self._spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()  # noqa: SLF001 - there is no public way
        return self._spark._jsparkSession.sharedState().statusStore()  # noqa: SLF001


def _options(topic: str, arguments: Arguments, prefix: str) -> dict[str, str]:
    """The topic, if there is one, and the options that the arguments have with this prefix."""
    named = {topic: arguments["topic"]} if "topic" in arguments else {}
    return named | {name.removeprefix(prefix): v for name, v in arguments.items() if name.startswith(prefix)}


def _elements(of_scala: JavaObject) -> Iterator[JavaObject]:
    elements = of_scala.iterator()
    while elements.hasNext():
        yield elements.next()


def _to_noop(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def part(pool: bytes, size: int) -> Column:
    """The parts of ``pool`` in turn, by the row's ``id``: a copy of so many bytes and nothing else."""
    return F.lit(bytearray(pool)).substr((F.col("id") % (len(pool) // size)).cast("int") * size + 1, F.lit(size))


def main(kind: type[Jobs] = Jobs) -> None:
    """Serve until the standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format", choices=["pulsar", "kafka"])
    parser.add_argument("server")
    parser.add_argument("jars")
    parser.add_argument("--java-options", default="")
    parser.add_argument("--memory", default="1g")
    chosen = parser.parse_args()
    builder = SparkSession.builder.master("local[2]").appName("benchmark").config("spark.jars", chosen.jars)
    builder = (
        builder.config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", chosen.memory)
    )
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    spark = builder.config("spark.driver.extraJavaOptions", chosen.java_options).getOrCreate()
    jvm = spark._jvm  # noqa: SLF001 - to measure the JVM
    assert jvm is not None
    beans = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    heaps = [bean for bean in beans if bean.getType().toString() == "Heap memory"]
    jobs = kind(spark, Connector(spark, chosen.format, chosen.server))
    print(json.dumps({"pid": jvm.java.lang.ProcessHandle.current().pid()}), flush=True)
    for line in sys.stdin:
        action, *words = line.split()
        arguments = dict(word.split("=", 1) for word in words)
        last = jobs.last_execution()
        for heap in heaps:
            heap.resetPeakUsage()
        start = time.perf_counter()
        answer = jobs.actions[action](arguments)
        answer["seconds"] = time.perf_counter() - start
        answer["heap"] = sum(heap.getPeakUsage().getUsed() for heap in heaps) / _MEGABYTE
        if "rows" not in answer:
            answer["rows"] = jobs.output_rows(last)
        print(json.dumps(answer), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
