"""A driver of a counting query with executors of its own, which runs until it is killed: its task is JSON.

It writes the process id of its JVM and the id of its application to stdout.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from checkpoints.stores import counted, start_counting
from executors.hosts import running_cluster
from pyspark.sql import SparkSession

from support.spark.leaks import jvm_pid


def main() -> None:
    task = json.loads(sys.argv[1])
    with running_cluster(Path("work"), task["jar"]) as conf:
        conf.setAll(list(task["settings"].items()))
        spark = SparkSession.builder.config(conf=conf).getOrCreate()
        print(jvm_pid(spark), spark.sparkContext.applicationId, flush=True)
        frame = counted(spark, task["service_url"], task["topic"], task["limit"])
        start_counting(frame, task["checkpoint"], to_end=False).awaitTermination()


main()
