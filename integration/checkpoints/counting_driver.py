"""The driver of a counting query that runs until it is killed: its task is JSON, with settings, addresses and names."""

from __future__ import annotations

import json
import sys

from checkpoints.stores import counted, start_counting
from pyspark.sql import SparkSession

from support.spark.submitting import SMALL


def main() -> None:
    task = json.loads(sys.argv[1])
    builder = SparkSession.builder.appName("a driver to be killed").master("local[2]")
    for name, value in {**SMALL, **task["settings"]}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    frame = counted(spark, task["service_url"], task["topic"], task["limit"])
    start_counting(frame, task["checkpoint"], to_end=False).awaitTermination()


main()
