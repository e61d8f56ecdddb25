"""A program of `test_executor_writes`: streams a topic to another in executors of its own, until it is killed.

It writes the process id of its JVM to stdout, then a line for each batch that is copied, and what a batch read into a
file before that.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from executors.hosts import running_cluster
from pyspark.sql import SparkSession

from support.spark.leaks import jvm_pid
from support.topics.reading import seen, stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def main() -> None:
    task = json.loads(sys.argv[1])
    folder = Path(task["folder"])
    target = {"service.url": task["service.url"], "topic": task["copy"]}

    def copy(frame: DataFrame, batch_id: int) -> None:
        rows = [(one.topic, one.position, (one.payload or b"").decode()) for one in seen(frame)]
        part = folder / f"batch-{batch_id}.part"
        part.write_text(json.dumps(rows))
        part.rename(part.with_suffix(".json"))
        frame.select("value").write.format("pulsar").mode("append").options(**target).save()
        print(f"batch {batch_id}: {len(rows)} rows", flush=True)

    with running_cluster(folder / "work", task["jar"]) as conf:
        spark = SparkSession.builder.config(conf=conf).getOrCreate()
        print(jvm_pid(spark), flush=True)
        frame = stream(spark, task["service.url"], topic=task["source"], startingOffsets="earliest")
        checkpoint = str(folder / "checkpoint")
        frame.writeStream.foreachBatch(copy).option("checkpointLocation", checkpoint).start().awaitTermination()


main()
