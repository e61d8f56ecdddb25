"""A program of `test_stream_backlog`: streams a topic into a folder of files for each micro-batch, until it is killed.

When the file ``stop`` appears, it reads what is there, writes the metrics of its query to stdout and ends.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from support.spark.submitting import SMALL
from support.topics.reading import stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def main() -> None:
    task = json.loads(sys.argv[1])
    folder = Path(task["folder"])

    def write(frame: DataFrame, batch_id: int) -> None:
        frame.select("__position", "value").write.mode("overwrite").parquet(f"{folder}/rows/batch={batch_id}")

    builder = SparkSession.builder.master("local[2]").config("spark.jars", task["jar"])
    for key, value in SMALL.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    frame = stream(spark, task["service.url"], startingOffsets="earliest", **task["options"])
    query = frame.writeStream.foreachBatch(write).option("checkpointLocation", f"{folder}/checkpoint").start()
    while not query.awaitTermination(1):
        if (folder / "stop").exists():
            query.processAllAvailable()
            print(json.dumps([one.sources[0].metrics for one in query.recentProgress if one.numInputRows][-1]))
            query.stop()


main()
