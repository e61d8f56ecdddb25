"""A stream that writes exactly once, in a process of its own; until it is killed, or to the end if tasks fail."""

from __future__ import annotations

import json
import sys

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from support.spark.submitting import SMALL

_POISON = 250


def _first_attempt_fails(value: str) -> str:
    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0 and value.endswith(f" {_POISON}"):
        raise RuntimeError("the first attempt fails")
    return value


def main() -> None:
    task = json.loads(sys.argv[1])
    builder = SparkSession.builder.master(task["master"]).appName("once").config("spark.jars", task["jar"])
    for name, value in SMALL.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    rows = spark.readStream.schema("value string").option("maxFilesPerTrigger", "1").json(f"{task['folder']}/in")
    if task["fails"]:
        rows = rows.select(udf(_first_attempt_fails, "string")("value").alias("value"))
    writer = rows.writeStream.format("pulsar").options(**task["options"])
    if task["fails"]:
        writer = writer.trigger(availableNow=True)
    query = writer.option("checkpointLocation", f"{task['folder']}/checkpoint").start()
    query.awaitTermination()
    spark.stop()


main()
