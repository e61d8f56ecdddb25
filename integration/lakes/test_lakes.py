"""The recipes for table formats lose and repeat no row, also when a driver ends before it notes a write."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from examples import topic_to_delta, topic_to_iceberg
from pulsar_spark.testing import Topic, produce, run_to_end
from support.spark.lakes import DELTA, ICEBERG

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def test_topic_to_delta(pulsar_topic: Topic, spark: SparkSession, tmp_path: Path) -> None:
    folder = f"{tmp_path}/rides"
    start = partial(topic_to_delta.append, pulsar_topic.pulsar, pulsar_topic.name, "rides", folder)

    def forget() -> None:
        spark.sql("DROP TABLE rides")  # as for a new driver: without a metastore the table is in its folder alone

    survives(pulsar_topic, start, tmp_path / "checkpoint", meanwhile=forget)
    assert kilometres(spark.table("rides")) == EVERY
    assert kilometres(spark.read.format("delta").load(folder)) == EVERY


def test_two_tables_of_delta(pulsar_topic: Topic, spark: SparkSession, tmp_path: Path) -> None:
    every, long = f"{tmp_path}/rides", f"{tmp_path}/long-rides"
    split = topic_to_delta.Split("test-job", every, long)
    survives(pulsar_topic, partial(split.start, pulsar_topic.pulsar, pulsar_topic.name), tmp_path / "checkpoint")
    assert kilometres(spark.read.format("delta").load(every)) == EVERY
    assert kilometres(spark.read.format("delta").load(long)) == [km for km in EVERY if km > 10]


@pytest.mark.parametrize("start", [topic_to_iceberg.append, topic_to_iceberg.merge], ids=["append", "merge"])
def test_topic_to_iceberg(
    start: Callable[..., StreamingQuery], pulsar_topic: Topic, spark: SparkSession, tmp_path: Path
) -> None:
    table = f"lake.{start.__name__}.rides"
    survives(pulsar_topic, partial(start, pulsar_topic.pulsar, pulsar_topic.name, table), tmp_path / "checkpoint")
    assert kilometres(spark.table(table)) == EVERY


def test_the_examples_name_the_libraries_that_are_tested() -> None:
    assert (topic_to_delta.PACKAGE, topic_to_iceberg.PACKAGE) == (DELTA, ICEBERG)


EVERY = [float(number) for number in range(30)]


def survives(
    topic: Topic,
    start: Callable[[str], StreamingQuery],
    checkpoint: Path,
    *,
    meanwhile: Callable[[], object] = lambda: None,
) -> None:
    """Send `EVERY` to the topic. Each time the driver ends after it wrote and before it notes that."""
    topic.create(partitions=2)
    for sent in (EVERY[:20], EVERY[20:]):
        produce(topic, [{"__key": str(km), "city": "Berlin", "km": km} for km in sent])
        query = start(str(checkpoint))
        try:
            run_to_end(query)
        finally:
            query.stop()
        last = max((file for file in (checkpoint / "commits").iterdir() if file.name.isdigit()), key=_number)
        last.unlink()
        last.with_name(f".{last.name}.crc").unlink(missing_ok=True)
        meanwhile()
    run_again = start(str(checkpoint))
    try:
        run_to_end(run_again)
    finally:
        run_again.stop()
    assert last.exists()


def _number(file: Path) -> int:
    return int(file.name)


def kilometres(rows: DataFrame) -> list[float]:
    return sorted(row.km for row in rows.select("km").collect())
