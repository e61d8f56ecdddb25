"""The driver of a query in real-time mode, to be killed: addresses, topics, checkpoint and jar are its arguments."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from realtime.live import SETTINGS, start_live

from support.spark.submitting import SMALL
from support.topics.reading import stream


def main() -> None:
    service_url, topic, target, checkpoint, jar = sys.argv[1:]
    builder = SparkSession.builder.appName("a driver to be killed").master("local[2]")
    for name, value in {**SMALL, **SETTINGS, "spark.jars": jar}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest").select("value")
    start_live(frame, Path(checkpoint), service_url, target).awaitTermination()


main()
