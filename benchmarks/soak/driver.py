"""The driver of a soak run: a stream in executors of their own, which does what its standard input says.

Each line of the input is ``start``, ``stop``, ``drain`` or ``look``; each is answered with a line of JSON.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from executors.hosts import Executors, running_cluster
from pyspark.sql import SparkSession

from benchmarks.arena import jdk_tool
from benchmarks.processes import resident_megabytes
from support.spark.leaks import direct_bytes, jvm_pid

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_USED = re.compile(r"(?m)^ (?!Metaspace|class space).* used (\d+)K")
_MEGABYTE = 1e6


class Driver:
    """The stream of a session, which can be stopped and started again."""

    def __init__(self, spark: SparkSession, folder: Path, options: dict[str, str]) -> None:
        self._spark, self._folder, self._options = spark, folder, options
        self._counts: dict[int, int] = {}
        self._query: StreamingQuery | None = None
        self._executors = Executors(spark)

    def do(self, action: str) -> dict[str, Any]:
        """Do what a line says; the answer has the error that ended the query before."""
        failure = None if self._query is None else self._query.exception()
        if action == "start":
            self._query = self._start()
        elif action == "stop" and self._query is not None:
            self._query.stop()
        elif action == "drain" and self._query is not None:
            self._query.processAllAvailable()
        looked = self._look() if action == "look" else {}
        return {"failure": None if failure is None else str(failure), **looked}

    def _start(self) -> StreamingQuery:
        frame = self._spark.readStream.format("pulsar").options(**self._options).load()
        writer = frame.select("__topic", "__position").writeStream.foreachBatch(self._keep)
        writer = writer.option("checkpointLocation", str(self._folder / "checkpoint"))
        return writer.trigger(processingTime="1 second").start()

    def _keep(self, frame: DataFrame, batch_id: int) -> None:
        """A file for each batch, which a batch that is run again replaces."""
        rows = [(row[0], row[1]) for row in frame.collect()]
        part = self._folder / "sink" / f"{batch_id}.part"
        part.write_text(json.dumps(rows), encoding="utf-8")
        part.rename(part.with_suffix(".json"))
        self._counts[batch_id] = len(rows)

    def _look(self) -> dict[str, Any]:
        jvm: Any = self._spark.sparkContext._jvm  # noqa: SLF001 - the heap of the driver
        jvm.java.lang.System.gc()
        runtime = jvm.java.lang.Runtime.getRuntime()
        sizes = {
            "driver heap": (runtime.totalMemory() - runtime.freeMemory()) / _MEGABYTE,
            "driver direct": direct_bytes(self._spark) / _MEGABYTE,
            "driver resident": resident_megabytes(jvm_pid(self._spark)),
        }
        running = [one.pid for one in self._executors.running()]
        if running:
            sizes["executor heap"] = max(map(_heap, running))
            sizes["executor resident"] = max(map(resident_megabytes, running))
        failure = None if self._query is None else self._query.exception()
        return {
            "rows": sum(self._counts.values()),
            "sizes": sizes,
            "failure": None if failure is None else str(failure),
        }


def _heap(pid: int) -> float:
    """The heap of another JVM after a collection, in MB."""
    jcmd = [jdk_tool("jcmd"), str(pid)]
    subprocess.run([*jcmd, "GC.run"], check=True, capture_output=True)
    text = subprocess.run([*jcmd, "GC.heap_info"], check=True, capture_output=True, text=True).stdout
    return sum(int(kilobytes) for kilobytes in _USED.findall(text)) * 1024 / _MEGABYTE


def main() -> None:
    """Run until the input ends."""
    task = json.loads(sys.argv[1])
    folder = Path(task["folder"])
    (folder / "sink").mkdir()
    with running_cluster(folder / "work", Path(task["jar"])) as conf:
        spark = SparkSession.builder.config(conf=conf).appName("pulsar-spark soak").getOrCreate()
        driver = Driver(spark, folder, task["options"])
        for line in sys.stdin:
            print(json.dumps(driver.do(line.strip())), flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
