"""The metadata table ``checkpoint``: what the checkpoint of a query holds, without a cluster."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from restarts.lines import CHECKPOINTS, TOPIC

from support.spark.errors import no_job, refused
from support.topics.messages import produce
from support.topics.reading import Batches, read_available, stream

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession


def facts(spark: SparkSession, **options: str) -> DataFrame:
    return spark.read.format("pulsar").options(metadata="checkpoint", **options).load()


def test_a_checkpoint_of_another_line(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(CHECKPOINTS / "4.3-named", folder)
    table = facts(spark, checkpoint=str(folder))
    with no_job(spark):
        rows = table.select("record", "source", "kind", "batch", "topic", "position").collect()
    kind = "pulsar-spark, version 1"
    partitions = [f"{TOPIC}-partition-{number}" for number in range(2)]
    assert [tuple(row)[:5] for row in rows] == [
        ("query", None, None, 1, None),
        *(("start", "lines", kind, None, partition) for partition in partitions),
        *(("committed", "lines", kind, 1, partition) for partition in partitions),
        *(("planned", "lines", kind, 2, partition) for partition in partitions),
        ("time", "lines", kind, 1, None),
    ]
    assert [row.position for row in rows[1:3]] == ["5:-1", "6:-1"]
    (folder / "offsets" / "2").write_text("v1\n{")
    (torn,) = facts(spark, checkpoint=folder.as_uri()).where("record = 'damaged'").collect()
    assert torn.detail.endswith("offsets/2: it ends too early")


def test_the_checkpoint_of_a_stream(
    spark: SparkSession, client: pulsar_client.Client, topic: str, service_url: str, tmp_path: Path
) -> None:
    ids = produce(client, topic, [b"x"] * 3)
    read_available(stream(spark, service_url, topic=topic), tmp_path, Batches())
    (row,) = facts(spark, checkpoint=str(tmp_path)).where("record = 'committed'").collect()
    assert (row.kind, row.topic, row.batch) == ("pulsar-spark, version 2", topic, 0)
    assert row.position == f"{ids[-1].ledger}:{ids[-1].entry}"


def test_what_is_no_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    with refused("PULSAR_CHECKPOINT_NOT_FOUND", str(tmp_path / "no"), "it does not exist"):
        facts(spark, checkpoint=str(tmp_path / "no")).collect()
    with refused("PULSAR_CHECKPOINT_UNREADABLE", "nosuch://bucket/trips"):
        facts(spark, checkpoint="nosuch://bucket/trips").collect()
    with refused("PULSAR_OPTION_MISSING", "`checkpoint`"):
        facts(spark).collect()
