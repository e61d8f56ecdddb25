"""A program of `test_kryo`: writes, streams and reads in a Spark whose Kryo refuses every class that is not registered.

It writes a line for each part that is done, and ends with the first error.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from support.spark.program_session import program_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SETTINGS = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrationRequired": "true",
    "spark.sql.shuffle.partitions": "2",
}
_ROWS = 200
_SECONDS = 300


class Job:
    """The session, and the options of the cluster."""

    def __init__(self, task: dict[str, str]) -> None:
        self.task = task
        self.own = {"service.url": task["service.url"], "admin.url": task["admin.url"]}
        self.spark = program_session(task["jar"], _SETTINGS)

    def write(self, rows: DataFrame, topic: str, guarantee: str) -> None:
        writer = rows.write.format("pulsar").mode("append").options(**self._sink(guarantee))
        if topic:
            writer = writer.option("topic", topic)
        elif guarantee == "exactly-once":
            writer = writer.option("sinkNamespace", self.task["namespace"])
        writer.save()
        print(f"batch {guarantee} {'one topic' if topic else 'by row'}", flush=True)

    def copy(self, topic: str, target: str, guarantee: str) -> None:
        folder = Path(self.task["folder"]) / guarantee
        source = self.spark.readStream.format("pulsar").options(**self.own, topic=topic, startingOffsets="earliest")
        writer = source.load().select("id", "__key").writeStream.format("pulsar").options(**self._sink(guarantee))
        query = writer.options(topic=target, checkpointLocation=str(folder)).trigger(availableNow=True).start()
        assert query.awaitTermination(_SECONDS)
        print(f"stream {guarantee}", flush=True)

    def read(self, topic: str, level: str) -> None:
        rows = self.spark.read.format("pulsar").options(**self.own, topic=topic, readLevel=level).load()
        assert rows.select("__key", "__position").distinct().count() == _ROWS
        print(f"read {level} {'wide' if len(rows.columns) > 100 else 'narrow'}", flush=True)

    def _sink(self, guarantee: str) -> dict[str, str]:
        return {"service.url": self.own["service.url"], "deliveryGuarantee": guarantee}


def main() -> None:
    task = json.loads(sys.argv[1])
    job = Job(task)
    rows = job.spark.range(_ROWS).selectExpr("id", "cast(id as string) as __key").repartition(2)
    for guarantee in ("at-least-once", "exactly-once"):
        topic = f"{task['topic']}-{guarantee}"
        job.write(rows, topic, guarantee)
        job.copy(topic, f"{topic}-copy", guarantee)
        for level in ("broker", "segment"):
            job.read(f"{topic}-copy", level)
        job.write(rows.selectExpr("*", f"'{topic}-by-row' as __topic"), "", guarantee)
    # A definition so large that executors receive it once, and not with each task.
    names = [f"{'c' * 1000}{n}" for n in range(200)]
    wide = rows.selectExpr(
        "__key", f"cast(id % {task['partitions']} as int) as __partition", *[f"id as {name}" for name in names]
    )
    job.write(wide, task["wide"], "at-least-once")
    for level in ("broker", "segment"):
        job.read(task["wide"], level)
    table = job.spark.read.format("pulsar").options(**job.own, topic=task["wide"], metadata="partitions").load()
    assert table.count() == int(task["partitions"])
    print("metadata", flush=True)
    job.spark.stop()


main()
