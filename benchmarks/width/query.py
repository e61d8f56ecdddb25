"""A Spark process that runs one stream over many topics after the other; `__main__.py` says what to do."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

NAMESPACE = "public/wide"
"""Has Pulsar's topics, and no others."""

KAFKA_TOPIC = "wide"
"""Has as many partitions as there are topics in Pulsar."""

_START_SECONDS = 1200.0  # Spark-Kafka has a task for each partition
_PROGRESS = "0s"  # of each trigger, idle ones too


@dataclass(frozen=True)
class Times:
    """Milliseconds by trigger: of `latestOffset`, and of whole triggers that read messages."""

    looks: list[int]
    triggers: list[int]


class Query:
    """A stream in a process of its own, which `_serve` is the other side of."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = int(self._answer())

    def begin(self, source: str, server: str, topics: int) -> tuple[float, float, int]:
        """Start it, and wait until it has read all topics.

        Args:
            source: The format of Spark's reader.
            server: Its address.
            topics: How many there are, with one message each.

        Returns:
            The seconds until its first tasks, those until it has read all, and the characters of its offset.
        """
        tasks, read, offset = json.loads(self._ask(f"begin {source} {server} {topics}"))
        return float(tasks), float(read), int(offset)

    def times(self) -> Times:
        """Those since the last call."""
        return Times(**json.loads(self._ask("times")))

    def end(self) -> None:
        """Stop it."""
        self._ask("end")

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process of the stream ended")
        return line.strip()


@contextmanager
def running_query(jars: Sequence[Path], log: Path) -> Iterator[Query]:
    """A process for queries with these jars."""
    command = [sys.executable, "-m", "benchmarks.width.query", ",".join(map(str, jars))]
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        yield Query(process)
        assert process.stdin is not None
        process.stdin.close()


def _options(source: str, server: str) -> dict[str, str]:
    if source == "kafka":
        return {"kafka.bootstrap.servers": server, "subscribe": KAFKA_TOPIC, "startingOffsets": "earliest"}
    return {"service.url": server, "topicsPattern": f"{NAMESPACE}/t.*", "startingOffsets": "earliest"}


def _serve(jars: str) -> None:
    """Do what the standard input says."""
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jars)
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.streaming.noDataProgressEventInterval", _PROGRESS)
    spark = builder.getOrCreate()
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - there is no public way
    print(jvm.ProcessHandle.current().pid(), flush=True)
    query: Any = None
    seen = ""
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "begin":
            began = time.monotonic()
            rows = spark.readStream.format(rest[0]).options(**_options(*rest[:2])).load()
            query = rows.writeStream.format("noop").trigger(processingTime="1 second").start()
            _wait(query, int(rest[2]))
            took = time.monotonic() - began
            tasks = max(one["durationMs"].get("addBatch", 0) for one in query.recentProgress) / 1000
            offset = max(len(str(one["sources"][0]["endOffset"])) for one in query.recentProgress)
            print(json.dumps([took - tasks, took, offset]), flush=True)
        elif word == "times":
            fresh = [one for one in query.recentProgress if one["timestamp"] > seen]
            seen = max([seen, *(one["timestamp"] for one in fresh)])
            print(json.dumps(asdict(_times(fresh))), flush=True)
        elif word == "end":
            query.stop()
            seen = ""
            print("ended", flush=True)
    spark.stop()


def _times(progress: list[Any]) -> Times:
    looks = [one["durationMs"].get("latestOffset", 0) for one in progress]
    return Times(looks, [one["durationMs"]["triggerExecution"] for one in progress if one["numInputRows"]])


def _wait(query: Any, rows: int) -> None:  # noqa: ANN401 - of two kinds
    def look() -> bool:
        failure = query.exception()
        if failure is not None:
            raise RuntimeError(str(failure))
        read: int = sum(one["numInputRows"] for one in query.recentProgress)
        return read >= rows

    eventually(look, seconds=_START_SECONDS)


if __name__ == "__main__":
    _serve(sys.argv[1])
