"""A driver of one Spark line: runs a step of a query for each line of its input, and answers each with a line.

A step is JSON: ``{"mode": "real-time", "topic": ..., "checkpoint": ..., "rows": 14, "format": "2"}`` copies the topic
until its copy has so many rows. A new checkpoint has its state in that format; empty is the default of the line. The
answer begins with `ANSWER`, and is empty or an error.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pulsar as pulsar_client
from pyspark.sql import SparkSession
from realtime.live import SETTINGS, start_live, wait_for_batches
from realtime.sending import Copy

from support.spark.submitting import SMALL
from support.spark.waiting import eventually
from support.topics.reading import run_available, running, stream

ANSWER = "answer: "
FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
_SHORT = {"spark.sql.streaming.realTimeMode.minBatchDuration": "100"}
_SECONDS = 180


def _run(spark: SparkSession, client: pulsar_client.Client, service_url: str, step: dict[str, str]) -> None:
    topic, checkpoint, rows = step["topic"], Path(step["checkpoint"]), int(step["rows"])
    spark.conf.set(FORMAT, step["format"]) if step["format"] else spark.conf.unset(FORMAT)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest").select("value")
    if step["mode"] == "micro-batch":
        writer = frame.writeStream.format("pulsar").option("service.url", service_url).option("topic", f"{topic}-copy")
        run_available(writer.option("checkpointLocation", str(checkpoint)))
        return
    copy = Copy(client, f"{topic}-copy")
    with running(start_live(frame, checkpoint, service_url, f"{topic}-copy", batch="300 milliseconds")) as query:

        def has_all() -> bool:
            failure = query.exception()
            if failure is not None:
                raise failure
            return len(copy.rows()) >= rows

        eventually(has_all, seconds=_SECONDS)
        wait_for_batches(query, 2)  # the last one is empty, so that the stop repeats nothing
    copy.close()


def main() -> None:
    """Answer until the input ends."""
    service_url, jar = sys.argv[1:]
    builder = SparkSession.builder.appName("a driver of one line").master("local[2]")
    settings = {name: value for name, value in {**SMALL, **SETTINGS, **_SHORT}.items() if name != FORMAT}
    for name, value in {**settings, "spark.jars": jar}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    client = pulsar_client.Client(service_url)
    for line in sys.stdin:
        answer = ""
        try:
            _run(spark, client, service_url, json.loads(line))
        except Exception as error:
            answer = f"{type(error).__name__} {error}".replace("\n", " ")
        print(f"{ANSWER}{answer}", flush=True)
    client.close()
    spark.stop()


if __name__ == "__main__":
    main()
