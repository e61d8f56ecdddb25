"""A program of `test_job_clock`: copies a topic with each guarantee, and reads it at two levels, until it is killed.

After each batch read it tells what its clock says and how many rows there were, in the file `told`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from support.spark.submitting import SMALL
from support.topics.reading import batch, stream

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


def _copying(spark: SparkSession, task: dict[str, Any], guarantee: str) -> StreamingQuery:
    frame = stream(spark, task["service.url"], topic=task["topic"], startingOffsets="earliest").select("value")
    sink = {"service.url": task["service.url"], "topic": task["copies"][guarantee], "deliveryGuarantee": guarantee}
    if guarantee == "exactly-once":
        sink["sinkId"] = "clock"
    writer = frame.writeStream.format("pulsar").options(**sink)
    return writer.option("checkpointLocation", str(Path(task["folder"]) / guarantee)).start()


def main() -> None:
    task = json.loads(sys.argv[1])
    builder = SparkSession.builder.master("local[2]").config("spark.jars", task["jar"])
    for key, value in SMALL.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    clock: Any = spark.sparkContext._jvm
    queries = [_copying(spark, task, guarantee) for guarantee in task["copies"]]
    told, draft = (Path(task["folder"]) / name for name in ("told", "told.draft"))
    direct = {"topic": task["topic"], "admin.url": task["admin.url"]}
    while all(query.isActive for query in queries):
        rows = [
            len(batch(spark, task["service.url"], readLevel=level, **direct).select("value").collect())
            for level in ("broker", "segment")
        ]
        draft.write_text(json.dumps({"rows": rows, "millis": clock.java.lang.System.currentTimeMillis()}))
        draft.replace(told)
    sys.exit("\n".join(str(query.exception()) for query in queries))


main()
