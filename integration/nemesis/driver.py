"""The driver of a run, to be killed: two streams that copy a topic, and batch reads of it, in executors of their own.

It writes a line of JSON for what happens: its JVM, each query that ends, each batch that is copied, each
batch read. It ends when its input does.
"""

from __future__ import annotations

import json
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from executors.hosts import running_cluster
from pyspark.sql import SparkSession

from pulsar_spark.errors import condition_of
from support.topics.reading import by_level, metrics_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_PAUSE_SECONDS = 1.0
_GUARANTEES = ("at-least-once", "exactly-once")
_lock = threading.Lock()


def tell(**event: Any) -> None:  # noqa: ANN401 - JSON has no type
    """Write one line."""
    with _lock:
        print(json.dumps(event), flush=True)


class Driver:
    """The queries of a session."""

    def __init__(self, spark: SparkSession, task: dict[str, Any]) -> None:
        self._spark, self._task = spark, task
        self._way = {"service.url": task["url"], "pulsar.client.listenerName": task["listener"]}
        self._over = threading.Event()
        self._threads = [threading.Thread(target=partial(self._keep_running, kind)) for kind in _GUARANTEES]
        self._threads.append(threading.Thread(target=self._read_again_and_again))

    def run(self) -> None:
        """Until the input ends."""
        for thread in self._threads:
            thread.start()
        for line in sys.stdin:
            if line.strip() == "stop":
                break
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _keep_running(self, guarantee: str) -> None:
        """Start a stream again whenever it ends, as a user's scheduler does."""
        while not self._over.is_set():
            try:
                query = self._start(guarantee)
                tell(event="started", query=guarantee)
                self._follow(query, guarantee)
            except Exception as error:
                tell(event="ended", query=guarantee, condition=condition_of(error), text=str(error)[:2000])
                self._over.wait(_PAUSE_SECONDS)

    def _start(self, guarantee: str) -> StreamingQuery:
        options = {**self._way, "topic": self._task["source"], "startingOffsets": "earliest"}
        options |= {"progressSubscription": guarantee}
        if guarantee == "exactly-once":  # at level `auto`; the other one reads through brokers alone
            options |= self._task["direct"]
        options |= {"metadataColumns": "__key", "maxMessagesPerTrigger": "2000"}
        frame = self._spark.readStream.format("pulsar").options(**options).load()
        sink = {**self._way, "topic": self._task["copies"][guarantee]}
        if guarantee == "exactly-once":
            sink |= {"deliveryGuarantee": guarantee, "sinkId": self._task["sink"]}
        writer = frame.select("value", "__key").writeStream.format("pulsar").options(**sink)
        folder = str(Path(self._task["folder"]) / guarantee)
        return writer.option("checkpointLocation", folder).trigger(processingTime="1 second").start()

    def _follow(self, query: StreamingQuery, guarantee: str) -> None:
        try:
            seen = -1
            while not query.awaitTermination(1):
                for progress in query.recentProgress:
                    if progress["batchId"] > seen and progress["numInputRows"]:
                        seen = progress["batchId"]
                        tell(
                            event="copied",
                            query=guarantee,
                            batch=seen,
                            rows=progress["numInputRows"],
                            clock=progress["timestamp"].replace("Z", "+00:00"),
                        )
                if self._over.is_set():
                    query.stop()
                    return
        finally:
            query.stop()

    def _read_again_and_again(self) -> None:
        number = 0
        while not self._over.is_set():
            number += 1
            tell(event="reads", number=number)
            try:
                self._read(number)
            except Exception as error:
                tell(event="ended", query="batch read", condition=condition_of(error), text=str(error)[:2000])
            self._over.wait(self._task["read_every"])

    def _read(self, number: int) -> None:
        """Read all, each second time past the brokers."""
        level = ("segment", "broker")[number % 2]
        options = {**self._way, "topic": self._task["source"], "readLevel": level}
        if level == "segment":
            options |= self._task["direct"]
        frame = self._spark.read.format("pulsar").options(**options).load()
        rows: dict[str, list[tuple[tuple[int, ...], str]]] = {}
        selected = frame.selectExpr("__topic", "__position", "decode(value, 'UTF-8') as value")
        for one in selected.collect():
            position = tuple(int(part) for part in one["__position"].split(":"))
            rows.setdefault(one["__topic"], []).append((position, one["value"]))
        ordered = {topic: [value for _, value in sorted(found)] for topic, found in rows.items()}
        name = f"read-{self._task['life']}-{number}"
        (Path(self._task["folder"]) / f"{name}.json").write_text(json.dumps(ordered), encoding="utf-8")
        entries = by_level(metrics_of(selected), "Entries")
        tell(event="read", number=number, file=f"{name}.json", level=level, entries=entries)


def main() -> None:
    """Run until the input ends."""
    task = json.loads(sys.argv[1])
    with running_cluster(Path(task["folder"]) / "work", Path(task["jar"])) as conf:
        conf.set("spark.executor.memory", "700m").set("spark.task.maxFailures", "16")
        spark = SparkSession.builder.config(conf=conf).appName("pulsar-spark nemesis").getOrCreate()
        tell(event="driver", application=spark.sparkContext.applicationId)
        Driver(spark, task).run()
        spark.stop()


main()
