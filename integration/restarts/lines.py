"""Checkpoints that each Spark line wrote with this source, in `checkpoints/`, and the topic they belong to.

    PYTHONPATH=python:integration \\
        .venv-4.0/bin/python integration/restarts/lines.py connector.jar

writes those of that line anew: two micro-batches are committed, a third one is planned.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pyspark
from pyspark.sql import SparkSession

from pulsar_spark.local import LocalPulsar
from support.servers.admin import Admin
from support.spark.submitting import SMALL
from support.topics.messages import produce
from support.topics.reading import Batches, read_available

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHECKPOINTS = Path(__file__).with_name("checkpoints")
TOPIC = "persistent://public/default/lines"
BATCH_ROWS = 11
NAME = "lines"
NAMED = {
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    "spark.sql.streaming.offsetLog.formatVersion": "2",
}
"""Settings of the session, since Spark 4.2, for offset logs of version 2, which know sources by name."""


class Fails(Batches):
    """A sink that fails in the third micro-batch."""

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        if batch_id == 2:
            raise RuntimeError("planned only")
        super().__call__(frame, batch_id)


def fill(admin: Admin, client: pulsar_client.Client, topic: str) -> None:
    """Publish the messages, in entries of 7."""
    admin.create_topic(topic, partitions=2)
    for number in (0, 1):
        produce(client, f"{topic}-partition-{number}", [b"%d" % one for one in range(35)], batch_size=7)


def lines_stream(spark: SparkSession, service_url: str, topic: str, *, named: bool) -> DataFrame:
    """The stream that wrote the checkpoints; a named one needs the settings."""
    options = {"service.url": service_url, "topic": topic, "startingOffsets": "earliest", "readLevel": "broker"}
    options |= {"metadataColumns": "__position", "maxMessagesPerTrigger": str(BATCH_ROWS)}
    reader = spark.readStream.format("pulsar").options(**options)
    return (reader.name(NAME) if named else reader).load()


def main() -> None:
    """Write the checkpoints of the line that runs this."""
    line = ".".join(pyspark.__version__.split(".")[:2])
    builder = SparkSession.builder.master("local[2]").config("spark.jars", sys.argv[1])
    for name, value in SMALL.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    with LocalPulsar() as server:
        client = pulsar_client.Client(server.service_url)
        fill(Admin(server.admin_url), client, TOPIC)
        client.close()
        for named in (False, True) if line >= "4.2" else (False,):
            target = CHECKPOINTS / f"{line}{'-named' if named else ''}"
            for name, value in NAMED.items() if named else ():
                spark.conf.set(name, value)
            with tempfile.TemporaryDirectory() as work:
                try:
                    read_available(lines_stream(spark, server.service_url, TOPIC, named=named), Path(work), Fails())
                except Exception as error:
                    if "planned only" not in str(error):
                        raise
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(work, target, ignore=shutil.ignore_patterns("*.crc"))
            print(target, *sorted(str(file.relative_to(target)) for file in target.rglob("*") if file.is_file()))
    spark.stop()


if __name__ == "__main__":
    main()
